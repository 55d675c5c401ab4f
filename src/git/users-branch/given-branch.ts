import { Refusal } from "../../lib/errors.js";
import { shellWord } from "../../lib/quoted.js";
import { GitError, gitText } from "../git.js";
import { readEnds } from "../landing/tip.js";
import { fetchIntoUser, isAncestor, type Mirror, readRef, updateRefs } from "../mirror/mirror-refs.js";
import { mergeTrees } from "../objects/merge-trees.js";
import { asAuthor, type Identity } from "../repository.js";
import { placesOf } from "./places.js";

/**
 * Branches that are put into the user's repository and are the user's from then on: one that somebody else has moved, or
 * has checked out, is left alone. What is given piece by piece, each on top of the one before, only ever goes forward.
 */
export const givenRefs = "refs/ratchet/given-branch";

export interface Given {
  readonly branch: string;
  readonly head: string;
  /** An issue that was begun afresh takes the place of what it gave before, where nobody has touched that. */
  readonly replaces?: boolean;
}

/** Why it is not there, in words that end no sentence. */
export interface NotGiven {
  readonly why: string;
  /** What a person has to do before it can be tried again, where that is known. */
  readonly way: string | null;
}

/** null: it is there. */
export async function putBranch(mirror: Mirror, { branch, head, replaces = false }: Given): Promise<NotGiven | null> {
  const ref = `refs/heads/${branch}`;
  await updateRefs(mirror.path, [{ ref, to: head }]);
  const [there, given] = await Promise.all([readRef(mirror.repoPath, ref), readGiven(mirror, branch)]);
  const untouched = there !== null && there === given;
  try {
    await fetchIntoUser(mirror, [`${replaces && untouched ? "+" : ""}${ref}:${ref}`]);
  } catch (error) {
    if (!(error instanceof GitError) || error.retryable) throw error;
    // One that pieces were put on before, whoever has added to it since, is gone on with by the next.
    const isBegun = untouched || (!replaces && given !== null);
    return (await whyHeld(mirror, branch, error)) ?? whyNotMoved(mirror, { branch, there, isBegun, error });
  }
  await updateRefs(mirror.path, [{ ref: `${givenRefs}/${branch}`, to: head }]);
  return null;
}

/** What was put there last; null: nothing. */
export async function readGiven(mirror: Mirror, branch: string): Promise<string | null> {
  return await readRef(mirror.path, `${givenRefs}/${branch}`);
}

interface NotMoved {
  readonly branch: string;
  readonly there: string | null;
  /** It is the one that was put there. */
  readonly isBegun: boolean;
  readonly error: GitError;
}

/** Git moves no branch that somebody works on; null: nobody does. */
async function whyHeld({ repoPath }: Mirror, branch: string, error: GitError): Promise<NotGiven | null> {
  if (!/refusing to fetch into/.test(error.stderr)) return null;
  const { checkout, isGone, busy } = await placesOf(repoPath, `refs/heads/${branch}`);
  const because = (why: string) => `${branch} in ${repoPath} could not be moved: ${why}`;
  if (checkout === null) return busy === null ? null : { why: because(busy), way: "finish or abort that" };
  if (isGone) return { why: because(`${checkout}, where it is checked out, is gone`), way: "run `git worktree prune`" };
  return { why: because(`it is checked out in ${checkout}`), way: "check out another branch there" };
}

/** Of a branch that has other commits git says nothing at all. */
function whyNotMoved({ repoPath }: Mirror, { branch, there, isBegun, error }: NotMoved): NotGiven {
  const wayOut = (name: string) => `rename it (\`git branch -m ${shellWord(name)} NAME\`) or delete it`;
  // Of `ratchet` and `ratchet/one` git can have but one.
  const beside = /'refs\/heads\/([^'\n]+)' exists; cannot create/.exec(error.stderr)?.[1];
  if (beside !== undefined) {
    const why = `${repoPath} has a branch ${beside}, beside which git can have no ${branch}`;
    return { why, way: wayOut(beside) };
  }
  if (there === null || error.stderr.trim() !== "")
    return { why: `${branch} in ${repoPath} could not be moved: ${error.message}`, way: null };
  const id = there.slice(0, 12);
  const lacks = `it lacks ${id}, which ${branch} in ${repoPath} has: only what is built on that can follow it`;
  if (isBegun) return { why: lacks, way: null };
  const whose = "with commits that are not Ratchet's";
  return { why: `${repoPath} has a branch ${branch} of its own, at ${id}, ${whose}`, way: wayOut(branch) };
}

export interface Continued {
  readonly branch: string;
  readonly target: string;
  /** The target's. */
  readonly tip: string;
  readonly identity: Identity;
}

/**
 * Where the next piece begins: at the branch as the user has it, with what the target has besides. One that the user has
 * deleted, or that the target has, is over.
 */
export async function continueBranch(mirror: Mirror, { branch, target, tip, identity }: Continued): Promise<string> {
  const { user } = await readEnds(mirror, branch);
  if (user === null || (await isAncestor(mirror.path, user, tip))) return tip;
  if (await isAncestor(mirror.path, tip, user)) return user;
  const merge = await mergeTrees(mirror, { ours: user, theirs: tip });
  if (merge.type === "conflict") {
    const where = merge.files.slice(0, 5).join(", ");
    throw new Refusal(`${branch} and ${target} conflict in ${where}: merge ${target} into ${branch}`);
  }
  const args = ["commit-tree", merge.tree, "-p", user, "-p", tip, "-m", `Merge ${target} into ${branch}`];
  return await gitText(mirror.path, args, { env: asAuthor(identity) });
}
