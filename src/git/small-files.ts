import { randomBytes } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { codeOf } from "../lib/errors.js";

/** The file's text, "" when there is no such file. */
export async function readOr(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EISDIR"].includes(codeOf(error) ?? "")) return "";
    throw error;
  }
}

/** Readers see the old text or the new one, never half of it. */
export async function writeIfChanged(path: string, text: string): Promise<void> {
  if ((await readOr(path)) === text) return;
  await mkdir(dirname(path), { recursive: true });
  const aside = `${path}.${process.pid}-${randomBytes(4).toString("hex")}`;
  await writeFile(aside, text, { mode: 0o600 });
  await rename(aside, path);
}
