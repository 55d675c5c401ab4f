import { readFileSync } from "node:fs";
import { codeOf } from "../errors.js";

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

export function markBirths(): BirthMark | null {
  return readCircle();
}

/** Of these processes, listed before the call, those that can have been born since the mark. */
export function bornSince(mark: BirthMark | null, pids: readonly number[]): readonly number[] {
  const now = mark === null ? null : readCircle();
  return mark === null || now === null ? pids : pids.filter((pid) => canBeBornBetween(mark, now, pid));
}

export function canBeBornBetween(mark: BirthMark, now: Circle, pid: number): boolean {
  const certain = now.births - mark.births < now.numbers / 2 && now.alive < now.numbers / 4;
  if (!certain) return true;
  const beganAnew = now.lastPid < mark.lastPid;
  return beganAnew ? pid > mark.lastPid || pid <= now.lastPid : pid > mark.lastPid && pid <= now.lastPid;
}

const words = {
  load: /^\S+ \S+ \S+ \d+\/(\d+) (\d+)$/m,
  births: /^processes (\d+)$/m,
};

let numbers: number | null = null;

/** null: this system does not tell, or /proc is another one's. */
function readCircle(): Circle | null {
  if (process.platform !== "linux" || !isOwnProc()) return null;
  const load = words.load.exec(readProc("loadavg"));
  const births = words.births.exec(readProc("stat"));
  numbers ??= Number.parseInt(readProc("sys/kernel/pid_max"), 10);
  if (load === null || births === null || !(numbers > 0)) return null;
  return { alive: Number(load[1]), lastPid: Number(load[2]), births: Number(births[1]), numbers };
}

let ownProc: boolean | null = null;

/** Numbers there are the ones that this process and its children have. */
function isOwnProc(): boolean {
  ownProc ??= readProc("self/stat").startsWith(`${process.pid} `);
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
