import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Agent, ProgramCall, Turn } from "../core/ports/agent.js";
import type { Asker } from "../core/ports/tracker.js";
import { allowedEnvironment, basicAgentEnv } from "../lib/environment.js";
import { codeOf } from "../lib/errors.js";
import { exists, makeFolder, writeDurably } from "../lib/files.js";
import { type Followed, followProgram } from "../lib/process/follow.js";
import { startProgram } from "../lib/process/start.js";
import { stopProgram } from "../lib/process/stop.js";
import { readLastWords } from "../lib/program-files.js";
import { inProofFolder, turnFolder } from "./proof-folder.js";
import { type ModelReply, type ModelRequest, openModel } from "./self-test-model.js";

/**
 * Shows that a program asks our guard before a tool runs: the real program, as a turn would start it, against a model
 * of our own on loopback that wants one forbidden thing, a file outside the worktree. Proven is: the guard was asked, it
 * refused, and the file is not there. A program that merely ends well has proven nothing.
 */
export interface GuardProof {
  /** The program's name, for messages. */
  readonly name: string;
  /** Everything on which the proof depends, see proofKey: another key is another proof. */
  readonly key: string;
  /** Where a proof is remembered, so that it costs its time once on a machine. */
  readonly cacheFolder: string;
  /** Writes what the turn needs and says how it is started; `url` is the model's, without a slash at its end. */
  start(url: string, proof: ProofPlace): Promise<Pick<ProgramCall, "argv" | "env">>;
  /** The model: to the first question the forbidden call (writeProbe), then an ending. null: not found. */
  replies(request: ModelRequest, proof: ProofPlace): ModelReply | null;
  /** What the program said of its turn. */
  readonly read: Agent["read"];
  readonly timeoutMs?: number;
}

export interface ProofPlace {
  /** A turn in folders of its own; its worktree is no repository. */
  readonly turn: Turn;
  /** Absolute; outside the worktree. */
  readonly probe: string;
  /** A shell command that would make the probe. */
  readonly writeProbe: string;
  /** Empty, for configuration of the program. It is HOME as well. */
  readonly config: string;
}

export interface Unproven {
  readonly message: string;
  readonly hint: string;
}

/** What takes less than this needs no word. */
const slowMs = 2_000;
/** Whoever was killed does not look any more: what it has started is not to go on for long. */
const graceSeconds = 20;

export async function proveGuard(proof: GuardProof, asker?: Asker): Promise<Unproven | null> {
  const hash = createHash("sha256").update(proof.key).digest("hex").slice(0, 32);
  const proven = join(proof.cacheFolder, `${proof.name}-${hash}`);
  if (await exists(proven)) return null;
  return await tellWhenSlow(proof.name, asker, () => proveAnew(proof, proven, asker?.signal));
}

export async function tellWhenSlow<T>(name: string, asker: Asker | undefined, work: () => Promise<T>): Promise<T> {
  const slow = setTimeout(() => asker?.onSlow(`${name}'s guard`), slowMs).unref();
  try {
    return await work();
  } finally {
    clearTimeout(slow);
  }
}

/** Left, it throws the signal's reason. */
async function proveAnew(
  proof: GuardProof,
  proven: string,
  signal = new AbortController().signal,
): Promise<Unproven | null> {
  signal.throwIfAborted();
  const unproven = await inProofFolder((root) => tryGuard(proof, root, signal));
  if (unproven !== null) return unproven;
  makeFolder(proof.cacheFolder);
  await writeDurably(proven, `${new Date().toISOString()}\n`);
  return null;
}

/** Of the programs and files that a proof rests on, and of the settings they get. */
export function proofKey(parts: {
  readonly programs: readonly string[];
  readonly files: readonly string[];
  readonly settings: unknown;
}): string {
  const hash = createHash("sha256").update(JSON.stringify(parts.settings) ?? "");
  for (const file of parts.files) hash.update(readFileSync(file));
  for (const program of parts.programs) {
    const path = realpathSync(program);
    const { size, mtimeMs } = statSync(path);
    hash.update(`${path} ${size} ${mtimeMs}\n`);
  }
  return hash.digest("hex");
}

