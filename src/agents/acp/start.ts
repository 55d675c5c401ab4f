import { type ChildProcess, spawn } from "node:child_process";
import { Connection, type Peer } from "./connection.js";
import { ProgramGone } from "./failure.js";

export interface Running {
  readonly connection: Connection;
  /** Ends the program: its input first, as clients do, then by signal. */
  end(graceMs: number): Promise<void>;
}

interface Start {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly peer: Peer;
  /** Where its stderr goes; absent: nowhere. */
  readonly complain?: (chunk: Buffer) => void;
}

const longestWords = 4096;

/** Starts a program that speaks ACP. What it says on stderr is passed on, and its last line told when it is gone. */
export function startAcpProgram(command: readonly [string, ...string[]], { cwd, env, peer, complain }: Start): Running {
  const [program, ...args] = command;
  const child = spawn(program, args, { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
  const connection = new Connection({ input: child.stdout, output: child.stdin, peer });
  let words = "";
  child.stderr.on("data", (chunk: Buffer) => {
    complain?.(chunk);
    words = `${words}${chunk.toString("utf8")}`.slice(-longestWords);
  });
  child.on("error", (error) => connection.fail(new ProgramGone(`${program} could not be started: ${error.message}`)));
  // "close": everything it wrote has been read by then, an answer that it gave while leaving too.
  child.on("close", (code, signal) => connection.fail(new ProgramGone(goneReason(code, signal, words))));
  return { connection, end: (graceMs) => end(child, graceMs) };
}

function goneReason(code: number | null, signal: string | null, words: string): string {
  const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
  const last = words.split("\n").findLast((line) => line.trim() !== "");
  return `the program ended ${how}${last === undefined ? "" : `: ${last.trim().slice(0, 300)}`}`;
}

async function end(child: ChildProcess, graceMs: number): Promise<void> {
  const isGone = () => child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
  if (isGone()) return;
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.stdin?.end();
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    if (await within(gone, graceMs)) return;
    child.kill(signal);
  }
  await within(gone, graceMs);
}

async function within(gone: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const isGone = await Promise.race([gone.then(() => true), late]);
  clearTimeout(timer);
  return isGone;
}
