import { type Attempt, attemptOf, readExit, readPid } from "./attempt.js";
import { ownShim } from "./start.js";
import { isShimAlive, listProcesses } from "./table.js";

export type Found =
  /** Nothing was ever started in the folder. */
  | { readonly state: "none" }
  | { readonly state: "ended"; readonly exit: number }
  /** `pid` is the shim's. */
  | { readonly state: "running"; readonly pid: number }
  /** The shim is gone and left no exit; what it had started may still live. */
  | { readonly state: "lost" };

export function findProgram(folder: string): Found {
  return findAttempt(attemptOf(folder));
}

export function findAttempt(attempt: Attempt): Found {
  const exit = readExit(attempt);
  if (exit !== null) return { state: "ended", exit };
  const pid = readPid(attempt);
  if (pid === null) return own(attempt) ?? { state: "none" };
  const alive = pid > 0 ? isShimAlive(pid, attempt.cookie) : false;
  if (alive) return { state: "running", pid };
  // The claim is a moment older than the number in it, and the exit may have come since the first look.
  const shim = pid === 0 ? listProcesses(attempt.cookie).find((row) => row.isShim) : undefined;
  if (shim !== undefined) return { state: "running", pid: shim.pid };
  const late = readExit(attempt);
  return late === null ? { state: "lost" } : { state: "ended", exit: late };
}

/** Our own shim, between its start and its claim. */
function own(attempt: Attempt): Found | null {
  const pid = ownShim(attempt)?.pid;
  return pid === undefined ? null : { state: "running", pid };
}
