import { join, resolve } from "node:path";
import { isMissing } from "../../lib/files.js";
import { safeName } from "../../lib/home.js";
import { attachCopies, hasCheckout, openCheckout, readCheckout } from "../checkout/checkout.js";
import { removeCheckout } from "../checkout/checkout-removal.js";
import { type GitOptions, gitScript, gitText } from "../git.js";
import { resolveHead } from "../head.js";
import { isAncestor, type Mirror, updateRefs } from "../mirror/mirror-refs.js";
import { isKnownInside, rememberContained } from "../objects/ancestry.js";
import { LooseObjects, rememberCommit } from "../objects/loose-objects.js";
import { mergesPlainly, mergeTrees } from "../objects/merge-trees.js";
import { treeOf } from "../objects/tree-of.js";
import { asAuthor, type Identity } from "../repository.js";
import { discardAt } from "../worktree/clean.js";
import { forgetIndex } from "../worktree/kept-index.js";
import { followedRef, landedRef, readEnds, readFollowed, tipOf } from "./tip.js";
import { whyWithdrawn } from "./withdrawn.js";

export { followTarget } from "../users-branch/follow.js";
export { putBranch } from "../users-branch/given-branch.js";
export { isLanded } from "./tip.js";

/**
 * Landing happens on refs alone, never in a checkout: a commit is proposed on top of the tip, judged by the caller, and
 * put on the line by compare-and-set. Every part can be repeated after a crash.
 */
export interface Proposed {
  readonly type: "proposed";
  readonly tip: string;
  readonly commit: string;
  readonly tree: string;
  readonly merged: boolean;
}
export type Proposal =
  | Proposed
  | { readonly type: "conflict"; readonly tip: string; readonly files: readonly string[] }
  | { readonly type: "waits"; readonly reason: string };

export interface ProposeOptions {
  readonly target: string;
  readonly head: string;
  readonly message: { readonly issue: string; readonly title: string; readonly run: string };
  readonly identity: Identity;
}

export async function proposeLanding(mirror: Mirror, options: ProposeOptions): Promise<Proposal> {
  const { target, head } = options;
  const tip = await tipOf(mirror, target);
  if (tip.type === "rewound" || tip.type === "missing") return { type: "waits", reason: tip.reason };
  const ends = tip.type === "conflict" ? [tip.sha, tip.theirs] : [tip.sha];
  const reason = await whyWithdrawn(mirror, { target, head, ends });
  if (reason !== null) return { type: "waits", reason };
  switch (tip.type) {
    case "conflict":
      return await proposeBoth(mirror, { head, landed: tip.sha, theirs: tip.theirs, files: tip.files });
    case "tip":
      return (await proposeHead(mirror, tip.sha, head)) ?? (await proposeMerge(mirror, tip.sha, options));
  }
}

/** null: head does not contain the tip. */
async function proposeHead(mirror: Mirror, tip: string, head: string): Promise<Proposal | null> {
  const known = isMissing(join(mirror.path, "shallow")) ? findInLine(new LooseObjects([mirror.path]), tip, head) : null;
  if (known?.found === false) return null;
  const tree = known?.tree ?? (await treeIfContaining(mirror, tip, head));
  if (tree === null) return null;
  rememberContained(head, [tip]);
  return { type: "proposed", tip, commit: head, tree, merged: false };
}

/** `tip...head` is both and, negated, where they part: at the tip, if head contains it. */
async function treeIfContaining(mirror: Mirror, tip: string, head: string): Promise<string | null> {
  const [tree = "", ...range] = (await gitText(mirror.path, ["rev-parse", `${head}^{tree}`, `${tip}...${head}`])).split(
    "\n",
  );
  return range.includes(`^${tip}`) ? tree : null;
}

const stepsAtMost = 100;

/**
 * Whether head contains the tip, where it is the end of a plain line of commits that have files of their own: the line
 * comes to the tip, or to a commit that the tip contains. null: git has to say.
 */
