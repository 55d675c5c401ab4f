import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { codeOf, ExternalError, UserError } from "../lib/errors.js";
import {
  isPlain,
  longestInput,
  type RunningProgram,
  type ShellOutput,
  SmallShells,
} from "../lib/process/small-shells.js";
import { dropAbandonedLock } from "./abandoned-lock.js";
import { gitEnvironment } from "./environment.js";
import { noteDamage } from "./mirror/mirror-damage.js";

export interface GitOptions {
  readonly input?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Exit codes besides 0 that are an answer. */
  readonly okCodes?: readonly number[];
  /** How long a held lock is waited out. */
  readonly lockWaitMs?: number;
  /** Output beyond this is not read; the command is stopped. */
  readonly maxBytes?: number;
  /** Standard output goes to this file. */
  readonly stdoutFile?: string;
}

export interface GitOutput {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
  readonly truncated: boolean;
}

/** A git command that failed. */
export class GitError extends ExternalError {
  readonly code: number;
  readonly stderr: string;
  constructor(
    message: string,
    output: Pick<GitOutput, "code" | "stderr">,
    options: { retryable?: boolean; hint?: string } = {},
  ) {
    super("git", message, options);
    this.code = output.code;
    this.stderr = output.stderr;
  }
}

const defaultTimeoutMs = 900_000;
const lockWaitMs = 60_000;

/** Runs one git command. Held locks are waited out with back-off; one is deleted only where that is known to be nobody's. */
export async function git(cwd: string, args: readonly string[], options: GitOptions = {}): Promise<GitOutput> {
  return await untilUnlocked({ name: args[0] ?? "", cwd }, options, () => runTool("git", args, { ...options, cwd }));
}

/**
 * Several commands that come after each other, for `sh`. It has no word of anybody else's in it: those are its arguments,
 * `$1` and on.
 */
export interface Script {
  /** What it is called where it fails. */
  readonly name: string;
  readonly text: string;
}

/** A script of git commands. It is begun again where a lock was in its way, so it must be harmless to repeat. */
export async function gitScript(
  cwd: string,
  script: Script,
  { args, ...options }: GitOptions & { readonly args: readonly string[] },
): Promise<GitOutput> {
  return await untilUnlocked({ name: script.name, cwd }, options, () => runScript(script, args, { ...options, cwd }));
}

export async function runScript({ text }: Script, args: readonly string[], options: ToolOptions): Promise<GitOutput> {
  const program = { name: "/bin/sh", args: ["-c", text, "sh", ...args], easy: isEasy(args, options.input) };
  return await runEasily(program, options);
}

interface Called {
  readonly name: string;
  readonly cwd: string;
}

async function untilUnlocked(
  called: Called,
  options: GitOptions,
  attempt: () => Promise<GitOutput>,
): Promise<GitOutput> {
  const { lockWaitMs: waitMs = lockWaitMs, signal } = options;
  const tryOnce = async (): Promise<GitOutput> => {
    const output = await attempt();
    if (output.code === 0 || output.truncated) return output;
    const lock = heldLock(output.stderr);
    if (lock !== null && (await dropAbandonedLock(lock))) return await tryOnce();
    if (lock !== null) throw lockedOut(lock, waitMs, output);
    if (options.okCodes?.includes(output.code) && !isForbidden(output.stderr)) return output;
    throw failure(called, output);
  };
  return await whileLocked({ waitMs, ...(signal ? { signal } : {}) }, tryOnce);
}

/** Tries again, with back-off, for as long as what fails is locked out. */
export async function whileLocked<T>(
  { waitMs, signal }: { readonly waitMs: number; readonly signal?: AbortSignal },
  attempt: () => Promise<T>,
): Promise<T> {
  const until = Date.now() + waitMs;
  for (let pause = 10; ; pause = Math.min(pause * 2, 1000)) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof GitError && error.retryable) || Date.now() >= until) throw error;
    }
    await delay(pause * (0.5 + Math.random()), undefined, signal ? { signal } : {});
  }
}

/** The output of a command as text, without its last line end. */
export async function gitText(cwd: string, args: readonly string[], options: GitOptions = {}): Promise<string> {
  return (await git(cwd, args, options)).stdout.toString("utf8").replace(/\n$/, "");
}

