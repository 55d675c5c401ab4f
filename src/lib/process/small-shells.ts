import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, ftruncateSync, openSync, readSync, unlinkSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { Bug, codeOf } from "../errors.js";
import { quoted } from "../quoted.js";

/**
 * Programs started by a small process in place of this one. Node starts a program by copying its own process, page
 * table and all, which costs a large orchestrator many times what the program itself costs, and nothing else happens
 * meanwhile. A shell of one megabyte copies itself in a fraction of that. Each shell reads commands from a pipe, runs one
 * at a time, and ends with us: its input ends when we do. Output of a command ends where the shell prints its mark,
 * which nobody else knows. Most commands have nothing to say on stderr: that goes to a file without a name, which is
 * whole when the mark has come. Whoever waits for a command keeps this process alive; a shell never does.
 */
export interface ShellRun {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** On top of what the shells were given; names have to be ones that a shell can set. */
  readonly env: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
  /** Output beyond this is not read; the program is ended. */
  readonly maxBytes?: number;
}

export interface ShellOutput {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  /** There was more output than was to be read. */
  readonly cut: boolean;
}

export interface RunningProgram {
  readonly done: Promise<ShellOutput>;
  /** SIGTERM, then SIGKILL, to the program and all it started in its group. */
  stop(): void;
}

/** Input has to go through the shell's own: what is longer is better given directly. */
export const longestInput = 16_384;
const keptIdle = 32;
const killedCode = 255;
const nothing = Buffer.alloc(0);
const neverStarted: ShellOutput = { code: killedCode, stdout: nothing, stderr: nothing, cut: false };
const graceMs = 2000;
const endMs = 1000;
const stderrBytes = 1_000_000;

export interface ShellsOptions {
  /** A folder in which we may make files. */
  readonly place: string;
  /** How many may be at work at once. */
  readonly atMost?: number;
}

/** As many shells as programs run at once, which may be bounded: then the others wait for one. A few wait for the next program. */
export class SmallShells {
  readonly #env: NodeJS.ProcessEnv;
  readonly #atMost: number;
  readonly #place: string;
  readonly #idle: Shell[] = [];
  readonly #queue: Asked[] = [];
  #busy = 0;

  constructor(env: NodeJS.ProcessEnv, { place, atMost = Number.POSITIVE_INFINITY }: ShellsOptions) {
    this.#env = env;
    this.#atMost = atMost;
    this.#place = place;
    // Whatever is to be done at the end may want a shell once more: then this comes again.
    process.on("beforeExit", () => {
      for (const shell of this.#idle.splice(0)) shell.closeAndWait();
    });
  }

  start(run: ShellRun): RunningProgram {
    let stopped = false;
    let stop: () => void;
    const done = new Promise<ShellOutput>((resolve, reject) => {
      // While it waits for a shell nothing has to be ended.
      stop = () => {
        stopped = true;
        resolve(neverStarted);
      };
      const use = (shell: Shell) => {
        if (stopped) return this.#giveBack(shell);
        stop = () => shell.stop();
        shell.run(run, (output) => {
          this.#giveBack(shell);
          resolve(output);
        });
      };
      this.#take({ use, fail: reject });
    });
    return { done, stop: () => stop() };
  }

  #take(asked: Asked): void {
    if (this.#busy >= this.#atMost) {
      this.#queue.push(asked);
      return;
    }
    try {
      const shell = this.#idleOrNew();
      this.#busy += 1;
      asked.use(shell);
    } catch (error) {
      asked.fail(error);
    }
  }

  #idleOrNew(): Shell {
    for (let shell = this.#idle.pop(); shell !== undefined; shell = this.#idle.pop()) if (shell.usable) return shell;
    return new Shell(this.#env, this.#place);
  }

  #giveBack(shell: Shell): void {
    this.#busy -= 1;
    if (shell.usable) {
      if (this.#idle.length < keptIdle) this.#idle.push(shell);
      else shell.close();
    }
    const next = this.#queue.shift();
    if (next !== undefined) this.#take(next);
  }
}

interface Asked {
  readonly use: (shell: Shell) => void;
  readonly fail: (error: unknown) => void;
}

interface Waiting {
  readonly mark: string;
  readonly stdout: Collected;
  readonly tell: (output: ShellOutput) => void;
}

class Shell {
  readonly #child: ChildProcess;
  readonly #stdin: Writable;
  /** What its commands say on stderr, of the one at work alone. */
  readonly #stderr: number;
  readonly #secret = randomBytes(16).toString("hex");
  #count = 0;
  #waiting: Waiting | null = null;
  #ended = false;
  #stopped = false;

