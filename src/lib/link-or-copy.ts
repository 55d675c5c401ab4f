import { randomBytes } from "node:crypto";
import { copyFileSync, linkSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { codeOf } from "./errors.js";

/** No links on this disk, none to another one, or no more of this file. */
const noLinks = ["EXDEV", "EPERM", "EMLINK", "ENOTSUP"];

/**
 * A second name for a file that changes no more; where there can be none, a copy. Either way it is there whole or not at
 * all, and what is at `to` already stays there with EEXIST, or is replaced by the same.
 */
export function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (!noLinks.includes(codeOf(error) ?? "")) throw error;
    // Among git's objects this name is one of git's own for what is not finished: it clears it away.
    const aside = join(dirname(to), `tmp_obj_${randomBytes(6).toString("hex")}`);
    copyFileSync(from, aside);
    renameSync(aside, to);
  }
}
