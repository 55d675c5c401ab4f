import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { codeOf } from "../lib/errors.js";
import { makeFolder, readOptional } from "../lib/files.js";

/** The same at every start, so that scripts can keep it. Two that start at once agree: the first to name the file wins. */
export async function keepToken(path: string): Promise<string> {
  const known = (await readOptional(path))?.trim() ?? "";
  if (/^[\w-]{43}$/.test(known)) return known;
  if (known !== "") rmSync(path, { force: true });
  makeFolder(dirname(path));
  const own = `${path}.${process.pid}.tmp`;
  writeFileSync(own, `${randomBytes(32).toString("base64url")}\n`, { mode: 0o600 });
  try {
    linkSync(own, path);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  } finally {
    rmSync(own, { force: true });
  }
  return readFileSync(path, "utf8").trim();
}