function findInLine(
  objects: LooseObjects,
  tip: string,
  head: string,
): { readonly found: boolean; readonly tree: string } | null {
  const tree = objects.commit(head)?.tree;
  if (tree === undefined) return null;
  let id = head;
  for (let steps = 0; steps < stepsAtMost; steps++) {
    if (id === tip) return { found: true, tree };
    // Of the newest it is hardly ever so, and to find that out takes longest.
    if (id !== head && isKnownInside(id, tip)) return { found: false, tree };
    const [parent, ...others] = objects.commit(id)?.parents ?? [];
    if (parent === undefined || others.length > 0) return null;
    id = parent;
  }
  return null;
}

/** Line and branch conflict with each other: only work that has merged both can land. */
async function proposeBoth(
  mirror: Mirror,
  { head, landed, theirs, files }: { head: string; landed: string; theirs: string; files: readonly string[] },
): Promise<Proposal> {
  if (!(await isAncestor(mirror.path, theirs, head))) return { type: "conflict", tip: theirs, files };
  return (await proposeHead(mirror, landed, head)) ?? { type: "conflict", tip: landed, files };
}

async function proposeMerge(
  mirror: Mirror,
  tip: string,
  { head, message, identity }: ProposeOptions,
): Promise<Proposal> {
  const title = message.title.replace(/\s+/g, " ").trim();
  const input = `Merge ${message.issue}: ${title}\n\nRatchet-Issue: ${message.issue}\nRatchet-Run: ${message.run}\n`;
  const options = { input, env: asAuthor(identity) };
  const made =
    (await mergePlainly(mirror, { tip, head }, options)) ?? (await mergeByRules(mirror, { tip, head }, options));
  if (made.type === "conflict") return { type: "conflict", tip, files: made.files };
  const { tree, commit } = made;
  rememberCommit(commit, { tree, parents: [tip, head] });
  rememberContained(commit, [tip, head]);
  return { type: "proposed", tip, commit, tree, merged: true };
}

interface Ends {
  readonly tip: string;
  readonly head: string;
}
type Made =
  | { readonly type: "made"; readonly tree: string; readonly commit: string }
  | { readonly type: "conflict"; readonly files: readonly string[] };

/** The usual case as one program. null: they conflict, or attributes may have a say in it. */
async function mergePlainly(mirror: Mirror, { tip, head }: Ends, options: GitOptions): Promise<Made | null> {
  if (!(await mergesPlainly(mirror, tip))) return null;
  const given = { ...options, args: [tip, head], okCodes: [conflictCode] };
  const output = await gitScript(mirror.path, mergeScript, given);
  const [tree = "", commit = ""] = output.stdout.toString("utf8").trim().split(" ");
  return output.code === 0 ? { type: "made", tree, commit } : null;
}

async function mergeByRules(mirror: Mirror, { tip, head }: Ends, options: GitOptions): Promise<Made> {
  const merge = await mergeTrees(mirror, { ours: tip, theirs: head });
  if (merge.type === "conflict") return merge;
  const commit = await gitText(mirror.path, ["commit-tree", merge.tree, "-p", tip, "-p", head], options);
  return { type: "made", tree: merge.tree, commit };
}

const conflictCode = 1;

/** Tip and head of a clean merge, and their commit. */
const mergeScript = {
  name: "merge-tree",
  text: `
tree=$(git merge-tree --write-tree --no-messages --allow-unrelated-histories "$1" "$2" </dev/null) || exit
commit=$(git commit-tree "$tree" -p "$1" -p "$2") || exit 128
echo "$tree $commit"`,
};

/** A merge stays alive while it is judged; the next proposal of the issue takes its place. */
export async function keepProposal(mirror: Mirror, issue: string, commit: string): Promise<void> {
  await updateRefs(mirror.path, [{ ref: proposedRef(issue), to: commit }]);
}

/**
 * For whoever may have landed this head and did not live to tell: the proposal by which it came onto the line, a merge of
 * it or head itself. null: it is not there.
 */
