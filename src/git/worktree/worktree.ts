import { resolve } from "node:path";
import { exists } from "../../lib/files.js";
import { safeName } from "../../lib/home.js";
import {
  attachCopies,
  findCheckout,
  findWholeCheckout,
  hasCheckout,
  listCheckouts,
  openCheckout,
  readCheckout,
  wasSetUp,
} from "../checkout/checkout.js";
import type { Seen } from "../checkout/checkout-files.js";
import type { Checkout } from "../checkout/checkout-git.js";
import { removeCheckout } from "../checkout/checkout-removal.js";
import { readLost } from "../checkout/whole.js";
import { gitText } from "../git.js";
import { readHead, resolveHead } from "../head.js";
import { isLanded } from "../landing/tip.js";
import {
  baseRef,
  hasCommit,
  isAncestor,
  type Mirror,
  type RefChange,
  readRef,
  readRefs,
  updateRefs,
} from "../mirror/mirror-refs.js";
import { treeOf } from "../objects/tree-of.js";
import {
  hasLooseEnds,
  holdsNothingLoose,
  type Parked,
  parkCheckout,
  parkedRefs,
  settledRefs,
} from "../parking/parking.js";
import { newestParked, restoreParked } from "../parking/restore.js";
import { setIgnoredAside } from "./carried.js";
import { shareBranch } from "./snapshot.js";
import { readChanges } from "./status.js";

export { bringBack } from "./carried.js";
export { discardChanges, putAt } from "./clean.js";
export { commitAll } from "./commit.js";
export { snapshot } from "./snapshot.js";

export interface OpenOptions {
  readonly path: string;
  /** `ratchet/<issue>` */
  readonly branch: string;
  /** Where a new branch starts. */
  readonly base: string;
  readonly copy: readonly string[];
  readonly repoPath: string;
  /** What is parked stays there. */
  readonly leavesParked?: boolean;
}

export interface OpenedWorktree {
  readonly path: string;
  readonly branch: string;
  /** Fixed when the branch was made; kept for as long as the issue lives. */
  readonly baseSha: string;
  readonly head: string;
  readonly tree: string;
  /** Setup has not run in it since its files were made. */
  readonly fresh: boolean;
  readonly from: "worktree" | "branch" | "parked" | "new";
  /** Where files went that were in its way. */
  readonly aside?: readonly string[];
  /** What an agent broke in it, and where it goes on from. */
  readonly lost?: string;
}

/** Takes up what is there, in this order: the worktree, the branch, the newest parked work; else starts at `base`. */
export async function openWorktree(mirror: Mirror, options: OpenOptions): Promise<OpenedWorktree> {
  const { path, branch, base, copy, repoPath } = options;
  const there = await hasCheckout(mirror, path, base);
  const [{ from, checkout, aside }, baseTree] = await Promise.all([
    there ? openCheckout(mirror, { path, branch, commit: base, base }) : startCheckout(mirror, options),
    treeOf(mirror.path, base),
  ]);
  // One that was made now has nothing that the mirror has not.
  const head = from === "new" ? base : (resolveHead(checkout.gitDir) ?? checkout.baseSha);
  await attachCopies(checkout, { copy, repoPath, isNew: !there });
  if (from !== "new") await shareBranch(checkout, head);
  const tree = head === base ? baseTree : await treeOf(mirror.path, head);
  const fresh = from === "new" || !(await wasSetUp(checkout));
  const opened = { path, branch, baseSha: checkout.baseSha, head, tree, fresh, from };
  const lost = readLost(checkout.gitDir);
  return { ...opened, ...(aside === null ? {} : { aside: [aside] }), ...(lost === null ? {} : { lost }) };
}

