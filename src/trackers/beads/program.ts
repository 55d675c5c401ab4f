import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { Asker } from "../../core/ports/tracker.js";
import { askTracker } from "../../lib/ask.js";
import { type BeadsProgram, findBeads } from "../../lib/beads-program.js";
import { commandEnvironment } from "../../lib/environment.js";
import { ExternalError, messageOf } from "../../lib/errors.js";
import { endGroup, endWithUs, noteCall } from "./calls.js";
import { readErrorText } from "./read.js";

/**
 * The program that keeps the issues, `bd` or `br`. Texts go to it as arguments of their own, never through a shell. A
 * call that fails is tried again, and then it is an error with the program's own words: nothing is concluded from it.
 */
export interface Beads {
  readonly program: BeadsProgram;
  call(args: readonly string[], options?: CallOptions): Promise<Answer>;
  /** Whether an id can be given to the program: one that begins with a dash is an option to it. One that cannot is told. */
  canName(id: string): boolean;
  /** How a call is named in messages. */
  nameOf(args: readonly string[]): string;
  /** Waits for something besides; ended by the asker, that is a call that failed. */
  wait<T>(what: string, work: (signal: AbortSignal | undefined) => Promise<T>): Promise<T>;
}
interface CallOptions {
  /** Who does it, for the tracker's claims and its history. */
  readonly actor?: string;
  readonly tries?: number;
  /** Failures that say something about the issue: returned, not tried again. */
  readonly isAnswer?: (failure: Answer) => boolean;
}
export interface Answer {
  readonly code: number;
  /** What it was killed by; then the code is not its own. */
  readonly killedBy?: string;
  readonly stdout: string;
  /** What the program said about its failure, on one line; "" where it said nothing. */
  readonly words: string;
  /** All that it printed, for whoever looks for a word in it: the line that says why may be any. */
  readonly said: string;
}

export interface BeadsPlace {
  /** The repository whose issues they are. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where this machine's calls are noted while they run. */
  readonly callFolder?: string;
  /** Hears what a person should know, maybe more than once. */
  readonly warn?: (text: string) => void;
}

const timeoutMs = 60_000;
/** For a program that nobody waits for any more to end by itself. */
const graceMs = 500;
const pausesMs = [250, 1000];
const noProgram = "neither bd nor br is on PATH";
const hint = "install beads (bd, or its port br), or choose another tracker: tracker: {type: local}";

/** Why there is no tracker to ask, with a hint; null: there is one. */
export function missingBeads(place: BeadsPlace): { readonly message: string; readonly hint: string } | null {
  return findBeads(place) === null ? { message: `tracker.type beads: ${noProgram}`, hint } : null;
}

/** `asker`: who may leave before there is an answer; null: nobody does. */
export function openBeads(place: BeadsPlace, asker: Asker | null = null): Beads {
  const found = findBeads(place);
  const program = found?.name ?? "bd";
  const nameOf = ([command = "", subject = "-"]: readonly string[]): string => {
    const issue = command === "create" || subject.startsWith("-") ? [] : [subject];
    return [program, command, ...issue].join(" ");
  };
  return {
    program,
    nameOf,
    canName: (id) => {
      const can = !id.startsWith("-");
      if (!can) place.warn?.(`${id} is no id that ${program} can be asked about: it begins with a dash`);
      return can;
    },
    wait: (what, work) => askTracker(what, asker, work),
    call: (args, { actor, tries = pausesMs.length + 1, isAnswer = () => false } = {}) =>
      askTracker(nameOf(args), asker, async (signal) => {
        if (found === null) throw new ExternalError("tracker", noProgram, { retryable: true, hint });
        const argv = [...args, ...(actor === undefined ? [] : [`--actor=${actor}`]), "--json"];
        for (let failures = 1; ; failures++) {
          const answer = await run(found.path, argv, { ...place, signal });
          if (answer.code === 0 || isAnswer(answer)) return answer;
          if (failures >= tries) throw callFailed(nameOf(args), answer);
          await pauseAfter(failures, signal);
        }
      }),
  };
}

