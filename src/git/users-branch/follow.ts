import { join } from "node:path";
import { ExternalError } from "../../lib/errors.js";
import { exists } from "../../lib/files.js";
import { GitError, type GitOutput, gitScript, gitText, runScript, whileLocked } from "../git.js";
import {
  followedRef,
  givenFile,
  landedRef,
  markGiven,
  readEnds,
  readFollowed,
  tipOf,
  wasRewound,
} from "../landing/tip.js";
import { fetchIntoUser, isAncestor, type Mirror, readRefs, updateRefs } from "../mirror/mirror-refs.js";
import { commonDirOf } from "../repository.js";
import { readOr, removeIfThere, textOf, writeIfChanged } from "../small-files.js";
import {
  begunFile,
  ends,
  forgetBegun,
  forgetRefused,
  mergeAlone,
  movedInstead,
  takeBackBegun,
  takeBackFailed,
} from "./begun-merge.js";
import {
  behind,
  branchGone,
  checkedOutTwice,
  checkoutGone,
  diverged,
  goneThere,
  type Seat,
  seatOf,
} from "./behind-words.js";
import { goneFiles } from "./gone-files.js";
import { writeHook } from "./index-lock.js";
import { mergeAnywhere, usualMerge } from "./merge-scripts.js";
import { moveUnseen } from "./move-unseen.js";
import { placesOf } from "./places.js";
import { refusal } from "./refusal.js";

/**
 * The only writes to the user's repository: a copy of the landed line, and a fast-forward of the target where git
 * itself finds it safe. Whatever a person has uncommitted, staged, merging or rebasing makes git refuse, and a refusal
 * is said, not forced.
 */
export interface Followed {
  /** null: the user's branch has the landed work. Else why not, and what to do. */
  readonly behind: string | null;
}

/** It is tried again at each landing and at each start of a run, so a person's lock is not waited for as long as ours. */
const lockWaitMs = 10_000;
export async function followTarget(
  mirror: Mirror,
  { target, commit }: { readonly target: string; readonly commit: string },
): Promise<Followed> {
  const code = await followAsUsual(mirror, target, commit);
  if (code === 0) return { behind: null };
  return await mergeAlone(mirror, target, async () => {
    const begun = begunFile(mirror, target);
    await (code === ends.strayed ? takeBackBegun : takeBackFailed)(begun, mirror.repoPath);
    const instead = code === ends.untold ? await tellInstead(mirror, target) : null;
    const refused = instead ?? (await bringOver(mirror, target)) ?? (await moveBranch(mirror, target, commit));
    await noteBehind(mirror, target, refused);
    return { behind: refused };
  });
}

/** 0: it has followed. */
async function followAsUsual(mirror: Mirror, target: string, commit: string): Promise<number> {
  if (!(await exists(mirror.repoPath))) return ends.notBegun;
  const refs = [landedRef(target), branchRef(target), followedRef(target)];
  const begun = begunFile(mirror, target);
  const files = [givenFile(mirror, target), noteFile(mirror.path, target), begun, mirror.repoPath];
  const output = await runScript(usualMerge, [mirror.path, ...refs, commit, ...files], { cwd: mirror.repoPath });
  if (output.code === 0) forgetBegun(begun);
  else forgetRefused(begun, output);
  return output.code;
}

/**
 * Follows again where an earlier try left the user's branch behind. A branch that was put back is not overruled: `waits`
 * says so.
 */
export async function catchUpTarget(mirror: Mirror, target: string): Promise<Followed & { readonly waits?: string }> {
  const { landed, user } = await readEnds(mirror, target);
  if (landed === null || landed === user) return { behind: null };
  if (user !== null && (await isAncestor(mirror.path, landed, user))) return { behind: null };
  const tip = await tipOf(mirror, target);
  if (tip.type === "rewound" || tip.type === "missing") return { behind: null, waits: tip.reason };
  if (tip.sha === user) return { behind: null };
  return await followTarget(mirror, { target, commit: tip.sha });
}