function nameOf(branch: string): string {
  return branch.replace(/^ratchet\//, "");
}

interface Started {
  readonly from: OpenedWorktree["from"];
  readonly checkout: Checkout;
  readonly aside: string | null;
}

async function startCheckout(mirror: Mirror, options: OpenOptions): Promise<Started> {
  const { path, branch, base, leavesParked = false } = options;
  const name = nameOf(branch);
  const known = await readRefs(mirror.path, [`refs/heads/${branch}`, `${parkedRefs}/${name}`]);
  const commit = known.get(`refs/heads/${branch}`);
  if (commit !== undefined) {
    const begun = await readRef(mirror.path, baseRef(branch));
    const start = begun ?? (await gitText(mirror.path, ["merge-base", base, commit]));
    const opened = await openCheckout(mirror, { path, branch, commit, base: start, isNew: true });
    return { ...opened, from: "branch" };
  }
  const settled = known.size > 0 ? await readRefs(mirror.path, [`${settledRefs}/${name}`]) : [];
  const n = leavesParked ? null : newestParked(new Map([...known, ...settled]), name);
  if (n !== null) {
    const { aside } = await restoreParked(mirror, { issue: name, n, path });
    return { from: "parked", checkout: await findCheckout(path), aside };
  }
  const [opened] = await Promise.all([
    openCheckout(mirror, { path, branch, commit: base, base, isNew: true }),
    updateRefs(mirror.path, [
      { ref: `refs/heads/${branch}`, to: base },
      { ref: baseRef(branch), to: base },
    ]),
  ]);
  return { ...opened, from: "new" };
}

export interface RemoveOptions {
  readonly path: string;
  readonly branch: string;
  readonly issue: string;
  /** Where its work began, should the mirror not know. */
  readonly base?: string;
  /** The branch whose landed line may hold the work already. */
  readonly target?: string;
  /** The commit that holds the work, where it is known. */
  readonly landed?: string | null;
  /** The repository that has this commit; the mirror unless given, which does not know what the user does later. */
  readonly landedIn?: string;
}

/**
 * Parks what is nowhere else, then removes. The branch goes when all of it has landed or is parked, so that the next
 * worktree of the issue starts from the whole of it: parked, in that very moment, since from then on the branch has less.
 * Repeating it is harmless.
 */
export async function removeWorktree(
  mirror: Mirror,
  options: RemoveOptions,
): Promise<{ readonly parked: Parked | null }> {
  const left = (await hasCheckout(mirror, options.path))
    ? await removeThere(mirror, options)
    : await removeBranch(mirror, options);
  if (left.parked === null) await updateRefs(mirror.path, refsOfLeaving(options, left));
  return { parked: left.parked };
}

function refsOfLeaving({ branch, issue }: RemoveOptions, { landed, bare, parked }: Leaving): RefChange[] {
  const gone = landed || bare || parked !== null ? [`refs/heads/${branch}`] : [];
  // The user may have the branch, and it may come back from there: where it began is known here alone.
  if (landed || bare) gone.push(baseRef(branch));
  const deleted = [...gone, `refs/ratchet/proposed/${safeName(issue)}`].map((ref) => ({ ref, to: null }));
  // What is left over from landed work is kept, but no later life of the issue starts from it.
  const settled =
    parked !== null && landed ? [{ ref: parked.ref.replace(parkedRefs, settledRefs), to: parked.sha }] : [];
  return [...deleted, ...settled];
}

/**
 * Removes a worktree that began in the wrong place and that nobody has left anything in, not even a file that git sees, so
 * that the next one begins elsewhere. `aside`: what git ignores, for that one. null: it stays.
 */
export async function removeUnused(
  mirror: Mirror,
  options: RemoveOptions,
): Promise<{ readonly aside: string | null } | null> {
  const checkout = await findWholeCheckout(mirror, options.path);
  const { head, baseSha } = checkout;
  if (head !== baseSha) return null;
  if (await hasLooseEnds(checkout, { head, changes: await readChanges(checkout, head) })) return null;
  const aside = (await exists(checkout.path)) ? await setIgnoredAside(checkout) : null;
  await removeWorktree(mirror, options);
  return { aside };
}

interface Leaving {
  readonly landed: boolean;
  /** There is no commit beyond the base. */
  readonly bare: boolean;
  readonly parked: Parked | null;
}

/** Its worktree is gone: where there is something to park it gets one, so that there is one way to put work aside. */
async function removeBranch(mirror: Mirror, options: RemoveOptions): Promise<Leaving> {
  const { path, branch } = options;
  const [ref, start] = [`refs/heads/${branch}`, baseRef(branch)];
  const refs = await readRefs(mirror.path, [ref, start]);
  const [head, base = options.base] = [refs.get(ref), refs.get(start)];
  const landed = head !== undefined && (await hasLanded(mirror, head, options));
  const bare = head !== undefined && head === base;
  if (head === undefined || base === undefined || landed || bare) return { landed, bare, parked: null };
  await openWorktree(mirror, { path, branch, base, copy: [], repoPath: mirror.repoPath });
  return await removeOther(mirror, options);
}

async function removeThere(mirror: Mirror, options: RemoveOptions): Promise<Leaving> {
  return (await removeLanded(mirror, options)) ?? (await removeOther(mirror, options));
}

/** Landed work that nothing else would go with: the mirror has all of it, so nothing is shared, parked or even repaired. */
async function removeLanded(mirror: Mirror, options: RemoveOptions): Promise<Leaving | null> {
  const checkout = await readCheckout(mirror, resolve(options.path));
  const head = readHead(checkout.gitDir);
  if (head === null || !(await holdsNothingLoose(checkout, head)) || !(await hasLanded(mirror, head, options)))
    return null;
  await removeCheckout(checkout);
  return { landed: true, bare: head === checkout.baseSha, parked: null };
}

async function removeOther(mirror: Mirror, options: RemoveOptions): Promise<Leaving> {
  const checkout = await findFilled(mirror, options.path);
  const { head } = checkout;
  await shareBranch(checkout, head);
  const bare = head === checkout.baseSha;
  const [landed, loose] = await Promise.all([
    hasLanded(mirror, head, options),
    readChanges(checkout, head).then((changes) => hasLooseEnds(checkout, { head, changes })),
  ]);
  const work = loose || !(landed || bare);
  const also = (parked: Parked) => refsOfLeaving(options, { landed, bare, parked });
  const parked = work ? await parkCheckout(checkout, { name: safeName(options.issue), loose, also }) : null;
  await removeCheckout(checkout);
  return { landed, bare, parked };
}

/** Where somebody has deleted the files, those of its commit are what is parked, and git has a place to work in. */
async function findFilled(mirror: Mirror, path: string): Promise<Checkout & Seen> {
  const found = await findWholeCheckout(mirror, path);
  if (await exists(found.path)) return found;
  const { branch, head: commit, baseSha: base } = found;
  await openCheckout(mirror, { path, branch, commit, base });
  return await findWholeCheckout(mirror, path);
}

async function hasLanded(mirror: Mirror, head: string, options: RemoveOptions): Promise<boolean> {
  const { target, landed, landedIn } = options;
  if (landed && landedIn !== undefined)
    return (await hasCommit(landedIn, head)) && (await isAncestor(landedIn, head, landed));
  if (landed) return (await hasCommit(mirror.path, head)) && (await isAncestor(mirror.path, head, landed));
  return target !== undefined && (await isLanded(mirror, target, head));
}

export interface WorktreeEntry {
  readonly path: string;
  readonly branch: string | null;
  readonly baseSha: string;
  readonly head: string | null;
  /** The files are there. */
  readonly present: boolean;
}

export async function listWorktrees(mirror: Mirror): Promise<readonly WorktreeEntry[]> {
  const all = await listCheckouts(mirror);
  return await Promise.all(
    all.map(async ({ path, branch, baseSha, gitDir }) => ({
      path,
      branch,
      baseSha,
      head: readHead(gitDir),
      present: await exists(path),
    })),
  );
}
