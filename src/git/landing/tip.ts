import { dirname, join } from "node:path";
import { ExternalError } from "../../lib/errors.js";
import { exists, namesIn } from "../../lib/files.js";
import { shellWord } from "../../lib/quoted.js";
import { git, gitText } from "../git.js";
import { resolveHead } from "../head.js";
import { fetchFromUser, hasCommit, isAncestor, type Mirror, readRef, updateRefs } from "../mirror/mirror-refs.js";
import { isKnownInside } from "../objects/ancestry.js";
import { mergeTrees } from "../objects/merge-trees.js";
import { asAuthor, commonDirOf, readIdentity } from "../repository.js";
import { removeIfThere, writeIfChanged } from "../small-files.js";
import { forgetUntold, movedUntold } from "../users-branch/begun-merge.js";
import { beforeSeries } from "../users-branch/places.js";
import { noteWithdrawn, withdrawnRef } from "./withdrawn.js";

/**
 * The landed line of a target, and where the user's own branch stands against it. `sha` is always a commit that work
 * can start from.
 */
export type Tip =
  | { readonly type: "tip"; readonly sha: string; readonly merged: boolean }
  /** The line and the user's branch cannot be merged mechanically: the next landing issue has to. */
  | {
      readonly type: "conflict";
      readonly sha: string;
      readonly theirs: string;
      readonly files: readonly string[];
      readonly reason: string;
    }
  /** The user's branch was put back before landed work: landing waits until it is there again. */
  | { readonly type: "rewound"; readonly sha: string; readonly reason: string }
  | { readonly type: "missing"; readonly sha: null; readonly reason: string };

export const landedRefs = "refs/ratchet/landed";
export function landedRef(target: string): string {
  return `${landedRefs}/${target}`;
}
/** The newest commit of the user's branch that the landed line is built on: the branch may move ahead of it, never back. */
export function followedRef(target: string): string {
  return `refs/ratchet/followed/${target}`;
}
/** Null: it is built on none. */
export async function readFollowed(mirror: Mirror, target: string): Promise<string | null> {
  const moved = await movedUntold(mirror, target);
  if (moved === null) return await readRef(mirror.path, followedRef(target));
  await updateRefs(mirror.path, [{ ref: followedRef(target), to: moved }]);
  await forgetUntold(mirror, target, moved);
  return moved;
}
/** The user's repository has been given its copy of the landed line: when it is gone, somebody took it away. */
export async function markGiven(mirror: Mirror, target: string): Promise<void> {
  await writeIfChanged(givenFile(mirror, target), "given\n");
}
export function unmarkGiven(mirror: Mirror, target: string): void {
  removeIfThere(givenFile(mirror, target));
}
export function givenTargets(mirror: Pick<Mirror, "path">): readonly string[] {
  return namesIn(dirname(givenFile(mirror, "any"))).map(decodeURIComponent);
}
export function givenFile(mirror: Pick<Mirror, "path">, target: string): string {
  return join(mirror.path, "ratchet", "given", encodeURIComponent(target));
}

/** Where the landed line and the user's branch end. */
export interface Ends {
  readonly landed: string | null;
  /** Its objects are present in the mirror. */
  readonly user: string | null;
}

export async function readEnds(mirror: Mirror, target: string): Promise<Ends> {
  const branch = `refs/heads/${target}`;
  const landed = await readRef(mirror.path, landedRef(target));
  let user = await readUser(mirror, target);
  // What is fetched is where the branch is by then, which may be beside what was read.
  for (let fetches = 0; user !== null && user !== landed && !(await hasCommit(mirror.path, user)); fetches++) {
    if (fetches >= fetchesAtMost) throw new ExternalError("git", `${target} moves too fast`, { retryable: true });
    await fetchFromUser(mirror, [`+${branch}:refs/user/heads/${target}`]);
    user = await readUser(mirror, target);
  }
  return { landed, user };
}

/**
 * Where the user's branch is. The commits of a series that is not at its end (`git am`, several cherry-picks) may be given up
 * yet, as long as nothing is built on them: they count from its end on.
 */
async function readUser({ path, repoPath }: Mirror, target: string): Promise<string | null> {
  const branch = `refs/heads/${target}`;
  const user = await readRef(repoPath, branch);
  const before = user === null ? null : await beforeSeries(repoPath, branch);
  if (user === null || before === null || before === user) return user;
  const followed = await readRef(path, followedRef(target));
  return (await isLine(repoPath, followed === null ? [before, user] : [followed, before, user])) ? before : user;
}

/** Each of them is there, and in the next. */
async function isLine(repo: string, commits: readonly string[]): Promise<boolean> {
  for (const commit of commits) if (!(await hasCommit(repo, commit))) return false;
  const [first = "", ...later] = commits;
  let last = first;
  for (const commit of later) {
    if (!(await isAncestor(repo, last, commit))) return false;
    last = commit;
  }
  return true;
}

