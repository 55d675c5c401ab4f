import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { codeOf } from "./errors.js";
import { isAlive, isGone, type ProcessIdentity, selfIdentity } from "./process-identity.js";

export interface LockOptions {
  readonly signal?: AbortSignal;
  /** Called once where somebody else has it. */
  readonly onWait?: () => Promise<void>;
  /** What the lock is for may outlive its owner: a word on it, and whether that of a dead owner still goes on. */
  readonly outlives?: { readonly word: string; readonly isGoingOn: (word: string) => boolean };
}

/**
 * A lock between processes on this machine, with an owner: it is free when its owner is gone, and never by time. The
 * file appears whole (written aside, then linked), so whoever finds it can read who has it.
 */
export async function withLock<T>(
  path: string,
  task: () => Promise<T>,
  { signal, onWait, outlives }: LockOptions = {},
): Promise<T> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  for (let waitMs = 1; !take(path, outlives); waitMs = Math.min(waitMs * 2, 100)) {
    if (waitMs === 1) await onWait?.();
    await delay(waitMs, undefined, signal ? { signal } : {});
  }
  try {
    sweep(path);
    return await task();
  } finally {
    unlinkSync(path);
  }
}

export type LockHolder =
  | { readonly type: "alive"; readonly owner: ProcessIdentity }
  /** Its owner is gone; what it is for goes on, by this word. */
  | { readonly type: "outlived"; readonly word: string };

/** Who has the lock; null: nobody who lives, and nothing of theirs goes on. */
export function lockHolder(path: string, isGoingOn = (_word: string): boolean => false): LockHolder | null {
  const owner = readOwner(path);
  if (owner === null) return null;
  if (isAlive(owner)) return { type: "alive", owner };
  return owner.word !== undefined && isGoingOn(owner.word) ? { type: "outlived", word: owner.word } : null;
}

/** What somebody wrote aside who was killed before it was linked or removed. */
function sweep(path: string): void {
  const own = `${basename(path)}.`;
  for (const name of readdirSync(dirname(path))) {
    const pid = name.startsWith(own) ? /^(?:breaking\.)?(\d+)\.\d+$/.exec(name.slice(own.length))?.[1] : undefined;
    if (pid !== undefined && isGone(Number(pid))) rmSync(join(dirname(path), name), { force: true });
  }
}

function take(path: string, outlives: LockOptions["outlives"]): boolean {
  if (claim(path, outlives?.word)) return true;
  if (isOrphaned(path, outlives)) breakLock(path, outlives);
  return false;
}

/** Whoever breaks a lock holds a lock for that, or it could remove the one that the next owner has just taken. */
function breakLock(path: string, outlives: LockOptions["outlives"]): void {
  const breaking = `${path}.breaking`;
  if (claim(breaking)) {
    if (isOrphaned(path, outlives)) rmSync(path, { force: true });
    rmSync(breaking, { force: true });
  } else if (isOrphaned(breaking)) {
    rmSync(breaking, { force: true });
  }
}

let claims = 0;

/** Tasks of one process exclude each other too: the file is there or it is not, whoever made it. */
function claim(path: string, word?: string): boolean {
  const own = `${path}.${process.pid}.${claims++}`;
  const owner: Owner = { ...selfIdentity(), ...(word === undefined ? {} : { word }) };
  writeFileSync(own, JSON.stringify(owner), { mode: 0o600 });
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

function isOrphaned(path: string, outlives?: LockOptions["outlives"]): boolean {
  const owner = readOwner(path);
  if (owner === null || isAlive(owner)) return false;
  return owner.word === undefined || !outlives?.isGoingOn(owner.word);
}

type Owner = ProcessIdentity & { readonly word?: string };

function readOwner(path: string): Owner | null {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Owner;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    // It is whole for as long as its owner lives: a power cut has left it so.
    if (error instanceof SyntaxError) return { pid: 0, start: "", boot: "" };
    throw error;
  }
}
