import { mkdirSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { codeOf } from "../errors.js";
import { type Attempt, attemptOf, claimForNobody, markStop, readExit, writeExit } from "./attempt.js";
import { listCarriers, listProcesses, type ProcessRow } from "./table.js";

/**
 * Ending a program means its whole tree. Agents run their tools in sessions of their own, daemons fork twice, so three
 * ways of knowing a member are used together: parentage, the shim's session, and the cookie. A scan and a kill race
 * with forks; so they are repeated until a scan finds nobody.
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

export async function stopProgram(folder: string, { first, graceMs, why }: Stop): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const attempt = attemptOf(folder);
  if (readExit(attempt) === null) {
    if (why !== null) markStop(attempt, why);
    if (claimForNobody(attempt)) return writeExit(attempt, killedCode);
  }
  const known = new Map<number, string>();
  if (readExit(attempt) === null) {
    for (const row of membersOf(attempt, known)) if (!row.isShim) signalProcess(row, first);
    await waitForExit(attempt, graceMs);
  }
  await endMembers(attempt, known);
  writeExit(attempt, killedCode);
}

/** Ends what a program left behind; how many processes that were. */
export async function reapLeftovers(cookie: string): Promise<number> {
  const seen = new Set<string>();
  const giveUpAt = Date.now() + giveUpMs;
  for (;;) {
    const rows = listCarriers(cookie);
    if (rows.length === 0 || Date.now() > giveUpAt) return seen.size;
    for (const row of rows) {
      seen.add(`${row.pid} ${row.start}`);
      signalProcess(row, "SIGKILL");
    }
    await delay(5);
  }
}

/** After a shim was lost: whatever of its tree can still be known. */
export async function endLost(attempt: Attempt): Promise<void> {
  await endMembers(attempt, new Map());
}

async function endMembers(attempt: Attempt, known: Map<number, string>): Promise<void> {
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

/** Adds everyone found to `known`, so that a child whose parent dies meanwhile stays a member. */
function membersOf(attempt: Attempt, known: Map<number, string>): ProcessRow[] {
  const rows = listProcesses(attempt.cookie).filter((row) => row.pid !== process.pid);
  const sessions = new Set(rows.filter((row) => row.isShim && row.session > 1).map((row) => row.session));
  const members = new Set(
    rows.filter((row) => row.carries || isOfShim(row, sessions) || known.get(row.pid) === row.start),
  );
  // A set hands out what is added while it is walked, so this reaches grandchildren too.
  for (const member of members) for (const row of rows) if (row.parent === member.pid) members.add(row);
  for (const member of members) known.set(member.pid, member.start);
  return [...members];
}

function isOfShim(row: ProcessRow, sessions: ReadonlySet<number>): boolean {
  return row.isShim || sessions.has(row.session);
}

async function waitForExit(attempt: Attempt, graceMs: number): Promise<void> {
  const until = Date.now() + graceMs;
  while (readExit(attempt) === null && Date.now() < until) await delay(Math.min(10, until - Date.now()));
}

function signalProcess(row: ProcessRow, signal: NodeJS.Signals): void {
  try {
    process.kill(row.pid, signal);
  } catch (error) {
    // Gone already, or not ours to end.
    if (codeOf(error) !== "ESRCH" && codeOf(error) !== "EPERM") throw error;
  }
}
