import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isMissing } from "../lib/files.js";
import { git } from "./git.js";
import { removeIfThere } from "./small-files.js";

/** All of what a mirror is made with is there, and nobody has found that something else is not. */
export function isMirrorWhole(path: string): boolean {
  const parts = ["HEAD", "objects", "refs", "checkouts", "ratchet/made"];
  return parts.every((part) => !isMissing(join(path, part))) && isMissing(damagedFile(path));
}

/**
 * What is not there of what its refs reach, in git's words; null: nothing. Every object is looked for, so this is for
 * somebody who asks. The mirror is mended when it is opened next.
 */
export async function whyDamaged(path: string): Promise<string | null> {
  const args = ["rev-list", "--objects", "--all", "--exclude-promisor-objects", "--quiet"];
  const { code, stderr } = await git(path, args, { okCodes: [1, 128] });
  if (code === 0) return null;
  writeFileSync(damagedFile(path), stderr);
  return `${path} is damaged: ${stderr.trim().split("\n").at(-1) ?? ""}`;
}

export function forgetDamage(path: string): void {
  removeIfThere(damagedFile(path));
}

function damagedFile(path: string): string {
  return join(path, "ratchet", "damaged");
}