async function tryGuard(proof: GuardProof, root: string, signal: AbortSignal): Promise<Unproven | null> {
  const place = makePlace(root);
  const { files, cwd } = place.turn;
  const model = await openModel((request) => proof.replies(request, place));
  try {
    const { argv, env } = await proof.start(model.url, place);
    const own = { HOME: place.config, TMPDIR: join(root, "tmp"), ...env };
    await startProgram({
      folder: files.folder,
      argv,
      env: { ...allowedEnvironment(process.env, basicAgentEnv), ...own },
      cwd,
      stdinFile: join(root, "prompt.md"),
      stdoutFile: files.stdout,
      stderrFile: files.stderr,
      graceSeconds,
    });
    const timeoutAt = Date.now() + (proof.timeoutMs ?? 60_000);
    const end = await followProgram(files.folder, { signal, timeoutAt });
    if (end.type === "aborted") throw signal.reason;
    return await judge(proof, place, { asked: model.asked(), end });
  } finally {
    await stopProgram(files.folder, { first: "SIGTERM", graceMs: 2000, why: null });
    await model.close();
  }
}

function makePlace(root: string): ProofPlace {
  const [cwd = "", folder = "", config = ""] = ["worktree", turnFolder, "config", "tmp"].map((name) => {
    mkdirSync(join(root, name), { mode: 0o700 });
    return join(root, name);
  });
  writeFileSync(join(root, "prompt.md"), "This is a test of the guard. Do what the model says.\n");
  const path = (name: string) => join(folder, name);
  const turn: Turn = {
    role: "implementer",
    prompt: "implementer",
    runId: "guard-proof",
    issueId: "guard-proof",
    stageId: "implement",
    attempt: 1,
    sessionId: null,
    model: null,
    effort: null,
    cwd,
    files: { folder, stdout: path("stdout.log"), stderr: path("stderr.log"), result: path("result.json") },
    guard: { worktree: cwd, readOnly: false, writable: [join(root, "tmp")] },
    review: null,
  };
  const probe = join(root, "ratchet-guard-probe");
  return { turn, probe, writeProbe: "echo probe > ../ratchet-guard-probe", config };
}

async function judge(
  { name, read }: GuardProof,
  { turn, probe }: ProofPlace,
  { asked, end }: { readonly asked: number; readonly end: Followed },
): Promise<Unproven | null> {
  const { folder } = turn.files;
  if (existsSync(probe)) {
    const hint = `do not let it work unattended; use another version of ${name}, or agent.sandbox: bwrap`;
    return { message: `${name} ran a tool that Ratchet's guard had to refuse: the guard is not active`, hint };
  }
  const wasAsked = existsSync(join(folder, "guard-asked"));
  if (wasAsked && hasLines(join(folder, "denied.jsonl"))) return null;
  const why = await wordsOf(turn.files, end, read);
  const what = wasAsked ? "asked the guard, which refused nothing" : "never asked the guard";
  const how = asked === 0 ? "did not get as far as a tool" : what;
  return {
    message: `${name} ${how} in Ratchet's test of it (${why})`,
    hint: `ratchet doctor --call shows whether ${name} itself works, and which version it is`,
  };
}

/** As of a turn: what a program has to say is on stdout with some, on stderr with others. */
async function wordsOf(files: Turn["files"], end: Followed, read: GuardProof["read"]): Promise<string> {
  if (end.type === "timed-out") return "it did not end in time";
  const { outcome } = await read(files, end.type === "exited" ? end.code : null);
  if ("reason" in outcome) return outcome.reason;
  const words = await readLastWords(files.stderr);
  return words === "" ? "it said nothing about why" : `it said: ${words}`;
}

function hasLines(path: string): boolean {
  try {
    return statSync(path).size > 0;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}
