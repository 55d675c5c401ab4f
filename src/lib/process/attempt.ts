import { randomUUID } from "node:crypto";
import { linkSync, readFileSync, realpathSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { codeOf } from "../errors.js";
import { isMissing } from "../files.js";
import { keepNewest } from "../keep-newest.js";
import { pathHash } from "../path-hash.js";

/**
 * The files by which shim, orchestrator and their successors agree about one program: `pid` (who has the folder, made
 * once), `lease` (somebody still cares), `orphaned` (nobody did any more), `stop` (somebody asked for the end), `stopping` (who
 * gives its tree the time to end), `exit` (how it ended, made once).
 */
export interface Attempt {
  readonly folder: string;
  /** In the environment of everything the program starts. Made from the folder's path: every restart finds the same. */
  readonly cookie: string;
}

const known = new Map<string, Attempt>();

/** A folder that is there stays the same one: its path is followed once. */
export function attemptOf(folder: string): Attempt {
  const before = known.get(folder);
  if (before !== undefined) return before;
  const path = realPath(folder);
  const attempt = { folder: path ?? resolve(folder), cookie: pathHash(path ?? resolve(folder)).slice(0, 32) };
  if (path !== null) known.set(folder, attempt);
  keepNewest(known, 256);
  return attempt;
}

function realPath(folder: string): string | null {
  try {
    return realpathSync.native(folder);
  } catch (error) {
    if (isNothing(error)) return null;
    throw error;
  }
}

/** Somebody has taken the folder, or it was taken so that nobody can. */
export function isClaimed(attempt: Attempt): boolean {
  return !isMissing(join(attempt.folder, "pid"));
}

/** null: nobody has claimed the folder. 0: claimed, but the number is not (or never was) written. */
export function readPid(attempt: Attempt): number | null {
  const text = readUsual(join(attempt.folder, "pid"));
  return text === null ? null : Number.parseInt(text, 10) || 0;
}

/** How the program ended; null: not yet. The shim makes the file before it writes into it: without a line it is no answer. */
export function readExit(attempt: Attempt): number | null {
  const text = readUsual(join(attempt.folder, "exit"));
  return text !== null && /^\d+\n$/.test(text) ? Number.parseInt(text, 10) : null;
}

/** For when no shim is left that could: replaces an empty file, never an answer. */
export function writeExit(attempt: Attempt, code: number): void {
  if (readExit(attempt) !== null) return;
  const temporary = join(attempt.folder, `exit.${randomUUID()}`);
  writeFileSync(temporary, `${code}\n`);
  renameSync(temporary, join(attempt.folder, "exit"));
}

/** Takes the folder so that no shim can any more; false when one has it. */
export function claimForNobody(attempt: Attempt): boolean {
  const temporary = join(attempt.folder, `pid.${randomUUID()}`);
  writeFileSync(temporary, "0\n");
  try {
    linkSync(temporary, join(attempt.folder, "pid"));
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

export function touchLease(attempt: Attempt): void {
  const path = join(attempt.folder, "lease");
  const now = new Date();
  if (isMissing(path)) writeFileSync(path, "");
  else utimesSync(path, now, now);
}

/** Why the program was ended from outside; the first word stays, so that a successor tells the same story. */
export function markStop(attempt: Attempt, why: string): void {
  if (readStopMark(attempt) === null) writeFileSync(join(attempt.folder, "stop"), why);
}

/** null: nobody ended it. */
export function readStopMark(attempt: Attempt): string | null {
  return readRare(join(attempt.folder, "stop"));
}

/** From now on the shim leaves to this process what its program leaves behind. */
export function claimTree(attempt: Attempt): void {
  writeFileSync(join(attempt.folder, "stopping"), `${process.pid}\n`);
}

/** Somebody has claimed the tree; whether they still live is another question. */
export function isTreeClaimed(attempt: Attempt): boolean {
  return !isMissing(join(attempt.folder, "stopping"));
}

/** The shim ended the program because nobody followed it: whatever its exit says, it was not done. */
export function isOrphaned(attempt: Attempt): boolean {
  return !isMissing(join(attempt.folder, "orphaned"));
}

/** For what is seldom there: an exception costs many times the question. */
function readRare(path: string): string | null {
  return isMissing(path) ? null : readUsual(path);
}

function readUsual(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isNothing(error)) return null;
    throw error;
  }
}

function isNothing(error: unknown): boolean {
  return codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR";
}
