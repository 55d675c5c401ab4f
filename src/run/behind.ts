import { join } from "node:path";
import { resolveHead } from "../git/head.js";
import { followedRef, landedRef, landedRefs, wasRewound } from "../git/landing/tip.js";
import { hasCommit, isAncestor, readRef, readRefs } from "../git/mirror/mirror-refs.js";
import { movedUntold } from "../git/users-branch/begun-merge.js";
import { behind, branchGone, diverged, seatOf } from "../git/users-branch/behind-words.js";
import { readBehindNote } from "../git/users-branch/follow.js";
import { exists } from "../lib/files.js";

/** Where to look: the user's repository and, where there is one, its mirror, whose landed line is the true one. */
interface Places {
  readonly repoPath: string;
  readonly mirrorPath: string | null;
}
interface Standing {
  readonly target: string;
  /** The landed line, and the user's copy of it. */
  readonly landed: string;
  readonly copy: string | null;
  readonly user: string | null;
}

/**
 * The branches of the user's repository that do not have what has landed for them, why, and what to run. `likely` are
 * the targets of runs: where their refs are equal files, git is not even started. Nothing is written, not even to the
 * mirror.
 */
export async function branchesBehind(
  repoPath: string,
  likely: readonly string[],
  mirrorPath: string | null = null,
): Promise<string[]> {
  const hasMirror = mirrorPath !== null && (await exists(join(mirrorPath, "HEAD")));
  const places = { repoPath, mirrorPath: hasMirror ? mirrorPath : null };
  const equal = await Promise.all(likely.map((target) => isEqual(places, target)));
  if (likely.length > 0 && equal.every(Boolean)) return [];
  const copies = await readRefs(repoPath, [landedRefs]);
  const lines = hasMirror ? await readRefs(mirrorPath, [landedRefs]) : copies;
  const said = [...new Map([...copies, ...lines])].map(async ([ref, landed]) => {
    const target = ref.slice(landedRefs.length + 1);
    const branch = `refs/heads/${target}`;
    const user = (await readRefs(repoPath, [branch])).get(branch) ?? null;
    // A branch that no run lands on lately may well be done with.
    if (user === null && !likely.includes(target)) return null;
    return await tellStanding(places, { target, landed, copy: copies.get(ref) ?? null, user });
  });
  return (await Promise.all(said)).filter((line) => line !== null);
}

async function isEqual({ repoPath, mirrorPath }: Places, target: string): Promise<boolean> {
  const gitDir = join(repoPath, ".git");
  const [line, copy, branch] = await Promise.all([
    mirrorPath === null ? null : resolveHead(mirrorPath, landedRef(target)),
    resolveHead(gitDir, landedRef(target)),
    resolveHead(gitDir, `refs/heads/${target}`),
  ]);
  const landed = line ?? copy;
  return branch !== null && (landed === null || landed === branch);
}

async function tellStanding(places: Places, standing: Standing): Promise<string | null> {
  const { repoPath, mirrorPath } = places;
  const { target, landed, copy, user } = standing;
  if (user === landed) return null;
  const isHere = copy === landed || (await hasCommit(repoPath, landed));
  if (user !== null && isHere && (await isAncestor(repoPath, landed, user))) return null;
  if (await isPutBack(places, target, user)) return copy === null ? null : wasRewound(target);
  const seat = await seatOf(repoPath, target);
  const at = { landed, user, checkout: seat.checkout };
  const note = mirrorPath === null ? null : await readBehindNote(mirrorPath, target, at);
  // What was in the way then may be gone by now, and only a landing tries.
  if (note !== null) return `${note} (as it was at the last try)`;
  if (copy !== landed)
    return `${target} is behind: the landed commit was not brought over yet, the next \`ratchet run\` tries again`;
  if (user === null) return branchGone(target);
  return (await isAncestor(repoPath, user, landed)) ? behind(target, null, seat) : diverged(target, seat);
}

/** Before landed work. Where their copy of the line is deleted as well, they have let it go. */
async function isPutBack({ repoPath, mirrorPath }: Places, target: string, user: string | null): Promise<boolean> {
  if (mirrorPath === null || user === null) return false;
  const mirror = { path: mirrorPath, repoPath };
  const followed = (await movedUntold(mirror, target)) ?? (await readRef(mirrorPath, followedRef(target)));
  if (followed === null) return false;
  return !((await hasCommit(repoPath, followed)) && (await isAncestor(repoPath, followed, user)));
}
