import { mkdirSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { codeOf } from "../errors.js";
import { type Attempt, attemptOf, claimForNobody, claimTree, markStop, readExit, writeExit } from "./attempt.js";
import type { BirthMark } from "./births.js";
import { type Leaving, listCarriers, listProcesses, type ProcessRow } from "./table.js";

/**
 * Ending a program means its whole tree. Agents run their tools in sessions of their own, daemons fork twice, so four
 * ways of knowing a member are used together: parentage, the shim's session, the cookie, and where its output goes. A scan and a kill race
 * with forks; so they are repeated until a scan finds nobody. The grace is the whole tree's: behind a wrapper that ends
 * at once, the agent is what is left.
 */
export interface Stop {
  /** The signal on which the program ends cleanly. */
  readonly first: "SIGINT" | "SIGTERM";
  /** How long it may take for that before everything is killed. */
  readonly graceMs: number;
  /** Kept in the folder and told by followProgram, also after a restart. null: leaves no word. */
  readonly why: string | null;
}

/** Exit code of a program that was killed, as a shell counts it. */
const killedCode = 137;
const giveUpMs = 10_000;
const shimMs = 1000;
/** Longer than it takes to start a program on a busy machine. */
const becomingMs = 500;

/** How long those that were told to interrupt may take; background jobs of a shell never hear that signal. */
const interruptMs = 2000;

/** Stops of this process that are under way, by folder. */
const underWay = new Map<string, Promise<void>>();

export async function stopProgram(folder: string, stop: Stop): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const attempt = attemptOf(folder);
  const stopping = stopAttempt(attempt, stop);
  underWay.set(attempt.folder, stopping);
  try {
    await stopping;
  } finally {
    if (underWay.get(attempt.folder) === stopping) underWay.delete(attempt.folder);
  }
}

/** For a tree that somebody has claimed: waits for that, and ends it here where nobody is at it any more. */
export async function endClaimed(attempt: Attempt): Promise<void> {
  // Whoever stops it here tells of what went wrong; the tree is looked at once more.
  await underWay.get(attempt.folder)?.catch(() => undefined);
  await endMembers(attempt, nobody());
}

async function stopAttempt(attempt: Attempt, { first, graceMs, why }: Stop): Promise<void> {
  if (readExit(attempt) === null) {
    if (why !== null) markStop(attempt, why);
    if (claimForNobody(attempt)) return writeExit(attempt, killedCode);
  }
  const known = nobody();
  if (readExit(attempt) === null) {
    if (graceMs > 0) claimTree(attempt);
    for (const row of membersOf(attempt, known)) if (!row.isShim) signalProcess(row, first);
    await waitForTree(attempt, known, { first, graceMs });
  }
  await endMembers(attempt, known);
  writeExit(attempt, killedCode);
}

/** Ends what a program left behind; how many processes that were. `since`: from before it was started. */
export async function reapLeftovers(left: Leaving, since: BirthMark | null = null): Promise<number> {
  const seen = new Set<string>();
  const giveUpAt = Date.now() + giveUpMs;
  const sureAt = Date.now() + becomingMs;
  for (;;) {
    const { rows, isUnsure } = listCarriers(left, since);
    const isDone = rows.length === 0 && !(isUnsure && Date.now() < sureAt);
    if (isDone || Date.now() > giveUpAt) return seen.size;
    for (const row of rows) {
      seen.add(`${row.pid} ${row.start}`);
      signalProcess(row, "SIGKILL");
    }
    await delay(5);
  }
}

/** After a shim was lost: whatever of its tree can still be known. */
export async function endLost(attempt: Attempt): Promise<void> {
  await endMembers(attempt, nobody());
}

async function endMembers(attempt: Attempt, known: Known): Promise<void> {
  const startedAt = Date.now();
  for (;;) {
    const rows = membersOf(attempt, known);
    // The shim itself ends when its program has, and tells how: it is killed only when it does not.
    const spared = (row: ProcessRow) => row.isShim && row.pid === row.session && Date.now() < startedAt + shimMs;
    if (rows.length === 0 || Date.now() > startedAt + giveUpMs) return;
    for (const row of rows) if (!spared(row)) signalProcess(row, "SIGKILL");
    await delay(5);
  }
}

/** Everyone who was ever found to belong to the tree, so that a child whose parent dies meanwhile is not forgotten. */
interface Known {
  readonly starts: Map<number, string>;
  /** Led by a member; their numbers are not given out again while anybody is in them. */
  readonly sessions: Set<number>;
}

function nobody(): Known {
  return { starts: new Map(), sessions: new Set() };
}

function membersOf(attempt: Attempt, known: Known): ProcessRow[] {
  const rows = listProcesses(attempt).filter((row) => row.pid !== process.pid);
  for (const row of rows) if (row.isShim && row.session > 1) known.sessions.add(row.session);
  const members = new Set(rows.filter((row) => isMember(row, known)));
  // A set hands out what is added while it is walked, so this reaches grandchildren too.
  for (const member of members) {
    known.starts.set(member.pid, member.start);
    if (member.pid === member.session) known.sessions.add(member.session);
    for (const row of rows) if (row.parent === member.pid || known.sessions.has(row.session)) members.add(row);
  }
  return [...members];
}

function isMember(row: ProcessRow, { starts, sessions }: Known): boolean {
  return row.carries || row.isShim || sessions.has(row.session) || starts.get(row.pid) === row.start;
}

async function waitForTree(attempt: Attempt, known: Known, { first, graceMs }: Omit<Stop, "why">): Promise<void> {
  const until = Date.now() + graceMs;
  while (readExit(attempt) === null && Date.now() < until) await delay(Math.min(10, until - Date.now()));
  const insistAt = first === "SIGINT" ? Math.min(until, Date.now() + interruptMs) : until;
  const rest = await waitForRest(attempt, known, insistAt);
  for (const row of rest) signalProcess(row, "SIGTERM");
  if (rest.length > 0) await waitForRest(attempt, known, until);
}

/** Who is still there when the time is over. */
async function waitForRest(attempt: Attempt, known: Known, until: number): Promise<ProcessRow[]> {
  for (let waitMs = 5; ; waitMs = Math.min(2 * waitMs, 100)) {
    const rest = restOf(attempt, known);
    const left = until - Date.now();
    if (rest.length === 0 || left <= 0) return rest;
    await delay(Math.min(waitMs, left));
  }
}

/** All but the shim, its watcher and what that one sleeps with. */
function restOf(attempt: Attempt, known: Known): ProcessRow[] {
  const members = membersOf(attempt, known);
  const shims = new Set(members.filter(({ isShim }) => isShim).map(({ pid }) => pid));
  return members.filter((row) => !row.isShim && (row.carries || !shims.has(row.parent)));
}

function signalProcess(row: ProcessRow, signal: NodeJS.Signals): void {
  try {
    process.kill(row.pid, signal);
  } catch (error) {
    // Gone already, or not ours to end.
    if (codeOf(error) !== "ESRCH" && codeOf(error) !== "EPERM") throw error;
  }
}
