import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ExternalError } from "../../lib/errors.js";
import { exists } from "../../lib/files.js";
import { findWholeCheckout, hasCheckout } from "../checkout/checkout.js";
import { GitError } from "../git.js";
import { fetchBranch, knownRemote } from "../landing/push.js";
import { isAncestor, type Mirror, readRefs, updateRefs } from "../mirror/mirror-refs.js";
import { shareObjects } from "../objects/objects.js";
import { parkCheckout } from "../parking/parking.js";
import { discardAt } from "./clean.js";
import { readChanges, unfinishedOperations } from "./status.js";
import { type OpenedWorktree, type OpenOptions, openWorktree } from "./worktree.js";

/** How the worktree of a pull request's branch was come by. */
export interface OpenedForItem extends OpenedWorktree {
  readonly how: "reused" | "switched" | "made";
  /** Where uncommitted work went that was in it. */
  readonly parked: string | null;
  /** What the remote has of the branch; null: nothing, or it was not asked. */
  readonly pushed: string | null;
  /** Others have rewritten the branch there: work goes on from theirs, and ours is parked. */
  readonly rewritten: boolean;
}

interface ItemOptions extends OpenOptions {
  readonly signal?: AbortSignal;
  /** What is there is enough: nobody is to work on it. */
  readonly asItIs?: boolean;
}

/**
 * The worktree, on the pull request's branch, clean, with everything that the remote has on top of ours. What
 * was uncommitted is parked; the remote is only read.
 */
export async function openForItem(mirror: Mirror, options: ItemOptions): Promise<OpenedForItem> {
  const { path, branch } = options;
  const known = await knownRemote(mirror, branch);
  const tip = await readRemote(mirror, options);
  if ((await hasCheckout(mirror, path)) && (await exists(path))) return await tidyUp(mirror, options, { tip, known });
  if (tip !== null) await bringForward(mirror, branch, tip);
  return { ...(await openWorktree(mirror, options)), how: "made", parked: null, pushed: tip, rewritten: false };
}

async function readRemote(mirror: Mirror, { branch, signal, asItIs = false }: ItemOptions): Promise<string | null> {
  if (asItIs) return null;
  try {
    return await fetchBranch(mirror, branch, signal);
  } catch (error) {
    if (!(error instanceof GitError) || signal?.aborted) throw error;
    throw new ExternalError("remote", `${branch} cannot be fetched: ${error.message}`, {
      retryable: true,
      cause: error,
    });
  }
}

interface Remote {
  readonly tip: string | null;
  /** What it was before, as far as we know. */
  readonly known: string | null;
}

async function tidyUp(mirror: Mirror, options: OpenOptions, { tip, known }: Remote): Promise<OpenedForItem> {
  const { path, branch } = options;
  const checkout = await findWholeCheckout(mirror, path);
  const { head } = checkout;
  const isOn = (await readFile(join(checkout.gitDir, "HEAD"), "utf8")).trim() === `ref: refs/heads/${branch}`;
  const [changes, begun] = [await readChanges(checkout, head), await unfinishedOperations(checkout)];
  const isDirty = changes.length > 0 || begun.length > 0;
  const parked = isDirty ? await parkCheckout(checkout) : null;
  const own = isOn
    ? head
    : ((await readRefs(mirror.path, [`refs/heads/${branch}`])).get(`refs/heads/${branch}`) ?? head);
  // What an agent committed last may be in its checkout alone.
  if (isOn) shareObjects(checkout);
  const isBehind = tip !== null && (await isAncestor(mirror.path, own, tip));
  const rewritten =
    tip !== null && !isBehind && (await isRewritten(mirror, { own, tip, known, base: checkout.baseSha }));
  const wanted = tip !== null && (isBehind || rewritten) ? tip : own;
  if (isDirty || !isOn || head !== wanted) await discardAt(checkout, wanted);
  const opened = await openWorktree(mirror, options);
  return { ...opened, how: isOn ? "reused" : "switched", parked: parked?.ref ?? null, pushed: tip, rewritten };
}

/** All of ours was there and is there no longer; what is there instead still begins where the issue did. */
async function isRewritten(
  { path }: Mirror,
  {
    own,
    tip,
    known,
    base,
  }: { readonly own: string; readonly tip: string; readonly known: string | null; readonly base: string },
): Promise<boolean> {
  return known !== null && (await isAncestor(path, own, known)) && (await isAncestor(path, base, tip));
}

/** Our branch follows the remote's; work of ours that is not there yet stays. */
async function bringForward(mirror: Mirror, branch: string, tip: string): Promise<void> {
  const ref = `refs/heads/${branch}`;
  const own = (await readRefs(mirror.path, [ref])).get(ref);
  if (own !== undefined && !(await isAncestor(mirror.path, own, tip))) return;
  await updateRefs(mirror.path, [{ ref, to: tip }]);
}
