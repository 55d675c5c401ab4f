import { join } from "node:path";
import { gitDirFor } from "../checkout/checkout.js";
import type { Mirror } from "../mirror/mirror-refs.js";
import { readOr } from "../small-files.js";

/**
 * A checkout that was reset, fast-forwarded or rebased onto a branch has its commits without a merge, so the history does not
 * say whose they are: a person's branch that has them may as well have been made from this work. The checkout's own log
 * does: what it first came to by going there was made elsewhere.
 */
export interface MoveLog {
  /** Where the log begins; null: there is none. */
  readonly began: string | null;
  /** Commits that were made in the checkout, or that it began from. */
  readonly made: ReadonlySet<string>;
  /** Commits that it went to, and that were there before. */
  readonly reached: ReadonlySet<string>;
}

const moves = [
  /^(reset|checkout): moving |^branch: Reset to /,
  /^(pull|rebase)([^:]*|.* \(start\)): checkout /,
  /^(fetch|merge|pull) .*: (fast-forward|forced-update)$|^(cherry-pick|rebase[^:]*): fast-forward$/i,
];

/** Of the checkout at this path; where there is none, nothing is known. */
export function movesIn(mirror: Mirror, path: string): MoveLog {
  return readMoves(readOr(join(gitDirFor(mirror, path), "logs", "HEAD")));
}

/** Git's own log of a `HEAD`, oldest first. A line of it that is in no known words is taken for a commit of the checkout's. */
export function readMoves(log: string): MoveLog {
  const [made, reached] = [new Set<string>(), new Set<string>()];
  let began: string | null = null;
  for (const [, from = "", to = "", what = ""] of log.matchAll(/^([0-9a-f]+) ([0-9a-f]+) [^\t\n]*\t?(.*)$/gm)) {
    began ??= from;
    if (made.size === 0) made.add(from);
    if (!made.has(to) && !reached.has(to)) (moves.some((words) => words.test(what)) ? reached : made).add(to);
  }
  return { began, made, reached };
}

/**
 * Of a line of commits, oldest first, the first of the work's own: the one above the newest that the checkout went to, with
 * what is below it, before it had made any. What is above that was made from it. null: there is none.
 */
export function firstOwn(line: readonly string[], { made, reached }: Omit<MoveLog, "began">): string | null {
  const known = line.findIndex((commit) => made.has(commit));
  const below = line.slice(0, known === -1 ? line.length : known);
  return line[below.findLastIndex((commit) => reached.has(commit)) + 1] ?? null;
}
