import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, statSync } from "node:fs";
import { codeOf, ExternalError, messageOf } from "../errors.js";
import { type Attempt, attemptOf, readPid, touchLease } from "./attempt.js";
import { type BirthMark, markBirths } from "./births.js";
import { shimArguments } from "./shim.js";
import { canBeSet, SmallShells } from "./small-shells.js";

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
  /** 0: a small shell started it, and only its folder tells. */
  readonly pid: number;
  /** From before its start. */
  readonly since: BirthMark | null;
  onEnd(listen: () => void): void;
}

const ownShims = new Map<string, OwnShim>();

export function ownShim(attempt: Attempt): OwnShim | null {
  return ownShims.get(attempt.folder) ?? null;
}

/** Gives a program a session of its own; where there is none, Node has to. */
const setsid = ["/usr/bin/setsid", "/bin/setsid"].find((path) => existsSync(path)) ?? null;
let shells: SmallShells | null = null;

/** For a process that will start many programs: from now on small shells start them. */
export function startProgramsBySmallShells(): void {
  if (setsid !== null && process.platform === "linux") shells ??= new SmallShells({});
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
  const args = shimArguments({ folder, cookie, graceSeconds: start.graceSeconds ?? 60, argv: start.argv });
  const stdio = openAll(start);
  const since = markBirths();
  try {
    if (shells !== null && setsid !== null && isEasy(args, start.env))
      return spawnBySmallShell(shells, { args: ["/bin/sh", ...args], setsid, folder, since }, start);
    const child = spawn("/bin/sh", args, {
      cwd: start.cwd,
      env: start.env,
      detached: true,
      stdio: [...stdio],
    });
    ownShims.set(folder, { pid: child.pid ?? 0, since, onEnd: (listen) => void child.once("exit", listen) });
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

/** Whether it cannot fail for its size or its names: Node would say so at once, a shell only by its end. */
function isEasy(args: readonly string[], env: Readonly<Record<string, string>>): boolean {
  const bytes = [...args, ...Object.values(env)].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return bytes < 65_536 && canBeSet(env);
}

interface ShimStart {
  readonly args: string[];
  readonly setsid: string;
  readonly folder: string;
  readonly since: BirthMark | null;
}

function spawnBySmallShell(
  through: SmallShells,
  { args, setsid: program, folder, since }: ShimStart,
  { cwd, env, stdinFile, stdoutFile, stderrFile }: ProgramStart,
): void {
  const files = { stdin: stdinFile ?? "/dev/null", stdout: stdoutFile, stderr: stderrFile };
  const { done } = through.start({ program, args, cwd, env, files, mayOutliveUs: true });
  const listeners: (() => void)[] = [];
  ownShims.set(folder, { pid: 0, since, onEnd: (listen) => void listeners.push(listen) });
  void done.then(() => {
    ownShims.delete(folder);
    for (const listen of listeners) listen();
  });
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