/** Until the line is in the user's repository there is nothing that they could merge. */
async function bringOver(mirror: Mirror, target: string): Promise<string | null> {
  try {
    await fetchIntoUser(mirror, [`+${landedRef(target)}:${landedRef(target)}`], lockWaitMs);
    return null;
  } catch (error) {
    if (!(error instanceof ExternalError)) throw error;
    const why = error.message.replace(/[.,]$/, "");
    return `${target} is behind: the landed commit could not be brought over (${why}), the next \`ratchet run\` tries again`;
  }
}

async function moveBranch(mirror: Mirror, target: string, commit: string): Promise<string | null> {
  const begun = begunFile(mirror, target);
  try {
    await markGiven(mirror, target);
    writeHook(mirror.path);
    // Whoever holds the lock may be on another branch afterwards: each try looks again at what is checked out where.
    const refused = await whileLocked({ waitMs: lockWaitMs }, async () => {
      // Ours before theirs: it is written after the user's branch moved.
      const followed = await readFollowed(mirror, target);
      await takeBackBegun(begun, mirror.repoPath);
      return await fastForward(mirror, { target, commit, followed });
    });
    if (refused === null) await updateRefs(mirror.path, [{ ref: followedRef(target), to: commit }]);
    forgetBegun(begun);
    return refused;
  } catch (error) {
    // Also a folder that was removed at the same moment, which git cannot be started in.
    if (!(error instanceof ExternalError)) throw error;
    await takeBackFailed(begun, mirror.repoPath);
    return behind(target, error.message, await lastSeat(mirror.repoPath, target));
  }
}

/** What has kept the branch from moving may keep git from being asked: then it is told as if it were checked out. */
async function lastSeat(repo: string, target: string): Promise<Seat> {
  try {
    return await seatOf(repo, target);
  } catch (error) {
    if (!(error instanceof ExternalError)) throw error;
    return { repo, checkout: repo };
  }
}

/** What was said last, with the commits that it was said of: whoever looks later tells the reason too. */
async function noteBehind({ path, repoPath }: Mirror, target: string, said: string | null): Promise<void> {
  const file = noteFile(path, target);
  try {
    if (said === null) return removeIfThere(file);
    const [ours, theirs] = await Promise.all([
      readRefs(path, [landedRef(target)]),
      readRefs(repoPath, [branchRef(target)]),
    ]);
    const [landed, user] = [ours.get(landedRef(target)), theirs.get(branchRef(target))];
    const { checkout } = await lastSeat(repoPath, target);
    await writeIfChanged(file, `${JSON.stringify({ landed: landed ?? null, user: user ?? null, checkout, said })}\n`);
  } catch {
    // On the full disk that may be the reason itself: the note is a convenience, the landing has happened.
    return;
  }
}

/** Why the branch did not follow, if neither it nor the landed line has moved since, and what is told to be run still fits. */
export async function readBehindNote(
  mirrorPath: string,
  target: string,
  at: { readonly landed: string; readonly user: string | null; readonly checkout: string | null },
): Promise<string | null> {
  const text = readOr(noteFile(mirrorPath, target));
  if (text === "") return null;
  const note: unknown = JSON.parse(text);
  if (typeof note !== "object" || note === null || !("landed" in note && "user" in note && "said" in note)) return null;
  if ("checkout" in note && note.checkout !== at.checkout) return null;
  return note.landed === at.landed && note.user === at.user && typeof note.said === "string" ? note.said : null;
}

function noteFile(mirrorPath: string, target: string): string {
  return join(mirrorPath, "ratchet", "behind", encodeURIComponent(target));
}

function branchRef(target: string): string {
  return `refs/heads/${target}`;
}

/** A branch may be another name of one: that is checked out, and moves. */
async function namedBy(repo: string, branch: string): Promise<string> {
  if (!textOf(join(await commonDirOf(repo), branch))?.startsWith("ref:")) return branch;
  return await gitText(repo, ["symbolic-ref", branch]);
}