/** The file another git process holds, if that is why the command failed. */
function heldLock(stderr: string): string | null {
  const found =
    /Unable to create '([^\n]+\.lock)': File exists/.exec(stderr) ??
    /could not lock config file ([^\n]+): File exists/.exec(stderr);
  return found?.[1] ?? null;
}

/** The settings forbid git to look into the repository: that is no answer to what was asked of it, and no damage. */
export function isForbidden(stderr: string): boolean {
  return /cannot use bare repository|dubious ownership/.test(stderr);
}

function failure({ name, cwd }: Called, output: GitOutput): GitError {
  const lines = output.stderr.split("\n").filter((line) => /^(fatal|error):/.test(line));
  const said = (lines.length > 0 ? lines : output.stderr.trim().split("\n").slice(-3)).join("; ").slice(0, 600);
  const damage = noteDamage(cwd, output.stderr);
  const what = `git ${name} failed (exit ${output.code}): ${said || "it said nothing"}`;
  return new GitError(damage === null ? what : `${damage}: ${what}`, output);
}

export function lockedOut(lock: string, waitMs: number, output: Pick<GitOutput, "code" | "stderr">): GitError {
  const since = waitMs === 0 ? "is there" : `is still there after ${Math.round(waitMs / 1000)} s`;
  return new GitError(`git is locked: ${lock} ${since}`, output, {
    retryable: true,
    hint: `When no git command is running there any more, remove ${lock} and start again.`,
  });
}

export interface ToolOptions extends Omit<ProgramOptions, "env"> {
  /** On top of the environment that all our git commands have. */
  readonly env?: Readonly<Record<string, string>>;
}

let shells: SmallShells | null = null;

/** More at once than this are slower on every machine that one person works on, and each takes a shell. */
const shellsAtMost = 8;

/**
 * For a process that will run many git commands: from now on small shells start them. The environment is that of now.
 * `place`: a folder in which we may make files.
 */
export function startGitBySmallShells(place: string): void {
  shells ??= new SmallShells(gitEnvironment(), { atMost: shellsAtMost, place });
}

/** Whether this process will run many git commands. */
export function startsManyCommands(): boolean {
  return shells !== null;
}

/** git, or what removes its folders, to its end. */
export async function runTool(name: string, args: readonly string[], options: ToolOptions): Promise<GitOutput> {
  return await runEasily({ name, args, easy: isEasy(args, options.input) }, options);
}

interface Tool {
  readonly name: string;
  readonly args: readonly string[];
  /** A small shell may start it. */
  readonly easy: boolean;
}

async function runEasily({ name, args, easy }: Tool, options: ToolOptions): Promise<GitOutput> {
  if (shells === null || options.stdoutFile !== undefined || !easy)
    return await runProgram(name, args, { ...options, env: gitEnvironment(options.env) });
  return await runInShell(shells, { name, args }, options);
}

/** Titles and messages are other people's words: nothing of theirs is ever written into a shell's input. */
function isEasy(args: readonly string[], input: string | Uint8Array | undefined): boolean {
  return args.every(isPlain) && (input === undefined || isPlainInput(input));
}

function isPlainInput(input: string | Uint8Array): boolean {
  // A NUL between words is printed by number, like all that is no letter.
  return typeof input === "string" && input.length <= longestInput && isPlain(input.replaceAll("\0", " "));
}

async function runInShell(
  through: SmallShells,
  { name, args }: { readonly name: string; readonly args: readonly string[] },
  { cwd, env = {}, input, signal, maxBytes, timeoutMs = defaultTimeoutMs }: ToolOptions,
): Promise<GitOutput> {
  signal?.throwIfAborted();
  const limits = { ...(input === undefined ? {} : { input }), ...(maxBytes === undefined ? {} : { maxBytes }) };
  const running = through.start({ program: name, args, cwd, env, ...limits });
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    running.stop();
  }, timeoutMs);
  signal?.addEventListener("abort", running.stop, { once: true });
  const output = await settled(running, () => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", running.stop);
  });
  if (signal?.aborted) throw signal.reason;
  const stderr = output.stderr.toString("utf8") + (timedOut ? tookTooLong : "");
  if (output.code === notFound && /not found/.test(stderr)) throw cannotStart(missing, { name, cwd });
  if (output.code !== 0 && /\bcd: /.test(stderr) && !existsSync(cwd)) throw cannotStart(missing, { name, cwd });
  return { code: output.code, stdout: output.stdout, stderr, truncated: output.cut };
}

