import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, statSync } from "node:fs";
import { codeOf, ExternalError, messageOf } from "../errors.js";
import { makeFolder } from "../files.js";
import { type Attempt, attemptOf, isClaimed } from "./attempt.js";
import { type BirthMark, markBirths } from "./births.js";
import { type ShimCall, shimArguments, shimOrder } from "./shim.js";
import { canShimsWait, WaitingShims } from "./waiting-shims.js";

export interface ProgramStart {
  /** The attempt's own folder; one program is ever started in it. */
  readonly folder: string;
  readonly argv: readonly [string, ...string[]];
  /** All of it: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** null: /dev/null. */
  readonly stdinFile: string | null;
  readonly stdoutFile: string;
  readonly stderrFile: string;
  /** How long the program may go on when nobody follows it. */
  readonly graceSeconds?: number;
}

export interface Started {
  readonly attempt: Attempt;
  /** The folder had been claimed before: by a shim of an earlier orchestrator, which is the one to follow. */
  readonly attached: boolean;
}

/** A shim that this process has started, until it ends. */
export interface OwnShim {
  /** null: it has not said yet. */
  readonly pid: () => number | null;
  /** From before its program's start. */
  readonly since: BirthMark | null;
  onEnd(listen: () => void): void;
}

const ownShims = new Map<string, OwnShim>();

export function ownShim(attempt: Attempt): OwnShim | null {
  return ownShims.get(attempt.folder) ?? null;
}

let waiting: WaitingShims | null = null;

/** For a process that will start many programs, for what is at `place`: from now on their shims are there before. */
export function prepareShims(place: string): void {
  if (!canShimsWait) return;
  waiting ??= new WaitingShims(place);
  waiting.prepare();
}

/** Starts the program in its own session, once per folder however often it is called, by however many processes. */
export async function startProgram(start: ProgramStart): Promise<Started> {
  makeFolder(start.folder);
  const attempt = attemptOf(start.folder);
  if (isClaimed(attempt) || ownShims.has(attempt.folder)) return { attempt, attached: true };
  requireFolder(start.cwd);
  await startShim(attempt, start);
  return { attempt, attached: false };
}

function requireFolder(path: string): void {
  try {
    if (statSync(path).isDirectory()) return;
  } catch (error) {
    if (codeOf(error) !== "ENOENT" && codeOf(error) !== "ENOTDIR") throw error;
  }
  throw new ExternalError("process", `the folder to work in is missing: ${path}`);
}

async function startShim(attempt: Attempt, start: ProgramStart): Promise<void> {
  const call = { ...attempt, graceSeconds: start.graceSeconds ?? 60, argv: start.argv };
  const since = markBirths();
  if (waiting === null || !isEasy(start)) return spawnShim(call, start, since);
  const { cwd, env, stdinFile, stdoutFile: stdout, stderrFile: stderr } = start;
  const order = shimOrder({ ...call, cwd, env, stdin: stdinFile ?? "/dev/null", stdout, stderr });
  const { pid, ended } = waiting.begin(order);
  const listeners: (() => void)[] = [];
  ownShims.set(attempt.folder, { pid, since, onEnd: (listen) => void listeners.push(listen) });
  void ended.then(() => {
    ownShims.delete(attempt.folder);
    for (const listen of listeners) listen();
  });
}

/** Names that a shell has a use of its own for, or cannot set. */
const shellNames =
  /^(?:[^A-Za-z_].*|.*[^A-Za-z0-9_].*|E?[UG]ID|PPID|OPTIND|USERNAME|LINENO|(?:BASH|SHELL)OPTS|BASH_.*)$/s;

/** Whether a shell can be told, and it cannot fail for its size or its names: Node would say so at once, a shell only by its end. */
function isEasy({ argv, env, cwd }: ProgramStart): boolean {
  const texts = [...argv, ...Object.values(env), cwd];
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return (
    bytes < 32_768 &&
    !texts.some((text) => text.includes("\0")) &&
    !Object.keys(env).some((name) => shellNames.test(name))
  );
}

async function spawnShim(call: ShimCall, start: ProgramStart, since: BirthMark | null): Promise<void> {
  const { folder } = call;
  const stdio = openAll(start);
  try {
    const child = spawn("/bin/sh", shimArguments(call), {
      cwd: start.cwd,
      env: start.env,
      detached: true,
      stdio: [...stdio],
    });
    ownShims.set(folder, { pid: () => child.pid ?? null, since, onEnd: (listen) => void child.once("exit", listen) });
    child.once("exit", () => ownShims.delete(folder));
    child.unref();
    await spawned(child, start.argv[0]).catch((error: unknown) => {
      ownShims.delete(folder);
      throw error;
    });
  } finally {
    for (const fd of stdio) closeSync(fd);
  }
}

/** Made here, for the owner alone. Appending, so that a shim that comes second cannot cut off what the first one's program has written. */
function openAll(start: ProgramStart): [number, number, number] {
  const input = openSync(start.stdinFile ?? "/dev/null", "r");
  const output = openSync(start.stdoutFile, "a", 0o600);
  return [input, output, openSync(start.stderrFile, "a", 0o600)];
}

function spawned(child: ChildProcess, program: string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (error) => {
      const hint = codeOf(error) === "E2BIG" ? { hint: "its arguments or environment are too long" } : {};
      reject(
        new ExternalError("process", `${program} cannot be started: ${messageOf(error)}`, { cause: error, ...hint }),
      );
    });
  });
}
