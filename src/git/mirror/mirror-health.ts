import { renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isMissing, statsOf } from "../../lib/files.js";
import { git } from "../git.js";
import { removeIfThere } from "../small-files.js";
import { lacksAllRefs, lacksRefs } from "./lacking-refs.js";
import { damagedFile } from "./mirror-damage.js";

/** All of what a mirror is made with is there, and nobody has found that something else is not. */
export function isMirrorWhole(path: string): boolean {
  const parts = ["HEAD", "objects", "refs", "checkouts", "ratchet/made"];
  const isThere = parts.every((part) => !isMissing(join(path, part)));
  return isThere && misplaced(path).length === 0 && isMissing(damagedFile(path));
}

const ownFiles = ["HEAD", "config", "packed-refs", "ratchet/made", "ratchet/checkout.json"];
const ownFolders = [
  ...["objects", "objects/pack", "refs", "refs/heads", "checkouts", "pool"],
  ...["ratchet", "ratchet/begun", "ratchet/behind", "ratchet/given", "ratchet/skeletons"],
];

/** Files in the place of folders, and the other way round. */
function misplaced(path: string): readonly string[] {
  const isOther = (name: string, isFolder: boolean) => {
    const stats = statsOf(join(path, name));
    return stats !== undefined && stats.isDirectory() !== isFolder;
  };
  return [...ownFiles.filter((name) => isOther(name, false)), ...ownFolders.filter((name) => isOther(name, true))];
}

/** What stands in the way of what belongs there is not thrown away. */
export function setMisplacedAside(path: string): void {
  for (const name of misplaced(path)) renameSync(join(path, name), join(path, brokenName(path, name)));
}

/** A free name beside it. */
export function brokenName(path: string, name: string): string {
  for (let number = 1; ; number++) {
    const free = `${name}.broken-${number}`;
    if (isMissing(join(path, free))) return free;
  }
}

/**
 * What is not there of what its refs reach, in git's words; null: nothing. Every object is looked for, so this is for
 * somebody who asks. The mirror is mended when it is opened next.
 */
export async function whyDamaged(path: string): Promise<string | null> {
  const args = ["rev-list", "--objects", "--all", "--exclude-promisor-objects", "--quiet"];
  const { code, stderr } = await git(path, args, { okCodes: [1, 128] });
  const isLacking = code === 0 && ((await lacksRefs({ path })) || (await lacksAllRefs({ path })));
  if (code === 0 && !isLacking) return null;
  // Where git can do nothing at all, such as with a broken .gitconfig, that says nothing of the mirror.
  if (code !== 0) await git(dirname(path), ["config", "--list"]);
  const why = isLacking ? "refs of its own are gone" : stderr.trim();
  writeFileSync(damagedFile(path), why);
  return `${path} is damaged: ${why.split("\n").at(-1) ?? ""}`;
}

export function forgetDamage(path: string): void {
  removeIfThere(damagedFile(path));
}
