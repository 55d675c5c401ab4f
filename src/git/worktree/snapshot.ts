import { findCheckout } from "../checkout/checkout.js";
import { damaged, type Seen } from "../checkout/checkout-files.js";
import type { Checkout } from "../checkout/checkout-git.js";
import { forgetLost, whyBroken } from "../checkout/whole.js";
import { GitError, git } from "../git.js";
import { resolveHead } from "../head.js";
import { findTargetBase } from "../landing/target-base.js";
import { readEnds } from "../landing/tip.js";
import { hasCommit, isAncestor, type Mirror, updateRefs } from "../mirror/mirror-refs.js";
import { type History, readHistory } from "../objects/history.js";
import { bareLinks, changedLinks } from "../objects/links.js";
import { shareObjects } from "../objects/objects.js";
import { lookAtFiles, rememberClean } from "./clean-proof.js";
import { type Change, operationsIn, readChanges, treeOfFiles } from "./status.js";
import { type UnpushedLink, unpushedLinks } from "./unpushed-links.js";

/** The worktree as a turn left it. */
export interface Snapshot {
  readonly head: string;
  readonly tree: string;
  readonly filesTree: string;
  readonly dirty: readonly string[];
  readonly dirtyCount: number;
  readonly commits: number;
  readonly docsOnly: boolean;
  readonly containsBase: boolean;
  readonly namedCommitInTarget: boolean | null;
  readonly targetBase?: string;
  readonly merged?: string;
  readonly unpushed?: readonly string[];
}

export interface SnapshotOptions {
  /** Where the user's repository is by now, if not where it was when the worktree was opened. */
  readonly repoPath?: string;
  /** base_sha: where the work starts. */
  readonly base: string;
  /** What HEAD has to contain; base where it is left out. */
  readonly required?: string;
  /** What reviews are based on so far, or would be if that was merged. */
  readonly reviewBase?: string;
  readonly docsPatterns: readonly string[];
  /** What may be the id of a commit that the agent named, and the branch that one of them should be in. */
  readonly namedCommits?: readonly string[];
  readonly target?: string;
  /** Reviews are based on what HEAD has of the target, and the work's own commits are those above it. */
  readonly followsTarget?: boolean;
  /** What was to be merged before. */
  readonly unmerged?: string | null;
}

const shownPaths = 50;

/** Also gives the mirror the objects and the branch, so that the work outlives the worktree. */
export async function snapshot(path: string, options: SnapshotOptions): Promise<Snapshot> {
  const found = await findCheckout(path);
  const { repoPath = found.mirror.repoPath } = options;
  const checkout = { ...found, mirror: { ...found.mirror, repoPath } };
  try {
    return await look(checkout, options);
  } catch (error) {
    if (error instanceof GitError && /not a git repository/.test(error.stderr)) throw damaged(checkout, error);
    throw (await whyBroken(checkout, checkout.head)) ?? error;
  }
}

async function look(checkout: Checkout & Seen, options: SnapshotOptions): Promise<Snapshot> {
  const { head } = checkout;
  const before = lookAtFiles(checkout.path);
  // Another process puts the branch there, while this one looks.
  const sharing = shareBranch(checkout, head);
  const [changes, { history, targetBase }, named] = await Promise.all([
    readChanges(checkout, head, before),
    readWork(checkout, { ...options, head }),
    isInTarget(checkout, options),
    sharing,
  ]);
  forgetLost(checkout.gitDir);
  if (changes.length === 0) rememberClean(checkout.path, head, before);
  const { base, required = base, reviewBase = required, unmerged = null } = options;
  const merged = targetBase ?? reviewBase;
  const changed = await changedLinks(checkout, { base, head, reviewBase: merged });
  const links = await bareLinks(checkout, { head, changed });
  const isBare = (path: Buffer) => links.some((link) => link.equals(path));
  const pointers = changed.filter(({ path }) => !isBare(path));
  const unpushed = await unpushedLinks(checkout, { head, links: pointers, known: [base, merged] });
  const dirty = [
    ...operationsIn(checkout.names).map((what) => `(${what} is in progress)`),
    ...links.map((path) => `${path.toString("utf8")} (a repository of its own, committed only as a link)`),
    ...changes.filter(({ path }) => !isBare(path)).map(shown),
  ];
  const contains = async (commit: string) => await isAncestor(checkout.mirror.path, commit, head);
  const isMerged = unmerged !== null && (await hasCommit(checkout.mirror.path, unmerged)) && (await contains(unmerged));
  return {
    head,
    tree: history.tree,
    filesTree: changes.length === 0 ? history.tree : await treeOfFiles(checkout, { head, changes }),
    dirty: dirty.slice(0, shownPaths),
    dirtyCount: dirty.length,
    commits: history.commits,
    docsOnly: history.docsOnly,
    containsBase: required === base ? history.containsBase : await contains(required),
    namedCommitInTarget: named,
    ...(targetBase === null ? {} : { targetBase }),
    ...(isMerged ? { merged: unmerged } : {}),
    ...(unpushed.length === 0 ? {} : { unpushed: unpushed.slice(0, shownPaths).map(shownLink) }),
  };
}

interface WorkOptions extends SnapshotOptions {
  readonly head: string;
}

/** What the target has already is not the work's own, however it came into it. */
async function readWork(
  checkout: Checkout,
  options: WorkOptions,
): Promise<{ readonly history: History; readonly targetBase: string | null }> {
  const { base, head, target, reviewBase: preferred = base, followsTarget = false } = options;
  const history = await readHistory(checkout, options);
  const { first, containsBase } = history;
  if (!followsTarget || target === undefined || !containsBase) return { history, targetBase: null };
  const targetBase = await findTargetBase(checkout, { base, head, target, first, preferred });
  if (targetBase === null || targetBase === base) return { history, targetBase };
  return { history: { ...(await readHistory(checkout, { ...options, base: targetBase })), containsBase }, targetBase };
}

function shownLink({ path, id, why }: UnpushedLink): string {
  return `${path} at ${id.slice(0, 12)}: ${why}`;
}

function shown({ path, kind }: Change): string {
  return path.toString("utf8") + (kind === "nested" || kind === "link" ? "/ (a repository of its own)" : "");
}

/** The branch in the mirror follows HEAD, on whatever branch the agent left it. */
export async function shareBranch(checkout: Checkout, head: string): Promise<void> {
  shareObjects(checkout);
  if (checkout.branch === null) return;
  const ref = `refs/heads/${checkout.branch}`;
  if (resolveHead(checkout.mirror.path, ref) === head) return;
  await updateRefs(checkout.mirror.path, [{ ref, to: head }]);
}

async function isInTarget({ mirror }: Checkout, options: SnapshotOptions): Promise<boolean | null> {
  const { namedCommits = [], target } = options;
  if (namedCommits.length === 0 || target === undefined) return null;
  // A person may have put it there since the run began.
  const { landed, user } = await readEnds(mirror, target);
  for (const commit of namedCommits.filter((name) => /^[0-9a-f]{4,64}$/i.test(name)))
    for (const end of [landed, user]) if (end !== null && (await isIn(mirror, commit, end))) return true;
  return false;
}

async function isIn(mirror: Mirror, commit: string, end: string): Promise<boolean> {
  const output = await git(mirror.path, ["merge-base", "--is-ancestor", `${commit}^{commit}`, end], {
    okCodes: [1, 128],
  });
  return output.code === 0;
}
