import { readFileSync } from "node:fs";
import { codeOf } from "../errors.js";
import { statsOf } from "../files.js";

/**
 * Which processes can have been born since a moment. Numbers are given out in a circle, so those born since lie between
 * the last number given out then and the last one given out now. The kernel also counts births: while there were far
 * fewer of them than there are numbers, the circle was not closed and whoever lies elsewhere is older. Where that is not
 * certain, everybody counts as born since.
 */
export interface BirthMark {
  readonly lastPid: number;
  /** Of the whole system, threads included: never fewer than the numbers that were used up here. */
  readonly births: number;
}

interface Circle extends BirthMark {
  readonly numbers: number;
  /** Processes and threads there are; their numbers are passed over. */
  readonly alive: number;
}

/** The newest look at the circle. */
let last: { readonly circle: Circle | null; readonly atMs: number } | null = null;
/** A count of births that is so old still tells enough: an older one only makes less certain. */
const countMs = 1000;

/** The last number is always asked for: each one fewer is one process fewer to look at in the end. */
export function markBirths(): BirthMark | null {
  if (last === null || performance.now() - last.atMs >= countMs) return look();
  const { circle } = last;
  const load = circle === null ? null : readLoad();
  return circle === null || load === null ? null : { lastPid: load.lastPid, births: circle.births };
}

function look(): Circle | null {
  last = { circle: readCircle(), atMs: performance.now() };
  return last.circle;
}

export interface Young {
  readonly pids: readonly number[];
  /** Most of them are programs at work: not the kernel's own, and no numbers of processes that are gone. */
  readonly mostWork: boolean;
}

/** The processes, of all that `list` finds at least, that can have been born since the mark. */
export function bornSince(mark: BirthMark | null, list: () => readonly number[]): Young {
  const before = mark === null ? null : look();
  if (mark === null || before === null || !isCertain(mark, before)) return { pids: list(), mostWork: false };
  const given = before.lastPid - mark.lastPid;
  if (given >= 0 && isFewer(given, before))
    return { pids: Array.from({ length: given }, (_, index) => mark.lastPid + 1 + index), mostWork: false };
  const pids = list();
  // Listed before, so that nobody in the list was born later.
  const now = { ...before, ...readLoad() };
  return { pids: pids.filter((pid) => canBeBornBetween(mark, now, pid)), mostWork: true };
}

/** To ask for one number costs as much as to list four processes; half of those that are alive are threads, or more. */
function isFewer(given: number, { alive }: Circle): boolean {
  return given <= Math.min(100, alive / 8);
}

export function canBeBornBetween(mark: BirthMark, now: Circle, pid: number): boolean {
  if (!isCertain(mark, now)) return true;
  const beganAnew = now.lastPid < mark.lastPid;
  return beganAnew ? pid > mark.lastPid || pid <= now.lastPid : pid > mark.lastPid && pid <= now.lastPid;
}

/** The circle was not closed in between. */
function isCertain(mark: BirthMark, now: Circle): boolean {
  return now.births - mark.births < now.numbers / 2 && now.alive < now.numbers / 4;
}

const words = {
  load: /^\S+ \S+ \S+ \d+\/(\d+) (\d+)$/m,
  births: /^processes (\d+)$/m,
};

let numbers: number | null = null;

/** null: this system does not tell, or /proc is another one's. */
function readCircle(): Circle | null {
  if (process.platform !== "linux" || !isOwnProc()) return null;
  const load = readLoad();
  const births = words.births.exec(readProc("stat"));
  numbers ??= Number.parseInt(readProc("sys/kernel/pid_max"), 10);
  if (load === null || births === null || !(numbers > 0)) return null;
  return { ...load, births: Number(births[1]), numbers };
}

function readLoad(): Pick<Circle, "alive" | "lastPid"> | null {
  const load = words.load.exec(readProc("loadavg"));
  return load === null ? null : { alive: Number(load[1]), lastPid: Number(load[2]) };
}

let ownProc: boolean | null = null;

/** Numbers there are the ones that this process and its children have. Some containers put a file of their host's in its place. */
function isOwnProc(): boolean {
  ownProc ??=
    readProc("self/stat").startsWith(`${process.pid} `) && statsOf("/proc/loadavg")?.dev === statsOf("/proc")?.dev;
  return ownProc;
}

function readProc(name: string): string {
  try {
    return readFileSync(`/proc/${name}`, "utf8");
  } catch (error) {
    if (["ENOENT", "EACCES", "EPERM"].includes(codeOf(error) ?? "")) return "";
    throw error;
  }
}
