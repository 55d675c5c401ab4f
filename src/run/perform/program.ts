import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TurnEnded, TurnOutcome } from "../../core/issue/events.js";
import type { Agent, ProgramCall, Reviewer } from "../../core/ports/agent.js";
import { allowedEnvironment } from "../../lib/environment.js";
import { messageOf } from "../../lib/errors.js";
import { flushFiles, isMissing, readJson } from "../../lib/files.js";
import { findProgram } from "../../lib/process/find.js";
import { followProgram } from "../../lib/process/follow.js";
import { startProgram } from "../../lib/process/start.js";
import { readRefusals, refusalsFile } from "../attempt-notes.js";
import { sandboxed } from "../sandbox.js";
import type { Release } from "../slots.js";
import { makeTemporaryFolder } from "../temporary.js";
import type { ProgramRun, ProgramTurn, StopWord } from "./program-turn.js";
import { redactReading } from "./redacted.js";
import { stopTurn, watchTurn } from "./turn-watch.js";

export interface ProgramEnded<P extends Agent | Reviewer> {
  readonly outcome: TurnOutcome;
  readonly reading: Awaited<ReturnType<P["read"]>>;
  readonly until: number;
  readonly seconds: number;
  readonly refused?: NonNullable<TurnEnded["refused"]>;
  readonly agentsAtOnce?: number;
  readonly unbegun?: true;
}

/**
 * One agent process, whatever its role. The attempt's folder is the only memory: a folder with an exit is harvested, a
 * living program is attached to, a vanished one is lost, an untouched folder starts. So an attempt has one process.
 * `settle` runs while the place is still held: what it looks at is as the turn left it.
 */
export async function performProgram<T>(
  run: ProgramRun,
  turn: ProgramTurn,
  {
    signal,
    settle,
  }: { readonly signal: AbortSignal; readonly settle: (ended: ProgramEnded<Agent | Reviewer>) => Promise<T> },
): Promise<T> {
  const release = await takeSlot(run, turn, signal);
  try {
    const clock = await ensureStarted(run, turn);
    const ended = await watchTurn(turn, follow(turn, clock.until, signal));
    const unkept = await clock.kept;
    if (unkept !== null) throw unkept;
    return await settle(await read(run, turn, { ...clock, ended }));
  } finally {
    turn.onEnd?.();
    release();
  }
}

/** A turn that is stopped before it begins is never started: its folder says that it ended. */
async function takeSlot(run: ProgramRun, turn: ProgramTurn, signal: AbortSignal): Promise<Release> {
  const { state } = findProgram(turn.folder);
  if (state === "running") return run.slots.force(turn.place.issueId);
  if (state !== "none") return () => undefined;
  const release = run.slots.takeKept(turn.place.issueId) ?? (await waitForSlot(run, turn, signal));
  if (await turn.mayNotBegin?.()) await stopTurn(turn, "stopped");
  return release;
}

async function waitForSlot(run: ProgramRun, turn: ProgramTurn, signal: AbortSignal): Promise<Release> {
  const pending = new AbortController();
  turn.pending.set(turn.name, pending);
  try {
    return await run.slots.acquire({ ...turn.place, signal: AbortSignal.any([signal, pending.signal]) });
  } catch (error) {
    if (pending.signal.aborted) return () => undefined;
    throw error;
  } finally {
    turn.pending.delete(turn.name);
  }
}

interface Clocked {
  readonly until: number;
  readonly startedAt: number;
  /** Its files are on the disk (null), or cannot be put there. Nothing that speaks of them is recorded before. */
  readonly kept: Promise<Error | null>;
}

/**
 * The turn's own clock is written down before the program starts, so that a re-attached turn keeps it. The disk is not
 * waited for meanwhile: what loses these files, the end of the whole machine, ends the program too.
 */
