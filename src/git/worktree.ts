import { exists } from "../lib/files.js";
import { safeName } from "../lib/home.js";
import {
  attachCopies,
  findCheckout,
  hasCheckout,
  listCheckouts,
  openCheckout,
  removeCheckout,
  wasUsed,
} from "./checkout.js";
import { gitText } from "./git.js";
import { resolveHead } from "./head.js";
import { isAncestor, type Mirror, readRefs, updateRefs } from "./mirror-refs.js";
import { hasLooseEnds, type Parked, parkCheckout, parkedRefs, settledRefs } from "./parking.js";
import { newestParked, restoreParked } from "./restore.js";
import { shareBranch } from "./snapshot.js";
import { readChanges } from "./status.js";
import { landedRef } from "./tip.js";

export { discardChanges, putAt } from "./clean.js";
export { commitAll } from "./commit.js";
export { type Snapshot, type SnapshotOptions, snapshot } from "./snapshot.js";

export interface OpenOptions {
  readonly path: string;
  /** `ratchet/<issue>` */
  readonly branch: string;
  /** Where a new branch starts. */
  readonly base: string;
  readonly copy: readonly string[];
  readonly repoPath: string;
}

export interface OpenedWorktree {
  readonly path: string;
  readonly branch: string;
  /** Fixed when the branch was made; kept for as long as the issue lives. */
  readonly baseSha: string;
  readonly head: string;
  readonly tree: string;
  /** Nobody has looked at work in it since its files were made: setup has to run. */
  readonly fresh: boolean;
  readonly from: "worktree" | "branch" | "parked" | "new";
}

/** Takes up what is there, in this order: the worktree, the branch, the newest parked work; else starts at `base`. */
export async function openWorktree(mirror: Mirror, options: OpenOptions): Promise<OpenedWorktree> {
  const { path, branch, copy, repoPath } = options;
  const from = await takeUp(mirror, options);
  const checkout = await findCheckout(path);
  const head = (await resolveHead(checkout.gitDir)) ?? checkout.baseSha;
  await Promise.all([attachCopies(checkout, { copy, repoPath }), shareBranch(checkout, head)]);
  const tree = await gitText(mirror.path, ["rev-parse", `${head}^{tree}`]);
  return { path, branch, baseSha: checkout.baseSha, head, tree, fresh: !(await wasUsed(checkout)), from };
}

async function takeUp(mirror: Mirror, options: OpenOptions): Promise<OpenedWorktree["from"]> {
  const { path, branch, base } = options;
  if (await hasCheckout(mirror, path)) {
    return (await openCheckout(mirror, { path, branch, commit: base, base })).from;
  }
  const known = await readRefs(mirror.path, [`refs/heads/${branch}`, baseRef(branch)]);
  const commit = known.get(`refs/heads/${branch}`);
  if (commit !== undefined) {
    const start = known.get(baseRef(branch)) ?? (await gitText(mirror.path, ["merge-base", base, commit]));
    await openCheckout(mirror, { path, branch, commit, base: start });
    return "branch";
  }
  const name = branch.replace(/^ratchet\//, "");
  const n = await newestParked(mirror, name);
  if (n !== null) {
    await restoreParked(mirror, { issue: name, n, path });
    return "parked";
  }
  await Promise.all([
    openCheckout(mirror, { path, branch, commit: base, base }),
    updateRefs(mirror.path, [
      { ref: `refs/heads/${branch}`, to: base },
      { ref: baseRef(branch), to: base },
    ]),
  ]);
  return "new";
}

function baseRef(branch: string): string {
  return `refs/ratchet/base/${branch}`;
}

export interface RemoveOptions {
  readonly path: string;
  readonly branch: string;
  readonly issue: string;
  /** The branch whose landed line may hold the work already. */
  readonly target?: string;
  /** The commit that holds the work, where it is known. */
  readonly landed?: string | null;
}

/** Parks what is nowhere else, then removes. The branch goes only when all of it has landed. Repeating it is harmless. */
export async function removeWorktree(
  mirror: Mirror,
  options: RemoveOptions,
): Promise<{ readonly parked: Parked | null }> {
  const { path, branch, issue } = options;
  const name = safeName(issue);
  const there = await hasCheckout(mirror, path);
  const parked = there ? await removeThere(mirror, options) : null;
  const refs = await readRefs(mirror.path, [`refs/heads/${branch}`]);
  const head = refs.get(`refs/heads/${branch}`);
  const gone =
    head !== undefined && (await hasLanded(mirror, head, options)) ? [`refs/heads/${branch}`, baseRef(branch)] : [];
  await updateRefs(
    mirror.path,
    [...gone, `refs/ratchet/proposed/${name}`].map((ref) => ({ ref, to: null })),
  );
  // What is left over from landed work is kept, but no later life of the issue starts from it.
  if (parked !== null && gone.length > 0) {
    await updateRefs(mirror.path, [{ ref: parked.ref.replace(parkedRefs, settledRefs), to: parked.sha }]);
  }
  return { parked };
}

async function removeThere(mirror: Mirror, options: RemoveOptions): Promise<Parked | null> {
  const checkout = await findCheckout(options.path);
  const head = (await resolveHead(checkout.gitDir)) ?? checkout.baseSha;
  await shareBranch(checkout, head);
  let parked: Parked | null = null;
  if (await exists(options.path)) {
    const landed = head === checkout.baseSha || (await hasLanded(mirror, head, options));
    const loose = await hasLooseEnds(checkout, await readChanges(checkout, head));
    if (loose || !landed) parked = await parkCheckout(checkout, safeName(options.issue));
  }
  await removeCheckout(checkout);
  return parked;
}

async function hasLanded(mirror: Mirror, head: string, { target, landed }: RemoveOptions): Promise<boolean> {
  if (landed) return await isAncestor(mirror.path, head, landed);
  if (target === undefined) return false;
  const line = (await readRefs(mirror.path, [landedRef(target)])).get(landedRef(target));
  return line !== undefined && (await isAncestor(mirror.path, head, line));
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
      head: await resolveHead(gitDir),
      present: await exists(path),
    })),
  );
}