const fetchesAtMost = 100;

interface Line extends Ends {
  readonly followed: string | null;
}

/** T: the later of landed line and user's branch, or their mechanical merge, which is put on the landed line first. */
export async function tipOf(mirror: Mirror, target: string): Promise<Tip> {
  for (;;) {
    // Ours before theirs: it is written after the user's branch moved, so read in this order it is never ahead of it.
    const followed = await readFollowed(mirror, target);
    const ends = await readEnds(mirror, target);
    await noteWithdrawn(mirror, target, ends);
    const tip = await decideTip(mirror, target, { ...ends, followed });
    if (tip !== "again") return tip;
  }
}

async function decideTip(mirror: Mirror, target: string, line: Line): Promise<Tip | "again"> {
  const { landed, user } = line;
  if (landed === null) {
    // No landing yet: the user's branch is the line, wherever they move it.
    if (user === null) return { type: "missing", sha: null, reason: await whyMissing(mirror, target) };
    return { type: "tip", sha: user, merged: false };
  }
  if (user === null || user === landed) return { type: "tip", sha: landed, merged: false };
  if (line.followed !== null && !(await isAncestor(mirror.path, line.followed, user))) {
    return await afterRewind(mirror, target, { ...line, landed });
  }
  if (await isAncestor(mirror.path, user, landed)) return { type: "tip", sha: landed, merged: false };
  if (await isAncestor(mirror.path, landed, user)) return { type: "tip", sha: user, merged: false };
  return await mergeLines(mirror, target, { landed, user });
}

/** Where it was when it was last seen: their own commit, which git keeps for a while. */
async function whyMissing(mirror: Mirror, target: string): Promise<string> {
  for (const path of [mirror.repoPath, await commonDirOf(mirror.repoPath)])
    if (!(await exists(path))) return `${path} is gone: move it back, or stop and start in its new place`;
  const sha = await readRef(mirror.path, `refs/user/heads/${target}`);
  return sha === null
    ? `there is no branch ${target} with a commit: run \`git branch ${shellWord(target)}\``
    : `the branch ${target} is gone: run \`git branch ${shellWord(target)} ${sha.slice(0, 12)}\``;
}

export function wasRewound(target: string): string {
  const ref = shellWord(landedRef(target));
  return `${target} was rewound: run \`git merge ${ref}\`, or let the landed work go: \`git update-ref -d ${ref}\``;
}

/** Deleting their copy of the landed line is how a user says that the landed work shall be let go. It stays under `refs/ratchet/dropped/`. */
async function afterRewind(
  mirror: Mirror,
  target: string,
  line: Line & { readonly landed: string },
): Promise<Tip | "again"> {
  const { landed, followed } = line;
  const hasCopy = (await readRef(mirror.repoPath, landedRef(target))) !== null;
  if (hasCopy || followed === null || !(await exists(givenFile(mirror, target)))) {
    return { type: "rewound", sha: landed, reason: wasRewound(target) };
  }
  await updateRefs(mirror.path, [
    { ref: `refs/ratchet/dropped/${landed}`, to: landed },
    { ref: withdrawnRef(target, landed), to: landed },
    { ref: landedRef(target), to: null, from: landed },
    { ref: followedRef(target), to: null },
  ]);
  unmarkGiven(mirror, target);
  return "again";
}

async function mergeLines(
  mirror: Mirror,
  target: string,
  { landed, user }: { readonly landed: string; readonly user: string },
): Promise<Tip | "again"> {
  const merge = await mergeTrees(mirror, { ours: landed, theirs: user });
  if (merge.type === "conflict") {
    const reason = `${target} and the landed line conflict in ${merge.files.slice(0, 5).join(", ")}`;
    return { type: "conflict", sha: landed, theirs: user, files: merge.files, reason };
  }
  const env = asAuthor(await readIdentity(mirror.repoPath));
  const args = ["commit-tree", merge.tree, "-p", landed, "-p", user, "-m", `Merge ${target} into the landed line`];
  const sha = await gitText(mirror.path, args, { env });
  const moved = await updateRefs(mirror.path, [
    { ref: landedRef(target), to: sha, from: landed },
    { ref: followedRef(target), to: user },
  ]);
  return moved ? { type: "tip", sha, merged: true } : "again";
}

/** Is the commit on the landed line? */
export async function isLanded(mirror: Mirror, target: string, commit: string): Promise<boolean> {
  const landed = resolveHead(mirror.path, landedRef(target));
  if (landed !== null && isKnownInside(commit, landed)) return true;
  const output = await git(mirror.path, ["merge-base", "--is-ancestor", commit, landedRef(target)], {
    okCodes: [1, 128],
  });
  return output.code === 0;
}
