import { randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, type Stats, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { codeOf } from "../lib/errors.js";
import { isMissing } from "../lib/files.js";

/** latin1: byte for byte. */
export type Encoding = "utf8" | "latin1";

/** The file's text, null when there is no such file, which is the exception. At once: a trip through the thread pool costs more than the file. */
export function textOf(path: string, encoding: Encoding = "utf8"): string | null {
  try {
    return readFileSync(path, encoding);
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EISDIR"].includes(codeOf(error) ?? "")) return null;
    throw error;
  }
}

/** "" when there is no such file, as is usual: that is asked first, because an error costs many times the question. */
export function readOr(path: string, encoding?: Encoding): string {
  return isMissing(path) ? "" : (textOf(path, encoding) ?? "");
}

/** Readers see the old text or the new one, never half of it. Nothing to say and no file are the same. */
export function putText(path: string, text: string, encoding: Encoding = "utf8"): void {
  if ((textOf(path, encoding) ?? "") === text) return;
  const aside = `${path}.${process.pid}-${randomBytes(4).toString("hex")}`;
  try {
    writeFileSync(aside, text, { mode: 0o600, encoding });
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(aside, text, { mode: 0o600, encoding });
  }
  renameSync(aside, path);
}

export async function writeIfChanged(path: string, text: string): Promise<void> {
  putText(path, text);
}

/** Whatever is there, a link that leads nowhere too. Asked for first: it hardly ever is. */
export function removeIfThere(path: string): void {
  if (linkStatsOf(path) !== undefined) rmSync(path, { recursive: true, force: true });
}

/** Of what is there itself, not of what it leads to; undefined: nothing. */
export function linkStatsOf(path: string | Buffer): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    // Below something that is no folder.
    if (codeOf(error) === "ENOTDIR") return undefined;
    throw error;
  }
}
