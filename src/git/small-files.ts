import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { codeOf } from "../lib/errors.js";

/** The file's text, "" when there is no such file. At once: a trip through the thread pool costs more than the file. */
export async function readOr(path: string): Promise<string> {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EISDIR"].includes(codeOf(error) ?? "")) return "";
    throw error;
  }
}

/** Readers see the old text or the new one, never half of it. */
export async function writeIfChanged(path: string, text: string): Promise<void> {
  if ((await readOr(path)) === text) return;
  mkdirSync(dirname(path), { recursive: true });
  const aside = `${path}.${process.pid}-${randomBytes(4).toString("hex")}`;
  writeFileSync(aside, text, { mode: 0o600 });
  renameSync(aside, path);
}
