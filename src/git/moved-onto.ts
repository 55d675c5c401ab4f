import { join } from "node:path";
import { gitDirFor } from "./checkout.js";
import { gitText } from "./git.js";
import type { Mirror } from "./mirror-refs.js";
import { readOr } from "./small-files.js";

/**
 * A checkout that was reset, fast-forwarded or rebased onto a branch has its commits without a merge, so the history does not
 * say whose they are: a person's branch that has them may as well have been made from this work. The checkout's own log
 * does: what it first came to by going there was made elsewhere.
 */
export interface MoveLog {
  /** Commits that were made in the checkout, or that it began from. */
  readonly made: ReadonlySet<string>;
  /** Commits that it went to, and that were there before. */
  readonly reached: ReadonlySet<string>;
}

const moves = [
  /^(reset|checkout): moving /,
  /^(pull|rebase)[^:]*: checkout /,
  /^(merge|pull) .*: fast-forward$|^(cherry-pick|rebase[^:]*): fast-forward$/i,
];

/** Git's own log of a `HEAD`, oldest first. A line of it that is in no known words is taken for a commit of the checkout's. */
export function readMoves(log: string): MoveLog {
  const [made, reached] = [new Set<string>(), new Set<string>()];
  for (const [, from = "", to = "", what = ""] of log.matchAll(/^([0-9a-f]+) ([0-9a-f]+) [^\t\n]*\t?(.*)$/gm)) {
    if (made.size === 0) made.add(from);
    if (!made.has(to) && !reached.has(to)) (moves.some((words) => words.test(what)) ? reached : made).add(to);
  }
  return { made, reached };
}

/** The newest commit below all of its own work that the checkout at `path` went to. What is above its own was made from it. */
export async function movedOnto(
  mirror: Mirror,
  { path, base, head }: { readonly path: string; readonly base: string; readonly head: string },
): Promise<string | null> {
  const { made, reached } = readMoves(readOr(join(gitDirFor(mirror, path), "logs", "HEAD")));
  if (reached.size === 0) return null;
  const line = await gitText(mirror.path, ["rev-list", "--first-parent", "--reverse", `${base}..${head}`]);
  const commits = line.split("\n");
  const own = commits.findIndex((commit) => made.has(commit));
  return commits.slice(0, own === -1 ? commits.length : own).findLast((commit) => reached.has(commit)) ?? null;
}
