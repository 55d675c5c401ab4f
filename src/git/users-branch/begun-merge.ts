import { appendFileSync, existsSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { asDiskFull } from "../../lib/disk-full.js";
import { ExternalError } from "../../lib/errors.js";
import { exists } from "../../lib/files.js";
import { withLock } from "../../lib/lock.js";
import { isGone } from "../../lib/process-identity.js";
import { type GitOutput, git } from "../git.js";
import { hasCommit, isAncestor, type Mirror, readRef } from "../mirror/mirror-refs.js";
import { commonDirOf } from "../repository.js";
import { putText, readOr } from "../small-files.js";
import { bringBackDeleted, stageCutOff } from "./cut-off.js";
import { dropLocks, indexFolders } from "./index-lock.js";
import { changesOf } from "./merge-changes.js";
import { isRefused } from "./refusal.js";
import { takeBack } from "./take-back.js";

/**
 * A fast-forward writes files and index first and moves the branch then. A person who commits in between has the branch:
 * what was written would be staged in their checkout, and in their next commit. So what is begun is noted beforehand, and
 * taken back where the branch was not to be had, by whoever comes next where that one was killed. The note stays until it
 * is told in the mirror where the branch is: who is killed before that has moved it all the same.
 */
export function begunFile(mirror: Mirror, target: string): string {
  return join(mirror.path, "ratchet", "begun", encodeURIComponent(target));
}

/** For those who may have to take something back: of two, the second would take back what the first begins next. */
export async function mergeAlone<T>(mirror: Mirror, target: string, task: () => Promise<T>): Promise<T> {
  return await withLock(`${begunFile(mirror, target)}.lock`, task);
}

/** How a script ends that brings a checkout forward, besides with git's own codes. */
export const ends = {
  /** It has not come to its merge. */
  notBegun: 3,
  /** git has merged, and the mirror does not have it: what is noted of the merge stays. */
  untold: 4,
  /** Nothing was done: once the index was locked it was no longer as it was to be. */
  late: 5,
  /** The branch was moved, and the checkout is on another one. */
  strayed: 6,
} as const;

/** For `sh`: says of the merge of `$commit` into `$from` that this very shell begins it in `$checkout`. */
export const tellBegun = `printf '%s\\n%s\\n%s\\n%s\\n' "$commit" "$$" "$checkout" "$from"`;

/** Notes that the branch was moved to `commit` where it is checked out nowhere: there is nothing to take back. */
export function noteMove(file: string, commit: string): void {
  putText(file, `${commit}\n`);
}

/** The same before it is known to stay there. What is noted is returned. */
export function noteTry(file: string, { from, to }: { readonly from: string; readonly to: string }): string {
  const text = `\n\n\n${from}\n${to}\n`;
  putText(file, text);
  return text;
}

/**
 * A merge that git refuses has nothing to take back. One that was refused the branch has written all of it; one that could
 * not go on, because the disk is full or a filter fails, some of it. No lock is either's own.
 */
export function forgetRefused(file: string, { code, stderr }: Pick<GitOutput, "code" | "stderr">): void {
  if (![1, 2, 128, ends.late].includes(code) || isRunning(readNote(file))) return;
  if (/update_ref failed/.test(stderr)) addToNote(file, ended);
  else if (code === ends.late || isRefused(stderr)) rmSync(file, { force: true });
  else addToNote(file, `${failed} ${statSync(file, { throwIfNoEntry: false })?.mtimeMs} ${Date.now()}`);
}

function addToNote(file: string, line: string): void {
  try {
    if (existsSync(file)) appendFileSync(file, `${line}\n`);
  } catch (error) {
    // As it is, it tells of a merge that was killed, which is taken back too.
    if (asDiskFull(error) === null) throw error;
  }
}

/**
 * It has come to its end, and that is told. What somebody else has begun since, and what is still to be taken back, stays
 * noted; `moved`: it was this one.
 */
export function forgetBegun(file: string, moved?: string): void {
  const note = readNote(file);
  if (note.commit === moved || !(isRunning(note) || note.failed !== null)) rmSync(file, { force: true });
}

/** Where it was moved, and nobody has lived to tell: what they had locked is nobody's. */
export async function forgetUntold(mirror: Mirror, target: string, moved: string): Promise<void> {
  const file = begunFile(mirror, target);
  await dropLeftLocks(file, mirror.repoPath);
  forgetBegun(file, moved);
}

/** Of two who find them, the second must not remove what somebody has locked since. */
async function dropLeftLocks(file: string, repo: string): Promise<void> {
  await withLock(`${file}.left.lock`, async () => {
    const note = readNote(file);
    if (isRunning(note)) return;
    // Words that were added since are none of the lock's.
    const text = note.commit === "" ? note.text : `${note.text.split("\n").slice(0, 4).join("\n")}\n`;
    dropLocks(indexFolders(await commonDirOf(repo)), text);
  });
}

/** Where a merge has brought the user's branch that did not live to tell; they may have put it elsewhere since. */
export async function movedUntold(mirror: Mirror, target: string): Promise<string | null> {
  const { commit } = readNote(begunFile(mirror, target));
  return commit !== "" && (await wasAt(mirror.repoPath, `refs/heads/${target}`, commit)) ? commit : null;
}

async function wasAt(repo: string, branch: string, commit: string): Promise<boolean> {
  const now = await readRef(repo, branch);
  if (now === null || now === commit) return now !== null;
  if ((await hasCommit(repo, commit)) && (await isAncestor(repo, commit, now))) return true;
  // git writes there first: a newest that is not where the branch is has not come to moving it.
  const [, ...earlier] = await readLog(repo, branch);
  return earlier.includes(commit);
}

/** Where the branch has been, the newest first. */
async function readLog(repo: string, branch: string): Promise<readonly string[]> {
  const log = await git(repo, ["log", "--walk-reflogs", "--format=%H", branch, "--"], { okCodes: [128] });
  return log.stdout.toString().split("\n").filter(Boolean);
}

export interface MovedInstead {
  readonly branch: string;
  /** Where it was before. */
  readonly from: string;
}

/**
 * Of a merge that has come to its end, and the branch is not there: git moves what is checked out, and a person may have
 * checked out another one after the last look and before git's own. Null: it is not known to be so.
 */
export async function movedInstead(mirror: Mirror, target: string): Promise<MovedInstead | null> {
  const file = begunFile(mirror, target);
  const { commit, checkout } = readNote(file);
  if (checkout === "" || !(await exists(checkout))) return null;
  const output = await git(checkout, ["symbolic-ref", "-q", "HEAD"], { okCodes: [1, 128] });
  const ref = output.stdout.toString().trim();
  if (!ref.startsWith("refs/heads/") || ref === `refs/heads/${target}`) return null;
  const [now, from] = await readLog(checkout, ref);
  if (now !== commit || from === undefined) return null;
  forgetBegun(file, commit);
  return { branch: ref.slice("refs/heads/".length), from };
}

const ended = "ended";
const failed = "failed";

interface Note {
  readonly text: string;
  readonly commit: string;
  readonly pid: number;
  readonly checkout: string;
  /** What was checked out there. */
  readonly from: string;
  /** All of it was written. */
  readonly isEnded: boolean;
  /** Some of it was, between these times. */
  readonly failed: { readonly since: number; readonly until: number } | null;
}

function readNote(file: string): Note {
  const text = readOr(file);
  const [commit = "", pid = "", checkout = "", from = "", end = ""] = text.split("\n");
  const [word, since, until] = end.split(" ");
  const isFailed = word === failed && Number.isFinite(Number(since)) && Number.isFinite(Number(until));
  const times = isFailed ? { since: Number(since), until: Number(until) } : null;
  return { text, commit, pid: Number(pid), checkout, from, isEnded: end === ended, failed: times };
}

const patienceMs = 10_000;
const pauseMs = 20;

/**
 * Before anything else is tried where git could not go on: what is taken back makes room on a full disk. What keeps it from
 * that is told by whoever tries next.
 */
export async function takeBackFailed(file: string, repo: string): Promise<void> {
  const { failed: times, isEnded } = readNote(file);
  if (times === null && !isEnded) return;
  try {
    await takeBackBegun(file, repo);
  } catch (error) {
    if (!(error instanceof ExternalError)) throw error;
  }
}

/** The checkout as if the merge that was begun there had not been; where it has come to its end it is left. */
export async function takeBackBegun(file: string, repo: string): Promise<void> {
  let note = readNote(file);
  if (note.text === "") return;
  // Somebody else's, or that of a Ratchet that was killed: git outlives it, and may be about to move the branch.
  for (let waitedMs = 0; isRunning(note) && waitedMs < patienceMs; waitedMs += pauseMs) {
    await delay(pauseMs);
    note = readNote(file);
  }
  await dropLeftLocks(file, repo);
  const { text, commit, checkout, from, isEnded, failed: times } = note;
  // What was let go since may be gone from there.
  const isThere = from !== "" && (await exists(checkout)) && (await hasCommit(checkout, commit));
  if (isThere && !(await isAncestor(checkout, commit, "HEAD"))) {
    const changes = await changesOf(checkout, from, commit);
    const window = times ?? { since: statSync(file).mtimeMs, until: null };
    const begun = { checkout, changes, ...window, index: `${file}.index` };
    const theirs = isEnded ? new Set<string>() : await stageCutOff(begun);
    await takeBack(begun, theirs);
    if (!isEnded) await bringBackDeleted(begun);
  }
  if (readOr(file) === text) rmSync(file, { force: true });
}

function isRunning({ pid }: Note): boolean {
  return pid > 0 && !isGone(pid);
}