async function settled({ done }: RunningProgram, clear: () => void): Promise<ShellOutput> {
  try {
    return await done;
  } finally {
    clear();
  }
}

/** How a shell says that there is no such program. */
const notFound = 127;
const missing = Object.assign(new Error("not found"), { code: "ENOENT" });
const tookTooLong = "\nerror: stopped, it took too long";

export interface ProgramOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly input?: string | Uint8Array;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly maxBytes?: number;
  readonly stdoutFile?: string;
}

/** One program to its end, in a session of its own: no terminal to ask on, and Ctrl-C in ours does not reach it. */
export async function runProgram(name: string, args: readonly string[], options: ProgramOptions): Promise<GitOutput> {
  options.signal?.throwIfAborted();
  const file = options.stdoutFile === undefined ? null : await open(options.stdoutFile, "w", 0o600);
  try {
    const child = spawn(name, args, {
      cwd: options.cwd,
      env: options.env,
      detached: true,
      stdio: [options.input === undefined ? "ignore" : "pipe", file === null ? "pipe" : file.fd, "pipe"],
    });
    return await outputOf(child, { name, ...options });
  } finally {
    await file?.close();
  }
}

function outputOf(child: ChildProcess, options: ProgramOptions & { readonly name: string }): Promise<GitOutput> {
  return new Promise((resolve, reject) => {
    const out = collect(child, "stdout", options.maxBytes);
    const err = collect(child, "stderr", 1_000_000);
    const stop = () => endGroup(child);
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      stop();
    }, options.timeoutMs ?? defaultTimeoutMs);
    options.signal?.addEventListener("abort", stop, { once: true });
    const settle = () => {
      clearTimeout(timer);
      options.signal?.removeEventListener("abort", stop);
    };
    child.on("error", (error) => {
      settle();
      reject(cannotStart(error, options));
    });
    child.on("close", (code) => {
      settle();
      if (options.signal?.aborted) return reject(options.signal.reason);
      const stderr = err.bytes().toString("utf8") + (timedOut ? tookTooLong : "");
      resolve({ code: code ?? 255, stdout: out.bytes(), stderr, truncated: out.cut() });
    });
    // A command may end without reading its input.
    child.stdin?.on("error", (error) => {
      if (codeOf(error) !== "EPIPE") child.emit("error", error);
    });
    child.stdin?.end(options.input);
  });
}

function collect(child: ChildProcess, which: "stdout" | "stderr", maxBytes = Number.POSITIVE_INFINITY) {
  const chunks: Buffer[] = [];
  let size = 0;
  child[which]?.on("data", (chunk: Buffer) => {
    if (size < maxBytes) chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes && which === "stdout") endGroup(child);
  });
  return {
    bytes: () => Buffer.concat(chunks).subarray(0, Math.min(size, maxBytes)),
    cut: () => size > maxBytes,
  };
}

/** SIGTERM first: git removes its lock files on it. */
function endGroup(child: ChildProcess): void {
  const send = (signal: NodeJS.Signals) => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    try {
      process.kill(-child.pid, signal);
    } catch (error) {
      if (codeOf(error) !== "ESRCH") throw error;
    }
  };
  send("SIGTERM");
  setTimeout(() => send("SIGKILL"), 2000).unref();
}

function cannotStart(error: Error, { name, cwd }: { name: string; cwd: string }): Error {
  if (codeOf(error) !== "ENOENT")
    return new ExternalError(name, `${name} could not be started: ${error.message}`, { cause: error });
  if (!existsSync(cwd))
    return new ExternalError(name, `${name} could not be started: ${cwd} is not there`, { cause: error });
  return new UserError(`${name} is not installed`, {
    hint: `Install ${name} and make sure it is on PATH.`,
    cause: error,
  });
}
