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

/** Where so few numbers were given out since, asking for each is cheaper than to list who is there. */
const fewNumbers = 200;

/** Numbers of the processes, of all that `list` finds at least, that can have been born since the mark; not all of them need be there. */
export function bornSince(mark: BirthMark | null, list: () => readonly number[]): readonly number[] {
  if (mark === null) return list();
  const before = look();
  const given = before === null ? 0 : before.lastPid - mark.lastPid;
  if (before !== null && given >= 0 && given <= fewNumbers && isCertain(mark, before))
    return Array.from({ length: given }, (_, index) => mark.lastPid + 1 + index);
  const pids = list();
  // Listed before, so that nobody in the list was born later.
  const now = look();
  return now === null ? pids : pids.filter((pid) => canBeBornBetween(mark, now, pid));
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