  constructor(env: NodeJS.ProcessEnv, place: string) {
    this.#stderr = openNameless(place);
    this.#child = spawn("/bin/sh", ["-s"], { cwd: "/", env, detached: true, stdio: ["pipe", "pipe", this.#stderr] });
    const { stdin, stdout } = this.#child;
    if (stdin === null || stdout === null) throw new Bug("a shell without pipes");
    this.#stdin = stdin;
    stdout.on("data", (chunk: Buffer) => this.#hear(chunk));
    // What it could not be told ends it, and its end is an answer.
    stdin.on("error", () => this.stop());
    this.#child.on("error", () => this.#end());
    this.#child.on("close", () => this.#end());
    this.#child.unref();
    for (const stream of [stdin, stdout]) if (stream instanceof Socket) stream.unref();
  }

  get usable(): boolean {
    return !this.#ended && !this.#stopped && this.#waiting === null;
  }

  run(run: ShellRun, tell: (output: ShellOutput) => void): void {
    this.#count += 1;
    const mark = `\n${this.#secret}-${this.#count} `;
    this.#waiting = { mark, stdout: new Collected(run.maxBytes ?? Number.POSITIVE_INFINITY), tell };
    this.#stdin.write(scriptOf(run, mark));
  }

  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#signal("SIGTERM");
    setTimeout(() => this.#signal("SIGKILL"), graceMs).unref();
  }

  close(): void {
    this.#stdin.end();
  }

  closeAndWait(): void {
    this.close();
    waitFor(this.#child);
  }

  #hear(chunk: Buffer): void {
    const waiting = this.#waiting;
    if (waiting === null) return;
    waiting.stdout.add(chunk);
    if (waiting.stdout.cut) this.stop();
    const code = waiting.stdout.codeAfter(waiting.mark);
    if (code !== null) this.#settle(code);
  }

  #settle(code: number): void {
    const waiting = this.#waiting;
    if (waiting === null) return;
    this.#waiting = null;
    const { stdout, mark, tell } = waiting;
    tell({ code, stdout: stdout.before(mark), stderr: this.#takeStderr(), cut: stdout.cut });
  }

  #takeStderr(): Buffer {
    const { size } = fstatSync(this.#stderr);
    if (size === 0) return nothing;
    const said = Buffer.alloc(Math.min(size, stderrBytes));
    const length = readSync(this.#stderr, said, 0, said.length, 0);
    ftruncateSync(this.#stderr, 0);
    return said.subarray(0, length);
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#settle(killedCode);
    closeSync(this.#stderr);
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#ended || this.#child.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, signal);
    } catch (error) {
      if (codeOf(error) !== "ESRCH") throw error;
    }
  }
}

/** We end after it, unless somebody holds it up: a shell that reads the end of its input takes a few milliseconds. */
export function waitFor(child: ChildProcess): void {
  child.ref();
  setTimeout(() => child.unref(), endMs).unref();
}

/** Gone with whoever holds it open, however they end. */
function openNameless(folder: string): number {
  const path = join(folder, `.ratchet-${randomBytes(8).toString("hex")}`);
  const file = openSync(path, "ax+", 0o600);
  unlinkSync(path);
  return file;
}

/** Output as it comes, up to a limit, and whether it ends with the mark. */
class Collected {
  readonly #limit: number;
  readonly #chunks: Buffer[] = [];
  #tail: Buffer = nothing;
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(chunk: Buffer): void {
    if (this.#size < this.#limit + markBytes) this.#chunks.push(chunk);
    this.#tail = (this.#size === 0 ? chunk : Buffer.concat([this.#tail, chunk])).subarray(-markBytes);
    this.#size += chunk.length;
  }

  get cut(): boolean {
    return this.#size > this.#limit + markBytes;
  }

  /** null: the mark has not come yet. */
  codeAfter(mark: string): number | null {
    const tail = this.#tail.toString("latin1");
    const at = tail.lastIndexOf(mark);
    return at >= 0 && tail.endsWith("\n") ? Number.parseInt(tail.slice(at + mark.length), 10) : null;
  }

  before(mark: string): Buffer {
    const [first = nothing, ...more] = this.#chunks;
    const all = more.length === 0 ? first : Buffer.concat(this.#chunks);
    const at = all.lastIndexOf(mark);
    return all.subarray(0, Math.min(at < 0 ? all.length : at, this.#limit));
  }
}

/** Long enough for any mark with its code. */
const markBytes = 80;

/** Nothing in it means anything to a shell, quoted or not. */
export function isPlain(text: string): boolean {
  return /^[A-Za-z0-9 _.,:=@^{}~+%/\n-]*$/.test(text);
}

function scriptOf(run: ShellRun, mark: string): string {
  return `${scriptWithin(run)}\ns=$?; cd /; printf '\\n%s %d\\n' ${quoted(mark.trim())} $s\n`;
}

function scriptWithin({ program, args, cwd, env, input }: ShellRun): string {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${quoted(value)} `);
  const given = `${variables.join("")}${[program, ...args].map(quoted).join(" ")}`;
  // A shell tells its programs where it was and is; these were told what they need.
  const place = `cd ${quoted(cwd)} && unset OLDPWD PWD &&`;
  return `${place} ${input === undefined ? `${given} </dev/null` : `printf -- ${printed(input)} | ${given}`}`;
}

/** A format that prints these bytes, whatever they are. */
function printed(input: string | Uint8Array): string {
  const text = Buffer.from(input).toString("latin1");
  const octal = (one: string) => `\\${one.charCodeAt(0).toString(8).padStart(3, "0")}`;
  return `'${text.replace(/[^A-Za-z0-9 ./:_@^{}~\n-]/g, octal)}'`;
}