export async function findLanded(
  mirror: Mirror,
  { target, head }: { readonly target: string; readonly head: string },
): Promise<Proposed | null> {
  const { landed } = await readEnds(mirror, target);
  if (landed === null || !(await isAncestor(mirror.path, head, landed))) return null;
  const range = ["rev-list", "--parents", "--ancestry-path", `${head}..${landed}`];
  const children = (await gitText(mirror.path, range)).split("\n").map((line) => line.split(" "));
  const [commit = head, tip = head] = children.find(([, , ...others]) => others.includes(head)) ?? [];
  return { type: "proposed", tip, commit, tree: await treeOf(mirror.path, commit), merged: commit !== head };
}

function proposedRef(issue: string): string {
  return `refs/ratchet/proposed/${safeName(issue)}`;
}

export interface CommitOptions {
  readonly target: string;
  readonly tip: string;
  readonly commit: string;
  /** Also where the user's branch has commits by now that the proposal does not know: the next landing merges them. */
  readonly insists?: boolean;
}

/**
 * moved: the line, or the user's branch, is no longer where the proposal was made. A commit that is on the line already
 * has landed, whoever put it there.
 */
export async function commitLanding(
  mirror: Mirror,
  { target, tip, commit, insists = false }: CommitOptions,
): Promise<{ readonly type: "landed" } | { readonly type: "moved" }> {
  for (;;) {
    const followed = await readFollowed(mirror, target);
    const { landed, user } = await readEnds(mirror, target);
    if (landed === commit) return { type: "landed" };
    // A proposal contains its tip, so a line that is at the tip needs no walk.
    if (landed !== null && landed !== tip) {
      if (await isAncestor(mirror.path, commit, landed)) return { type: "landed" };
      if (!(await isAncestor(mirror.path, landed, tip))) return { type: "moved" };
    }
    const known = await knownPart(mirror, { tip, commit, landed, user, followed, insists });
    if (known === "moved") return { type: "moved" };
    const changes = known === null ? [] : [{ ref: followedRef(target), to: known }];
    const done = await updateRefs(mirror.path, [{ ref: landedRef(target), to: commit, from: landed }, ...changes]);
    if (done) return { type: "landed" };
  }
}

interface Known {
  readonly tip: string;
  readonly commit: string;
  readonly landed: string | null;
  readonly user: string | null;
  readonly followed: string | null;
  readonly insists: boolean;
}

/** The newest commit of the user's branch that the commit has in it. moved: the branch has others, or was put back. */
async function knownPart(
  { path }: Mirror,
  { tip, commit, landed, user, followed, insists }: Known,
): Promise<string | null | "moved"> {
  if (user === null || user === tip) return user;
  // A tip that is not the line's end was theirs. Who has dropped it since, or what the line is built on, is not overruled.
  for (const had of [followed, landed === tip ? null : tip])
    if (had !== null && had !== user && !(await isAncestor(path, had, user))) return "moved";
  if (await isAncestor(path, user, commit)) return user;
  if (!insists) return "moved";
  return (await isAncestor(path, tip, user)) ? tip : (followed ?? "moved");
}

/** The place where a merge is judged: a detached checkout at exactly the commit, clean but for ignored files. */
export async function openLandingWorktree(
  mirror: Mirror,
  { path, commit, copy = [] }: { readonly path: string; readonly commit: string; readonly copy?: readonly string[] },
): Promise<{ readonly path: string; readonly fresh: boolean; readonly discarded: readonly string[] }> {
  const { checkout, fresh } = await openCheckout(mirror, { path, branch: null, commit, base: commit });
  // What was kept is the last merge's, perhaps another issue's.
  if (resolveHead(checkout.gitDir) !== commit) forgetIndex(checkout.gitDir);
  const discarded = fresh ? [] : await discardAt(checkout, commit);
  await attachCopies(checkout, { copy, repoPath: mirror.repoPath, isNew: fresh });
  return { path, fresh, discarded };
}

/** Nothing in it is anybody's work: what it held is a proposal, and that is in the mirror. */
export async function removeLandingWorktree(mirror: Mirror, path: string): Promise<void> {
  if (await hasCheckout(mirror, path)) await removeCheckout(await readCheckout(mirror, resolve(path)));
}
