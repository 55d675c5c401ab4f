import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** An issue's worktree, in whatever state home. */
export interface WorktreePlace {
  readonly path: string;
  /** The id as a file name. */
  readonly name: string;
  /** Of the state home that it is in. */
  readonly root: string;
}

/** What every state home has; see home.ts. */
const marks = ["ratchet.db", "repos"];

/**
 * The worktree that a folder is in, known by where it lies alone: what is in it, its `.git` included, is its agent's to
 * change, and no agent is told which state home it works for. null: it is in none.
 */
export function worktreeAround(folder: string): WorktreePlace | null {
  for (let path = folder; path !== dirname(path); path = dirname(path)) {
    const all = dirname(dirname(path));
    const root = dirname(all);
    if (basename(all) === "worktrees" && marks.every((mark) => existsSync(join(root, mark))))
      return { path, name: basename(path), root };
  }
  return null;
}
