import { join } from "node:path";
import { followedRef, landedRefs, wasRewound } from "../git/landing/tip.js";
import { hasCommit, isAncestor, readRef, readRefs } from "../git/mirror/mirror-refs.js";
import { movedUntold } from "../git/users-branch/begun-merge.js";
import { behind, branchGone, diverged, seatOf } from "../git/users-branch/behind-words.js";
import { readBehindNote } from "../git/users-branch/follow.js";
import { ExternalError } from "../lib/errors.js";
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
 * The branches of the user's repository that do not have what has landed for them, why, and what to run. Every one with a
 * landed line is asked; where the files of its refs say that they are equal, git is not even started. Nothing is written,
 * not even to the mirror. `recent` gives the targets of the newest runs. A repository that cannot be read is said to be
 * so, one that is gone has no branches.
 */
export async function branchesBehind(places: Places, recent: () => Promise<readonly string[]>): Promise<string[]> {
  if (!(await exists(places.repoPath))) return [];
  try {
    return await tellBehind(places, recent);
  } catch (error) {
    if (!(error instanceof ExternalError)) throw error;
    return [`the branches cannot be compared with what has landed: ${error.message}`];
  }
}

async function tellBehind(
  { repoPath, mirrorPath }: Places,
  recent: () => Promise<readonly string[]>,
): Promise<string[]> {
  const hasMirror = mirrorPath !== null && (await exists(join(mirrorPath, "HEAD")));
  const places = { repoPath, mirrorPath: hasMirror ? mirrorPath : null };
  const copies = await readRefs(repoPath, [landedRefs]);
  const lines = hasMirror ? await readRefs(mirrorPath, [landedRefs]) : copies;
  const standings = await Promise.all(
    [...new Map([...copies, ...lines])].map(async ([ref, landed]) => {
      const target = ref.slice(landedRefs.length + 1);
      const user = await readRef(repoPath, `refs/heads/${target}`);
      return { target, landed, copy: copies.get(ref) ?? null, user };
    }),
  );
  // A branch that is gone and that no run lands on lately may well be done with.
  const lately = standings.every(({ user }) => user !== null) ? [] : await recent();
  const asked = standings.filter(({ target, user }) => user !== null || lately.includes(target));
  const said = await Promise.all(asked.map((standing) => tellStanding(places, standing)));
  return said.filter((line) => line !== null);
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