/** To the end of the landed line, or to `commit` where another process has put an older end in its place since. */
async function fastForward(
  mirror: Mirror,
  { target, commit, followed }: { readonly target: string; readonly commit: string; readonly followed: string | null },
): Promise<string | null> {
  const repo = mirror.repoPath;
  const branch = await namedBy(repo, branchRef(target));
  const [refs, places] = await Promise.all([readRefs(repo, [branch, landedRef(target)]), placesOf(repo, branch)]);
  const [copy, user] = [refs.get(landedRef(target)), refs.get(branch)];
  if (copy === undefined) throw new GitError(`${landedRef(target)} is not in ${repo}`, { code: 1, stderr: "" });
  const landed = copy === commit || (await isAncestor(repo, commit, copy)) ? copy : commit;
  if (user === undefined) return branchGone(target);
  if (followed !== null && followed !== user && !(await isAncestor(repo, followed, user))) return wasRewound(target);
  const seat = { repo, checkout: places.checkout };
  if (!branch.startsWith(branchRef(""))) return behind(target, `it is a symbolic ref to ${branch}`, seat);
  // It is checked out again once that has come to its end.
  if (places.busy !== null)
    return behind(target, `${places.busy}, once that has ended`, { repo, checkout: places.checkout ?? repo });
  if (places.checkout !== null && places.isGone) return checkoutGone(target, places.checkout);
  if (places.several.length > 0) return checkedOutTwice(target, places.several);
  // Before anything is locked.
  if (await isAncestor(repo, landed, user)) return null;
  if (!(await isAncestor(repo, user, landed))) return diverged(target, seat);
  if (places.checkout !== null) {
    const refused = await mergeIn(mirror, target, { checkout: places.checkout, branch, commit: landed });
    if (refused !== null || (await hasFollowed(repo, branch, landed))) return refused;
    // It was there, and they have put it back before anybody looked.
    if ((await readFollowed(mirror, target)) === landed) return wasRewound(target);
    return (await tellInstead(mirror, target)) ?? behind(target, "it was put elsewhere at the same moment", seat);
  }
  if (await moveUnseen(mirror, target, { branch, from: user, to: landed })) return null;
  return behind(target, "it moved at the same moment", seat);
}

async function tellInstead(mirror: Mirror, target: string): Promise<string | null> {
  const moved = await movedInstead(mirror, target);
  if (moved === null) return null;
  const { branch, from } = moved;
  const what = `${branch} was checked out at the same moment and was brought forward in its place`;
  const how = `run \`git reset --keep ${from.slice(0, 12)}\` on ${branch} to put that back`;
  return `${target} is behind: ${what}, ${how}; ${target} is brought forward at the next landing or end of a run`;
}

async function hasFollowed(repo: string, branch: string, landed: string): Promise<boolean> {
  const now = (await readRefs(repo, [branch])).get(branch);
  return now !== undefined && (now === landed || (await isAncestor(repo, landed, now)));
}

async function mergeIn(
  mirror: Mirror,
  target: string,
  { checkout, branch, commit }: { readonly checkout: string; readonly branch: string; readonly commit: string },
): Promise<string | null> {
  const gone = await goneFiles(checkout, commit);
  if (gone.length > 0) return goneThere(target, gone);
  const begun = begunFile(mirror, target);
  const { code, stderr } = await mergeNoted(checkout, [begun, commit, checkout, branch, mirror.path]);
  if (code === 0) return null;
  try {
    await takeBackBegun(begun, mirror.repoPath);
  } catch (error) {
    // Kept from it by what has kept the merge from going on, which is told: the note stays for the next try.
    if (!(error instanceof ExternalError) || error.retryable) throw error;
  }
  if (code === ends.strayed)
    throw new GitError("another branch was checked out at the same moment", { code, stderr }, { retryable: true });
  const seat = { repo: mirror.repoPath, checkout };
  return /Not possible to fast-forward|refusing to merge unrelated|is at [0-9a-f]+ but expected/.test(stderr)
    ? diverged(target, seat)
    : behind(target, refusal(stderr), seat);
}

async function mergeNoted(checkout: string, args: readonly [string, ...string[]]): Promise<GitOutput> {
  const okCodes = [1, 2, ends.notBegun, ends.late, ends.strayed, 128];
  try {
    const output = await gitScript(checkout, mergeAnywhere, { args, okCodes, lockWaitMs: 0 });
    forgetRefused(args[0], output);
    if (output.code !== ends.notBegun && output.code !== ends.late) return output;
    throw new GitError(
      "another ratchet brings it forward, another branch was checked out, or it cannot be noted",
      output,
      { retryable: true },
    );
  } catch (error) {
    if (error instanceof GitError) forgetRefused(args[0], error);
    throw error;
  }
}
