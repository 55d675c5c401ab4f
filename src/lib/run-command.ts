import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { linkOrCopy } from "./link-or-copy.js";
import { attemptOf, readPid, readStopMark } from "./process/attempt.js";
import { findProgram } from "./process/find.js";
import { type Followed, followProgram } from "./process/follow.js";
import { startProgram } from "./process/start.js";
import { type Stop, stopProgram } from "./process/stop.js";

/**
 * A command that judges is worth only as much as its whole run: after a crash it is not attached to, but stopped and
 * run again. A folder is claimed for good, so each further run has its own: `<folder>/again-<n>`. What it came to stands
 * in `folder` all the same, where whoever looks for it looks; what the run before had said by then is beside it.
 */
export interface ShellCommand {
  readonly folder: string;
  /** For `sh -c`. */
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  /** Aborted: the command is ended, and run again by the next call. */
  readonly signal: AbortSignal;
}

export interface CommandResult {
  /** null: it did not end by itself. */
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  readonly stopped: boolean;
  readonly seconds: number;
  readonly stdoutPath: string;
  readonly stderrPath: string;
}

/** Our own ending leaves no word: a command that is stopped because Ratchet ends is run again by the next start. */
const ending: Stop = { first: "SIGTERM", graceMs: 2000, why: null };

export async function runShellCommand(command: ShellCommand): Promise<CommandResult> {
  const startedAt = Date.now();
  const earlier = runsIn(command.folder);
  for (const run of earlier) await stopProgram(run, { ...ending, graceMs: 500 });
  const last = earlier.at(-1);
  if (last !== undefined && stopWord(last) !== null) return result(last, startedAt, { exitCode: null, stopped: true });
  const folder = last === undefined ? command.folder : join(command.folder, `again-${earlier.length}`);
  const end = await runIn(folder, command, startedAt + command.timeoutSeconds * 1000);
  if (end.type !== "exited") await stopProgram(folder, ending);
  else if (folder !== command.folder) showIn(command.folder, folder, earlier.length);
  return result(end.type === "exited" ? command.folder : folder, startedAt, {
    exitCode: end.type === "exited" && end.stopped === null ? end.code : null,
    timedOut: end.type === "timed-out",
    stopped: end.type === "exited" ? end.stopped !== null : end.type === "aborted" || stopWord(folder) !== null,
  });
}

async function runIn(folder: string, command: ShellCommand, timeoutAt: number): Promise<Followed> {
  const files = { stdinFile: null, stdoutFile: join(folder, "stdout.log"), stderrFile: join(folder, "stderr.log") };
  const { cwd, env, signal } = command;
  await startProgram({ folder, argv: ["/bin/sh", "-c", command.command], env, cwd, ...files });
  return followProgram(folder, { signal, timeoutAt });
}

function showIn(folder: string, from: string, lost: number): void {
  for (const name of ["stdout.log", "stderr.log", "exit"]) {
    const place = join(folder, name);
    if (existsSync(place)) renameSync(place, join(folder, `lost-${lost}-${name}`));
    linkOrCopy(join(from, name), place);
  }
}

function result(folder: string, startedAt: number, end: Partial<CommandResult>): CommandResult {
  const paths = { stdoutPath: join(folder, "stdout.log"), stderrPath: join(folder, "stderr.log") };
  const seconds = (Date.now() - startedAt) / 1000;
  return { exitCode: null, timedOut: false, stopped: false, seconds, ...paths, ...end };
}

/** Ends the command that runs in the folder; one that has not begun yet never will. */
export async function stopShellCommand(folder: string, stop: Stop): Promise<void> {
  await stopProgram(runsIn(folder).at(-1) ?? folder, stop);
}

function stopWord(folder: string): string | null {
  return readStopMark(attemptOf(folder));
}

/** Every folder in which a run of this command was begun, the oldest first. */
function runsIn(folder: string): string[] {
  const runs: string[] = [];
  for (let next = folder; wasBegun(next); next = join(folder, `again-${runs.length}`)) runs.push(next);
  return runs;
}

/** A run of this command is at work. */
export function isCommandRunning(folder: string): boolean {
  const last = runsIn(folder).at(-1);
  return last !== undefined && findProgram(last).state === "running";
}

/** Who of the processes on this machine runs it, as far as that is known. */
export function commandPid(folder: string): number | null {
  return readPid(attemptOf(runsIn(folder).at(-1) ?? folder)) || null;
}

/** Somebody has started it there before, and may still be at it. */
export function wasBegun(folder: string): boolean {
  return existsSync(join(folder, "lease")) || existsSync(join(folder, "pid"));
}
