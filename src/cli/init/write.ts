import { constants } from "node:fs";
import { chmod, copyFile, readlink, realpath, rename, rm, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { codeOf, messageOf, Refusal } from "../../lib/errors.js";
import { statsOf } from "../../lib/files.js";

/** Keeps what is there under a name of its own, then puts the whole new text in its place, readable for whom it was. Returns the backup, if any. */
export async function writeWithBackup(file: string, text: string): Promise<string | null> {
  const backup = await backUp(file);
  const place = await behindLinks(file);
  const temporary = `${place}.${process.pid}.tmp`;
  try {
    await writeFile(temporary, text, { flag: "wx" });
    const before = statsOf(place);
    if (before !== undefined) await chmod(temporary, before.mode & 0o777);
    await rename(temporary, place);
  } catch (error) {
    await rm(temporary, { force: true });
    if (codeOf(error) === "ENOENT" && place !== file) throw intoNowhere(file, place);
    throw notWritten(file, place, error);
  }
  return backup;
}

/** Behind a link it is the linked file that changes, or that is made. */
async function behindLinks(file: string): Promise<string> {
  try {
    const target = await readlink(file);
    return await behindLinks(resolve(await realpath(dirname(file)), target));
  } catch (error) {
    // No link, or nothing of that name: so this is the place, if it has a folder.
    if (codeOf(error) !== "EINVAL" && codeOf(error) !== "ENOENT") throw error;
    return file;
  }
}

/** `.bak`, else `.bak-2`, `.bak-3`, …: an earlier backup is never written over. null: there is nothing to keep. */
async function backUp(file: string): Promise<string | null> {
  for (let number = 1; ; number++) {
    const backup = `${file}.bak${number === 1 ? "" : `-${number}`}`;
    try {
      await copyFile(file, backup, constants.COPYFILE_EXCL);
      return backup;
    } catch (error) {
      if (codeOf(error) === "ENOENT") return null;
      if (codeOf(error) === "EISDIR") {
        throw new Refusal(`${file} is a folder`, {
          code: "in-the-way",
          hint: "move it away: the settings belong there",
        });
      }
      if (codeOf(error) !== "EEXIST") throw notWritten(file, file, error);
    }
  }
}

function notWritten(file: string, place: string, error: unknown): unknown {
  const code = codeOf(error);
  if (code === null) return error;
  const hint = code === "ENOSPC" || code === "EDQUOT" ? "make room" : `make ${dirname(place)} writable for you`;
  return new Refusal(`${file} cannot be written: ${messageOf(error)}`, { code: "not-written", hint });
}

function intoNowhere(file: string, place: string): Refusal {
  const hint = `make ${dirname(place)}, or remove the link`;
  return new Refusal(`${file} is a link into a folder that is not there`, { code: "in-the-way", hint });
}
