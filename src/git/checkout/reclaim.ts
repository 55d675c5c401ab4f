import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { namesIn } from "../../lib/files.js";
import { git } from "../git.js";
import { baseRef, type Mirror, readRefs } from "../mirror/mirror-refs.js";
import { linkStatsOf, putText, removeIfThere } from "../small-files.js";
import { aboutFile, isLinked, setMark } from "./checkout-files.js";

interface Place {
  readonly mirror: Mirror;
  readonly path: string;
  readonly gitDir: string;
}

/**
 * An agent may delete its git folder, or so much of it that it does not even say what it is. Files whose `.git` still
 * leads there are the all the same, and the mirror knows where the issue began: the folder says again what it is,
 * and the rest of it is made anew when it is opened. Without that link they are where the mirror has the branch,
 * which goes with its checkout, and something of that is among them. Whatever else is found in the place of a worktree is
 * nobody's. `base`: where its work began, where the mirror is new and does not know.
 */
export async function reclaim({ mirror, path, gitDir }: Place, base?: string): Promise<boolean> {
  if (!isFolder(path)) return false;
  const branch = `ratchet/${basename(path)}`;
  const [start, own] = [baseRef(branch), `refs/heads/${branch}`];
  const refs = await readRefs(mirror.path, [start, own]);
  const leadsThere = isLinked({ path, gitDir });
  const baseSha = refs.get(start) ?? (leadsThere ? base : undefined);
  if (baseSha === undefined) return false;
  if (!leadsThere && !(await hasFilesOf(mirror, path, refs.get(own)))) return false;
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

async function hasFilesOf(mirror: Mirror, path: string, commit: string | undefined): Promise<boolean> {
  const there = new Set(namesIn(path));
  if (commit === undefined || there.size === 0) return false;
  const { stdout } = await git(mirror.path, ["ls-tree", "-z", "--name-only", commit]);
  const names = stdout.toString("utf8").split("\0");
  return names.some((name) => there.has(name));
}

function isFolder(path: string): boolean {
  return linkStatsOf(path)?.isDirectory() === true;
}
