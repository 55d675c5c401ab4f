import { join } from "node:path";
import { exists } from "../../lib/files.js";
import { type Checkout, gitIn } from "../checkout/checkout-git.js";
import { git } from "../git.js";
import { resolveHead } from "../head.js";
import { isAncestor, type Mirror, readRef } from "../mirror/mirror-refs.js";
import { isKnownInside, rememberContained } from "../objects/ancestry.js";
import { readOr } from "../small-files.js";
import { readMoves } from "./moved-onto.js";
import { commitsSince } from "./target-line.js";
import { type Ends, landedRef, readEnds } from "./tip.js";

/**
 * What landing would add to the target begins at the newest commit of the target that the work has in it, whoever merged
 * that or put the work onto it: what has landed and is undone on top of it is to be seen from there alone. Usually nobody
 * did, it is where the work began, and no git is needed to know that.
 */
export interface TargetBase {
  readonly base: string;
  readonly head: string;
  readonly target: string;
  /** The oldest of a plain line of commits from base to head; null: they are none. */
  readonly first: string | null;
  /** Of several that are as new as each other, this one. */
  readonly preferred: string;
}

/** null: head is in the target, and is the work's own: somebody else has landed it. */
export async function findTargetBase(checkout: Checkout, asked: TargetBase): Promise<string | null> {
  const { base, head, target, first, preferred } = asked;
  if (head === base || (first !== null && (await isOutside(checkout, { base, first, target })))) return base;
  const { landed, user } = await endsOf(checkout.mirror, target);
  const ends = [landed, user].filter((end) => end !== null);
  if (ends.length === 0) return base;
  const output = await gitIn(checkout, ["merge-base", "--all", head, ...ends], { okCodes: [1] });
  const newest = output.stdout.toString("utf8").split("\n").filter(Boolean);
  const found = newest.includes(preferred) ? preferred : newest[0];
  if (found === head) return wasReached(checkout, head) ? head : null;
  // Of a branch that was put back to before the work began, it may be older than that.
  return found !== undefined && (await isAncestor(checkout.mirror.path, base, found)) ? found : base;
}

/** A repository that is being moved has no branch to look at: whoever lands asks for it. */
async function endsOf(mirror: Mirror, target: string): Promise<Ends> {
  if (await exists(mirror.repoPath)) return await readEnds(mirror, target);
  return { landed: await readRef(mirror.path, landedRef(target)), user: null };
}

/** The checkout came to the commit by going there: it was made elsewhere. */
function wasReached({ gitDir }: Checkout, commit: string): boolean {
  return readMoves(readOr(join(gitDir, "logs", "HEAD"))).reached.has(commit);
}

interface First {
  readonly base: string;
  readonly first: string;
  readonly target: string;
}

/** The target has none of a line of commits that begins with this one. false: it has, or git has to say. */
async function isOutside({ mirror, gitDir }: Checkout, { base, first, target }: First): Promise<boolean> {
  const landed = resolveHead(mirror.path, landedRef(target));
  const user = (await exists(mirror.repoPath)) ? await readRef(mirror.repoPath, `refs/heads/${target}`) : null;
  for (const end of new Set([landed, user])) {
    if (end === null || isKnownInside(end, base)) continue;
    const key = [mirror.path, end === landed ? "landed" : "user", target].join("\n");
    const since = commitsSince({ key, folders: [gitDir, mirror.path], base, tip: end });
    if (since?.has(first)) return false;
    if (since !== null || (end === user && landed !== null && isKnownInside(end, landed))) continue;
    if (!(await isOlder(mirror.path, end, end === landed ? base : (landed ?? base)))) return false;
  }
  return true;
}

/** The line is where it was before the user's newest commits, or their branch is behind it. Asked once. */
async function isOlder(path: string, end: string, than: string): Promise<boolean> {
  if (end === than) return false;
  // 128: the user's newest is not here yet.
  const { code } = await git(path, ["merge-base", "--is-ancestor", end, than], { okCodes: [1, 128] });
  if (code === 0) rememberContained(than, [end]);
  return code === 0;
}
