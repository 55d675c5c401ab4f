import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { Socket } from "node:net";
import { codeOf } from "../errors.js";
import { quoted } from "../quoted.js";

/**
 * Programs started by a small process in place of this one. Node starts a program by copying its own process, page
 * table and all, which costs a large orchestrator many times what the program itself costs, and nothing else happens
 * meanwhile. A shell of one megabyte copies itself in a fraction of that. Each shell reads commands from a pipe, runs one
 * at a time, and ends with us: its input ends when we do. Output of a command ends where the shell prints its mark,
 * which nobody else knows.
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
const neverStarted: ShellOutput = { code: killedCode, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0), cut: false };
const graceMs = 2000;
const stderrBytes = 1_000_000;

/** As many shells as programs run at once, which may be bounded: then the others wait for one. A few wait for the next program. */
export class SmallShells {
  readonly #env: NodeJS.ProcessEnv;
  readonly #atMost: number;
  readonly #idle: Shell[] = [];
  readonly #queue: ((shell: Shell) => void)[] = [];
  #busy = 0;

  constructor(env: NodeJS.ProcessEnv, atMost = Number.POSITIVE_INFINITY) {
    this.#env = env;
    this.#atMost = atMost;
  }

  start(run: ShellRun): RunningProgram {
    let stopped = false;
    let stop: () => void;
    const done = new Promise<ShellOutput>((resolve) => {
      // While it waits for a shell nothing has to be ended.
      stop = () => {
        stopped = true;
        resolve(neverStarted);
      };
      const began = this.#take((shell) => {
        stop = () => shell.stop();
        return stopped ? Promise.resolve(neverStarted) : shell.run(run);
      });
      void began.then(resolve);
    });
    return { done, stop: () => stop() };
  }

  #take(use: (shell: Shell) => Promise<ShellOutput>): Promise<ShellOutput> {
    if (this.#busy < this.#atMost) return this.#use(this.#idleOrNew(), use);
    return new Promise((resolve) => this.#queue.push((shell) => resolve(this.#use(shell, use))));
  }

  async #use(shell: Shell, use: (shell: Shell) => Promise<ShellOutput>): Promise<ShellOutput> {
    this.#busy += 1;
    const output = await use(shell);
    this.#busy -= 1;
    const next = this.#queue.shift();
    if (next !== undefined) next(shell.usable ? shell : this.#idleOrNew());
    else this.#giveBack(shell);
    return output;
  }

  #idleOrNew(): Shell {
    for (let shell = this.#idle.pop(); shell !== undefined; shell = this.#idle.pop()) if (shell.usable) return shell;
    return new Shell(this.#env);
  }

  #giveBack(shell: Shell): void {
    if (!shell.usable) return;
    if (this.#idle.length < keptIdle) this.#idle.push(shell);
    else shell.close();
  }
}

interface Waiting {
  readonly mark: string;
  readonly stdout: Collected;
  readonly stderr: Collected;
  readonly resolve: (output: ShellOutput) => void;
}

class Shell {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #secret = randomBytes(16).toString("hex");
  #count = 0;
  #waiting: Waiting | null = null;
  #ended = false;
  #stopped = false;

  constructor(env: NodeJS.ProcessEnv) {
    this.#child = spawn("/bin/sh", ["-s"], { cwd: "/", env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
    this.#child.stdout.on("data", (chunk: Buffer) => this.#hear("stdout", chunk));
    this.#child.stderr.on("data", (chunk: Buffer) => this.#hear("stderr", chunk));
    // What it could not be told ends it, and its end is an answer.
    this.#child.stdin.on("error", () => this.stop());
    this.#child.on("error", () => this.#end());
    this.#child.on("close", () => this.#end());
    this.#keepAlive(false);
  }

  get usable(): boolean {
    return !this.#ended && !this.#stopped && this.#waiting === null;
  }

  run(run: ShellRun): Promise<ShellOutput> {
    return new Promise((resolve) => {
      this.#count += 1;
      const mark = `\n${this.#secret}-${this.#count} `;
      const limit = run.maxBytes ?? Number.POSITIVE_INFINITY;
      const [stdout, stderr] = [new Collected(limit), new Collected(stderrBytes)];
      this.#waiting = { mark, stdout, stderr, resolve };
      if (this.#ended) return this.#end();
      this.#keepAlive(true);
      this.#child.stdin.write(scriptOf(run, mark));
    });
  }

  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#signal("SIGTERM");
    setTimeout(() => this.#signal("SIGKILL"), graceMs).unref();
  }

  close(): void {
    this.#child.stdin.end();
  }

  #hear(which: "stdout" | "stderr", chunk: Buffer): void {
    const waiting = this.#waiting;
    if (waiting === null) return;
    waiting[which].add(chunk);
    if (waiting.stdout.cut) this.stop();
    const code = waiting.stdout.codeAfter(waiting.mark);
    if (code === null || waiting.stderr.codeAfter(waiting.mark) === null) return;
    this.#settle(code);
  }

  #settle(code: number): void {
    const waiting = this.#waiting;
    if (waiting === null) return;
    this.#waiting = null;
    this.#keepAlive(false);
    const { stdout, stderr, mark } = waiting;
    waiting.resolve({ code, stdout: stdout.before(mark), stderr: stderr.before(mark), cut: stdout.cut });
  }

  #end(): void {
    this.#ended = true;
    this.#settle(killedCode);
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#ended || this.#child.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, signal);
    } catch (error) {
      if (codeOf(error) !== "ESRCH") throw error;
    }
  }

  /** A shell that waits for us must not be what we wait for. */
  #keepAlive(wanted: boolean): void {
    if (wanted) this.#child.ref();
    else this.#child.unref();
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) {
      if (stream instanceof Socket) wanted ? stream.ref() : stream.unref();
    }
  }
}

/** Output as it comes, up to a limit, and whether it ends with the mark. */
class Collected {
  readonly #limit: number;
  readonly #chunks: Buffer[] = [];
  #tail = Buffer.alloc(0);
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(chunk: Buffer): void {
    if (this.#size < this.#limit + markBytes) this.#chunks.push(chunk);
    this.#size += chunk.length;
    this.#tail = Buffer.concat([this.#tail, chunk]).subarray(-markBytes);
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
    const all = Buffer.concat(this.#chunks);
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
  const told = `printf '\\n%s %d\\n' ${quoted(mark.trim())} $s`;
  return `${scriptWithin(run)}\ns=$?; cd /; ${told}; ${told} >&2\n`;
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
