import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, statSync } from "node:fs";
import { codeOf, ExternalError, messageOf } from "../errors.js";
import { type Attempt, attemptOf, readPid, touchLease } from "./attempt.js";
import { shimArguments } from "./shim.js";

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

/** Shims that are children of this process, until they end. */
const ownShims = new Map<string, ChildProcess>();

export function ownShim(attempt: Attempt): ChildProcess | null {
  return ownShims.get(attempt.folder) ?? null;
}

/** Starts the program in its own session, once per folder however often it is called, by however many processes. */
export async function startProgram(start: ProgramStart): Promise<Started> {
  mkdirSync(start.folder, { recursive: true, mode: 0o700 });
  const attempt = attemptOf(start.folder);
  touchLease(attempt);
  if (readPid(attempt) !== null || ownShims.has(attempt.folder)) return { attempt, attached: true };
  requireFolder(start.cwd);
  await spawnShim(attempt, start);
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

async function spawnShim(attempt: Attempt, start: ProgramStart): Promise<void> {
  const { folder, cookie } = attempt;
  const stdio = openAll(start);
  try {
    const graceSeconds = start.graceSeconds ?? 60;
    const child = spawn("/bin/sh", shimArguments({ folder, cookie, graceSeconds, argv: start.argv }), {
      cwd: start.cwd,
      env: start.env,
      detached: true,
      stdio: [...stdio],
    });
    ownShims.set(folder, child);
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

/** Appending, so that a shim that comes second cannot cut off what the first one's program has written. */
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
