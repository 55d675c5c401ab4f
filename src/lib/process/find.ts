import { isMissing } from "../files.js";
import { type Attempt, attemptOf, readExit, readPid } from "./attempt.js";
import { ownShim } from "./start.js";
import { isShimAlive, listProcesses } from "./table.js";

export type Found =
  /** Nothing was ever started in the folder. */
  | { readonly state: "none" }
  | { readonly state: "ended"; readonly exit: number }
  | { readonly state: "running" }
  /** The shim is gone and left no exit; what it had started may still live. */
  | { readonly state: "lost" };

export function findProgram(folder: string): Found {
  // Most are asked about before there is anything; whoever starts or stops one there makes the folder first.
  return isMissing(folder) ? { state: "none" } : findAttempt(attemptOf(folder));
}

export function findAttempt(attempt: Attempt): Found {
  const exit = readExit(attempt);
  if (exit !== null) return { state: "ended", exit };
  const pid = readPid(attempt);
  if (pid === null) return isOwn(attempt) ? { state: "running" } : { state: "none" };
  // The claim is a moment older than the number in it.
  const alive = pid > 0 ? isShimAlive(pid, attempt) : listProcesses(attempt).some(({ isShim }) => isShim);
  if (alive) return { state: "running" };
  // The exit may have come since the first look.
  const late = readExit(attempt);
  return late === null ? { state: "lost" } : { state: "ended", exit: late };
}

/** Between our own shim's start and its claim. */
function isOwn(attempt: Attempt): boolean {
  return ownShim(attempt) !== null;
}