/** Before another try. */
export async function pauseAfter(failures: number, signal: AbortSignal | undefined): Promise<void> {
  await delay(pausesMs[failures - 1] ?? pausesMs.at(-1), undefined, signal ? { signal } : {});
}

export function callFailed(call: string, { code, killedBy, words }: Answer): ExternalError {
  const how = killedBy === undefined ? `failed (exit code ${code})` : `was killed (${killedBy})`;
  return new ExternalError("tracker", `${call} ${code === noAnswer ? late : how}${words === "" ? "" : `: ${words}`}`, {
    retryable: true,
  });
}
const noAnswer = -1;
const late = `gave no answer within ${timeoutMs / 1000} s`;

interface Started extends BeadsPlace {
  readonly signal: AbortSignal | undefined;
}

async function run(path: string, argv: readonly string[], { cwd, env, callFolder, signal }: Started): Promise<Answer> {
  const noted = noteCall(callFolder ?? null);
  // A NUL cannot be part of an argument.
  const child = spawn(
    path,
    argv.map((each) => each.replaceAll("\0", "")),
    {
      cwd,
      env: { ...commandEnvironment(env, ["BD_*", "BEADS_*", "BR_*"]), ...noted.env },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const forget = endWithUs(child.pid);
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    endGroup(child.pid, "SIGKILL");
  }, timeoutMs);
  const leaving = endOnAbort(child.pid, signal);
  try {
    const { code, ...how } = await ended(child, path);
    // What it says when it is ended is no answer.
    signal?.throwIfAborted();
    return { code: isLate ? noAnswer : code, ...how, stdout: stdout(), ...wordsOf(code, stdout(), stderr()) };
  } finally {
    clearTimeout(timer);
    leaving.close();
    forget();
    noted.forget();
  }
}

/** Ends the program and what it has started; what is in the middle of writing gets a moment. */
function endOnAbort(pid: number | undefined, signal: AbortSignal | undefined): { close(): void } {
  let kill: NodeJS.Timeout | undefined;
  const leave = (): void => {
    endGroup(pid, "SIGTERM");
    kill = setTimeout(() => endGroup(pid, "SIGKILL"), graceMs);
  };
  signal?.addEventListener("abort", leave, { once: true });
  return {
    close: () => {
      signal?.removeEventListener("abort", leave);
      if (kill === undefined) return;
      clearTimeout(kill);
      // The program may have ended without what it had started.
      endGroup(pid, "SIGKILL");
    },
  };
}

function collect(stream: Readable): () => string {
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString("utf8");
}

type Ended = Pick<Answer, "code" | "killedBy">;

/** A helper that the program leaves in the background may keep the pipes open: its exit counts, not their end. */
function ended(child: ChildProcessByStdio<null, Readable, Readable>, path: string): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const settle = (code: number | null, signal: NodeJS.Signals | null): void => {
      child.stdout.destroy();
      child.stderr.destroy();
      resolve({ code: code ?? 1, ...(signal === null ? {} : { killedBy: signal }) });
    };
    child.once("close", settle);
    child.once("exit", (code, signal) => setTimeout(() => settle(code, signal), drainMs).unref());
    child.once("error", (error) => {
      reject(
        new ExternalError("tracker", `${path} cannot be started: ${messageOf(error)}`, {
          retryable: true,
          cause: error,
        }),
      );
    });
  });
}
const drainMs = 1000;

const wordsMax = 300;

/** Some say on stdout why they failed. What a success prints there is its answer. */
function wordsOf(code: number, stdout: string, stderr: string): Pick<Answer, "words" | "said"> {
  const printed = stderr.trim() === "" && code !== 0 ? stdout : stderr;
  const words = readErrorText(stdout) ?? readErrorText(stderr) ?? tellingLine(printed);
  return { words: words.replace(/\s+/g, " ").trim().slice(0, wordsMax), said: `${stdout}\n${stderr}` };
}

/** The line that says it is an error; a hint may stand below it. Else the last one. */
function tellingLine(text: string): string {
  const lines = text.split("\n").filter((each) => each.trim() !== "");
  return lines.find((each) => /^\W*(error|fatal)\b/i.test(each)) ?? lines.at(-1) ?? "";
}
