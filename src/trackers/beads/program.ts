import { spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { commandEnvironment } from "../../lib/environment.js";
import { codeOf, ExternalError, messageOf } from "../../lib/errors.js";
import { findExecutable } from "../../lib/executable.js";
import { readErrorText } from "./read.js";

/**
 * The program that keeps the issues, `bd` or `br`. Texts go to it as arguments of their own, never through a shell. A
 * call that fails is tried again, and then it is an error with the program's own words: nothing is concluded from it.
 */
export interface Beads {
  /** Its answer. `reads` decides which failures are an answer too: they are returned, not tried again. */
  call(args: readonly string[], more?: CallOptions): Promise<Answer>;
  /** How a call is named in messages. */
  nameOf(args: readonly string[]): string;
}
export interface CallOptions {
  /** Who does it, for the tracker's history and its claims. */
  readonly actor?: string;
  readonly tries?: number;
  readonly isAnswer?: (failure: Answer) => boolean;
}
export interface Answer {
  readonly code: number;
  readonly stdout: string;
  /** What the program said about its failure, on one line; "" where it said nothing. */
  readonly words: string;
}

export interface BeadsOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const names = ["bd", "br"];
const timeoutMs = 60_000;
const pausesMs = [250, 1000];
const hint = "install beads (bd, or its port br), or choose another tracker: tracker: {type: local}";

/** Why there is no tracker to ask, with a hint; null: there is one. */
export function missingBeads({ env, cwd }: BeadsOptions): { readonly message: string; readonly hint: string } | null {
  return findBeads(env, cwd) === null ? { message: "tracker.type beads: neither bd nor br is on PATH", hint } : null;
}

function findBeads(env: BeadsOptions["env"], cwd: string): { name: string; path: string } | null {
  for (const name of names) {
    const seen = findExecutable(name, env.PATH ?? "", cwd);
    if (seen.state === "found") return { name, path: seen.path };
  }
  return null;
}

export function openBeads(options: BeadsOptions): Beads {
  const found = findBeads(options.env, options.cwd);
  const nameOf = (args: readonly string[]): string => [found?.name ?? "bd", ...args.slice(0, 2)].join(" ");
  return {
    nameOf,
    call: async (args, { actor, tries = pausesMs.length + 1, isAnswer = () => false } = {}) => {
      if (found === null) throw new ExternalError("tracker", "neither bd nor br is on PATH", { hint });
      const argv = [...(actor === undefined ? [] : [`--actor=${actor}`]), ...args, "--json"];
      for (let pause = 0; ; pause++) {
        const answer = await run(found.path, argv, options);
        if (answer.code === 0 || isAnswer(answer)) return answer;
        if (pause + 1 >= tries) throw failure(nameOf(args), answer);
        await delay(pausesMs[pause] ?? 1000);
      }
    },
  };
}

function failure(call: string, { code, words }: Answer): ExternalError {
  const how = code === timedOut ? `gave no answer within ${timeoutMs / 1000} s` : `failed (exit code ${code})`;
  return new ExternalError("tracker", `${call} ${how}${words === "" ? "" : `: ${words}`}`, { retryable: true });
}
const timedOut = -1;

/** A background helper that the program leaves behind may keep the pipes open: the exit counts, not their end. */
const drainMs = 500;

function run(path: string, argv: readonly string[], { cwd, env }: BeadsOptions): Promise<Answer> {
  return new Promise((resolve, reject) => {
    // A NUL cannot be part of an argument.
    const child = spawn(path, argv.map((each) => each.replaceAll("\0", "")), {
      cwd,
      env: commandEnvironment(env, ["BD_*", "BEADS_*", "BR_*"]),
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const output: Buffer[] = [];
    const errors: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      endGroup(child.pid);
    }, timeoutMs);
    const settle = (code: number): void => {
      clearTimeout(timer);
      child.stdout.destroy();
      child.stderr.destroy();
      const stdout = Buffer.concat(output).toString("utf8");
      const stderr = Buffer.concat(errors).toString("utf8");
      resolve({ code: late ? timedOut : code, stdout, words: readErrorText(stdout) ?? lastLine(stderr) });
    };
    child.once("error", (error) => {
      clearTimeout(timer);
      reject(new ExternalError("tracker", `${path} cannot be started: ${messageOf(error)}`, { cause: error }));
    });
    child.once("close", (code) => settle(code ?? 1));
    child.once("exit", (code) => void delay(drainMs, undefined, { ref: false }).then(() => settle(code ?? 1)));
  });
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (codeOf(error) !== "ESRCH") throw error;
  }
}

function lastLine(text: string): string {
  const line = text.split("\n").findLast((each) => each.trim() !== "");
  return line === undefined ? "" : line.trim().slice(0, 300);
}
