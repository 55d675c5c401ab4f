import { constants } from "node:fs";
import { copyFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import { codeOf, Refusal } from "../../lib/errors.js";

/** Keeps what is there under a name of its own, then puts the whole new text in its place. Returns the backup, if any. */
export async function writeWithBackup(file: string, text: string): Promise<string | null> {
  const backup = await backUp(file);
  // Behind a link it is the linked file that changes.
  const place = backup === null ? file : await realpath(file);
  const temporary = `${place}.${process.pid}.tmp`;
  try {
    await writeFile(temporary, text, { flag: "wx" });
    await rename(temporary, place);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  return backup;
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
      if (codeOf(error) !== "EEXIST") throw error;
    }
  }
}
