import { existsSync, lstatSync } from "node:fs";
import { basename, join } from "node:path";
import { aboutFile, linkTo, setMark } from "./checkout-files.js";
import { baseRef, type Mirror, readRef } from "./mirror-refs.js";
import { putText, removeIfThere, textOf } from "./small-files.js";

/**
 * An agent may delete its git folder, or so much of it that it does not even say what it is. Files whose `.git` still
 * leads there are the all the same, and the mirror knows where the issue began: the folder says again what it is,
 * and the rest of it is made anew when it is opened. Whatever else is found in the place of a worktree is nobody's.
 */
export async function reclaim(mirror: Mirror, { path, gitDir }: { path: string; gitDir: string }): Promise<boolean> {
  if (!isFolder(path) || textOf(join(path, ".git")) !== linkTo(gitDir)) return false;
  const branch = `ratchet/${basename(path)}`;
  const baseSha = await readRef(mirror.path, baseRef(branch));
  if (baseSha === null) return false;
  removeIfThere(isFolder(gitDir) ? join(gitDir, aboutFile) : gitDir);
  putText(join(gitDir, aboutFile), JSON.stringify({ path, branch, baseSha }));
  for (const mark of ["hollow", "ready"]) setMark(gitDir, mark);
  return true;
}

/** It says what it is, and there may be nothing else in it. */
export function isHollow(gitDir: string): boolean {
  return existsSync(join(gitDir, "ratchet", "hollow"));
}

export function unmarkHollow(gitDir: string): void {
  removeIfThere(join(gitDir, "ratchet", "hollow"));
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
