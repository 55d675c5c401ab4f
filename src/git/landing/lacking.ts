import { codeOf, ExternalError } from "../../lib/errors.js";
import { exists } from "../../lib/files.js";
import { findCheckout } from "../checkout/checkout.js";
import { gitIn } from "../checkout/checkout-git.js";
import { isAncestor } from "../mirror/mirror-refs.js";
import { readChanges } from "../worktree/status.js";
import { type Ends, readEnds } from "./tip.js";

/** What the target has by now and the work in a worktree has not: it gets there by a merge alone. */
export interface Lacking {
  /** The newest of them, which the worktree can merge. */
  readonly tip: string;
  readonly commits: number;
}

interface Where {
  /** Where the user's repository is by now. */
  readonly repoPath: string;
  readonly target: string;
}

/** null: nothing, or nothing was done there yet, so that the next life begins at the newest. What cannot be read tells nothing. */
export async function readLacking(path: string, where: Where): Promise<Lacking | null> {
  if (!(await exists(path))) return null;
  try {
    return await compare(path, where);
  } catch (error) {
    // Whoever works there or lands it is told what is wrong with it.
    if (error instanceof ExternalError || codeOf(error) !== null) return null;
    throw error;
  }
}

async function compare(path: string, { repoPath, target }: Where): Promise<Lacking | null> {
  const found = await findCheckout(path);
  const { head, baseSha } = found;
  const mirror = { ...found.mirror, repoPath };
  const tip = await newerOf(mirror.path, await readEnds(mirror, target));
  if (tip === null || (head === baseSha && (await readChanges(found, head)).length === 0)) return null;
  // It was dropped or amended there: a merge would bring it back, or lose to it what mends it.
  if (!(await isAncestor(mirror.path, baseSha, tip))) return null;
  const { stdout } = await gitIn(found, ["rev-list", "--count", `${head}..${tip}`]);
  const commits = Number(stdout.toString());
  return commits === 0 ? null : { tip, commits };
}

/** Where they have parted, what the user has: that is where they mend. */
async function newerOf(mirrorPath: string, { landed, user }: Ends): Promise<string | null> {
  if (landed === null || user === null) return user ?? landed;
  return (await isAncestor(mirrorPath, user, landed)) ? landed : user;
}