async function ensureStarted(run: ProgramRun, turn: ProgramTurn): Promise<Clocked> {
  const { folder, program } = turn;
  const clockFile = join(folder, "attempt.json");
  if (findProgram(folder).state !== "none") {
    const clock = await readJson(clockFile);
    const now = run.clock.now();
    const kept = keep(
      folder,
      ["attempt.json", "prompt.md"].filter((name) => !isMissing(join(folder, name))),
    );
    return { until: numberIn(clock, "until") ?? now, startedAt: numberIn(clock, "started_at") ?? now, kept };
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const startedAt = run.clock.now();
  const until = turn.until ?? startedAt + turn.timeoutMs;
  const call = program.command(turn.turn);
  const clock = JSON.stringify({ until, started_at: startedAt, stop_signal: call.stopSignal, effect: turn.note });
  // Nobody reads them before the program starts; whoever is killed meanwhile has them written again.
  writeFileSync(clockFile, clock, { mode: 0o600 });
  writeFileSync(join(folder, "prompt.md"), await turn.prompt(), { mode: 0o600 });
  await program.prepare?.(turn.turn);
  const env = await environmentOf(run, turn, call);
  const { cwd, guard, files } = turn.turn;
  await startProgram({
    folder,
    argv: run.settings.agent.sandbox === "bwrap" ? sandboxed(call, guard, { folder, env }) : call.argv,
    env,
    cwd,
    stdinFile: join(folder, "prompt.md"),
    stdoutFile: files.stdout,
    stderrFile: files.stderr,
  });
  return { until, startedAt, kept: keep(folder, ["attempt.json", "prompt.md"]) };
}

/** Never rejects: whoever waits for it looks at the program first. */
function keep(folder: string, names: readonly string[]): Promise<Error | null> {
  const failed = (error: unknown) => (error instanceof Error ? error : new Error(messageOf(error)));
  return flushFiles(folder, names).then(() => null, failed);
}

async function environmentOf(run: ProgramRun, turn: ProgramTurn, call: ProgramCall): Promise<Record<string, string>> {
  const visible = allowedEnvironment(run.env, call.inherit ?? run.settings.agent.env);
  if (!call.ownTemporary && run.settings.agent.sandbox === "none") return { ...visible, ...call.env };
  await makeTemporaryFolder(turn.temporary);
  return { ...visible, TMPDIR: turn.temporary, ...call.env };
}

type Exited = { readonly type: "exited"; readonly code: number };

async function follow(turn: ProgramTurn, until: number, signal: AbortSignal): Promise<TurnOutcome | Exited> {
  const idle = turn.idleSeconds === null ? {} : { idleSeconds: turn.idleSeconds };
  const end = await followProgram(turn.folder, { signal, timeoutAt: until, ...idle });
  switch (end.type) {
    case "aborted":
      throw signal.reason;
    case "lost":
      return { type: "lost" };
    case "exited":
      return end.stopped === null ? { type: "exited", code: end.code } : { type: toStopWord(end.stopped) };
    case "timed-out":
    case "idle":
      await stopTurn(turn, end.type);
      return { type: end.type };
  }
}

function toStopWord(word: string): StopWord {
  return word === "timed-out" || word === "idle" ? word : "stopped";
}

async function read(
  run: ProgramRun,
  { program, turn, folder }: ProgramTurn,
  { ended, until, startedAt }: Clocked & { readonly ended: TurnOutcome | Exited },
): Promise<ProgramEnded<Agent | Reviewer>> {
  const { redact } = run;
  const told = await program.read(turn.files, ended.type === "exited" ? ended.code : null);
  const reading = await redactReading(told, { redact, folder });
  const outcome = ended.type === "exited" ? reading.outcome : ended;
  const seconds = Math.max(0, (run.clock.now() - startedAt) / 1000);
  const slots = adaptSlots(run, outcome, startedAt);
  // The clock is written down before anything is started.
  const unbegun =
    outcome.type === "stopped" && isMissing(join(folder, "attempt.json")) ? { unbegun: true as const } : {};
  return { outcome, reading, until, seconds, ...(await refusalsIn(folder, redact)), ...slots, ...unbegun };
}

/** What the guard refused: the agent read why, and so does whoever looks at the run. */
async function refusalsIn(folder: string, redact: ProgramRun["redact"]): Promise<Pick<TurnEnded, "refused">> {
  if (isMissing(refusalsFile(folder))) return {};
  let [count, last] = [0, ""];
  for await (const { reason } of readRefusals(folder)) [count, last] = [count + 1, reason];
  return count === 0 ? {} : { refused: { count, last: redact(last).slice(0, 200) } };
}

/** An overload halves the places once for all turns that ran into it; a turn that went well gives one back. */
function adaptSlots({ slots, clock }: ProgramRun, outcome: TurnOutcome, startedAt: number) {
  const overloaded = outcome.type === "transient" && outcome.overloaded === true;
  const agentsAtOnce = overloaded
    ? slots.shrink(startedAt, clock.now())
    : outcome.type === "ended"
      ? slots.grow()
      : null;
  return agentsAtOnce === null ? {} : { agentsAtOnce };
}

function numberIn(value: unknown, key: string): number | null {
  if (typeof value !== "object" || value === null || !(key in value)) return null;
  const found = (value as Record<string, unknown>)[key];
  return typeof found === "number" ? found : null;
}
