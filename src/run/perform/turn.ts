import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { reviewerSource } from "../../config/reviewer.js";
import type { TurnEffect } from "../../core/issue/effects.js";
import type { IssueEvent, Marker, ReviewOutcome, Snapshot, TurnEnded, TurnOutcome } from "../../core/issue/events.js";
import { hear, nothingSaid, type Said } from "../../core/issue/marker.js";
import type { Agent, ProgramCall, TurnFiles, TurnReading } from "../../core/ports/agent.js";
import type { Settled } from "../../durable/types.js";
import { putAt } from "../../git/worktree.js";
import { allowedEnvironment } from "../../lib/environment.js";
import { readJson, writeDurably } from "../../lib/files.js";
import { findProgram } from "../../lib/process/find.js";
import { followProgram } from "../../lib/process/follow.js";
import { startProgram } from "../../lib/process/start.js";
import { readRefusals } from "../attempt-notes.js";
import { attemptFolder, type LifeContext, runMachineId, takeSnapshot, worktreePath } from "../context.js";
import { renderPrompt } from "../prompt.js";
import { sandboxed } from "../sandbox.js";
import type { Release } from "../slots.js";
import { makeTemporaryFolder, temporaryFolder } from "../temporary.js";
import { filesOf } from "./turn-files.js";
import { agentOf, programOf, turnOf } from "./turn-program.js";
import { type StopWord, stopTurn, watchTurn } from "./turn-watch.js";

/**
 * One agent process, whatever its role. The attempt's folder is the only memory: a folder with an exit is harvested, a
 * living program is attached to, a vanished one is lost, an untouched folder starts. So an attempt has one process.
 */
export async function performTurn(
  life: LifeContext,
  effect: TurnEffect,
  signal: AbortSignal,
): Promise<Settled<IssueEvent>> {
  const folder = attemptFolder(life, effect.folder);
  const release = await takeSlot(life, effect, { folder, signal });
  try {
    const clock = await ensureStarted(life, effect, folder);
    const outcome = await watchTurn(life, effect, {
      folder,
      turn: follow(life, effect, { folder, until: clock.until, signal }),
    });
    const ended = await settle(life, effect, { folder, ...clock, outcome });
    return { event: await charge(life, adaptSlots(life, ended, clock.startedAt)) };
  } finally {
    life.live.delete(effect.key);
    release();
  }
}

/** A turn that is stopped before it has a place needs none: its folder says that it ended. */
async function takeSlot(
  life: LifeContext,
  effect: TurnEffect,
  { folder, signal }: { readonly folder: string; readonly signal: AbortSignal },
): Promise<Release> {
  const { state } = findProgram(folder);
  if (state === "running") return life.run.slots.force();
  if (state !== "none") return () => undefined;
  const pending = new AbortController();
  life.pending.set(effect.folder, pending);
  try {
    return await life.run.slots.acquire({
      issueId: life.issueId,
      turn: effect.role === "implementer" && effect.prompt === "implementer" ? "first" : "later",
      signal: AbortSignal.any([signal, pending.signal]),
    });
  } catch (error) {
    if (pending.signal.aborted) return () => undefined;
    throw error;
  } finally {
    life.pending.delete(effect.folder);
  }
}

interface Clocked {
  readonly until: number;
  readonly startedAt: number;
}

/** The turn's own clock is written down before the program starts, so that a re-attached turn keeps it. */
async function ensureStarted(life: LifeContext, effect: TurnEffect, folder: string): Promise<Clocked> {
  const clockFile = join(folder, "attempt.json");
  if (findProgram(folder).state !== "none") {
    const clock = await readJson(clockFile);
    const now = life.run.clock.now();
    return { until: numberIn(clock, "until") ?? now, startedAt: numberIn(clock, "started_at") ?? now };
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const startedAt = life.run.clock.now();
  const until = effect.until ?? startedAt + timeoutMs(life, effect);
  const turn = turnOf(life, effect, folder);
  const program = programOf(life, effect);
  const call = program.command(turn);
  const clock = JSON.stringify({ until, started_at: startedAt, stop_signal: call.stopSignal, effect });
  // All at once: most of it is waiting for the disk.
  await Promise.all([writePrompt(life, effect, folder), program.prepare?.(turn), writeDurably(clockFile, clock)]);
  const { stdout, stderr } = filesOf(folder);
  const env = await environmentOf(life, call);
  await startProgram({
    folder,
    argv: life.run.settings.agent.sandbox === "bwrap" ? sandboxed(call, turn.guard, { folder, env }) : call.argv,
    env,
    cwd: worktreePath(life),
    stdinFile: join(folder, "prompt.md"),
    stdoutFile: stdout,
    stderrFile: stderr,
  });
  return { until, startedAt };
}

async function writePrompt(life: LifeContext, effect: TurnEffect, folder: string): Promise<void> {
  await writeDurably(join(folder, "prompt.md"), await renderPrompt(life, effect, folder));
}

async function environmentOf(life: LifeContext, call: ProgramCall): Promise<Record<string, string>> {
  const visible = allowedEnvironment(life.run.env, call.inherit ?? life.run.settings.agent.env);
  if (!call.ownTemporary && life.run.settings.agent.sandbox === "none") return { ...visible, ...call.env };
  const temporary = temporaryFolder(life);
  await makeTemporaryFolder(temporary);
  return { ...visible, TMPDIR: temporary, ...call.env };
}

function timeoutMs(life: LifeContext, effect: TurnEffect): number {
  if (effect.role !== "reviewer") return life.run.settings.timeout_minutes * 60_000;
  const { reviewer } = reviewerSource(life.run.settings);
  const member = reviewer.panel.find(({ name }) => name === effect.slot) ?? reviewer;
  const own = life.run.reviewers.get(effect.slot ?? "")?.timeoutSeconds;
  return (own ?? member.agent_sdk_timeout) * 1000;
}

type Exited = { readonly type: "exited"; readonly code: number };

async function follow(
  life: LifeContext,
  effect: TurnEffect,
  { folder, until, signal }: { readonly folder: string; readonly until: number; readonly signal: AbortSignal },
): Promise<TurnOutcome | Exited> {
  const idle = effect.role === "reviewer" ? {} : { idleSeconds: life.run.settings.idle_timeout_seconds };
  const end = await followProgram(folder, { signal, timeoutAt: until, ...idle });
  switch (end.type) {
    case "aborted":
      throw signal.reason;
    case "lost":
      return { type: "lost" };
    case "exited":
      return end.stopped === null ? { type: "exited", code: end.code } : { type: toStopWord(end.stopped) };
    case "timed-out":
    case "idle":
      await stopTurn(life, effect, { folder, why: end.type });
      return { type: end.type };
  }
}

function toStopWord(word: string): StopWord {
  return word === "timed-out" || word === "idle" ? word : "stopped";
}

interface Ended {
  readonly folder: string;
  readonly until: number;
  readonly startedAt: number;
  readonly outcome: TurnOutcome | Exited;
}

async function settle(life: LifeContext, effect: TurnEffect, ended: Ended): Promise<TurnEnded> {
  const files = filesOf(ended.folder);
  const code = ended.outcome.type === "exited" ? ended.outcome.code : null;
  const reading = await programOf(life, effect).read(files, code);
  const outcome = ended.outcome.type === "exited" ? reading.outcome : ended.outcome;
  const base = {
    type: "turn-ended" as const,
    key: effect.key,
    outcome,
    sessionId: reading.sessionId,
    usage: reading.usage,
    seconds: Math.max(0, (life.run.clock.now() - ended.startedAt) / 1000),
    until: ended.until,
    ...(await refusalsIn(ended.folder)),
  };
  if (effect.role === "reviewer") {
    const review = outcome.type === "ended" ? await reviewOf(life, effect, reading) : null;
    return { ...base, snapshot: null, marker: null, review };
  }
  const said = outcome.type === "ended" ? await readMessage(agentOf(life, effect), files) : null;
  const marker = effect.role === "implementer" ? (said?.marker ?? null) : null;
  const rejected = said && said.rejected.length > 0 ? { rejected: said.rejected } : {};
  return { ...base, ...rejected, snapshot: await snapshotOf(life, effect, marker), marker, review: null };
}

/** What the guard refused: the agent read why, and so does whoever looks at the run. */
async function refusalsIn(folder: string): Promise<Pick<TurnEnded, "refused">> {
  let [count, last] = [0, ""];
  for await (const { reason } of readRefusals(folder)) [count, last] = [count + 1, reason];
  return count === 0 ? {} : { refused: { count, last: last.slice(0, 200) } };
}

/** An overload halves the places once for all turns that ran into it; a turn that went well gives one back. */
function adaptSlots({ run }: LifeContext, ended: TurnEnded, startedAt: number): TurnEnded {
  const { outcome } = ended;
  const overloaded = outcome.type === "transient" && outcome.overloaded === true;
  const now = run.clock.now();
  const agentsAtOnce = overloaded
    ? run.slots.shrink(startedAt, now)
    : outcome.type === "ended"
      ? run.slots.grow()
      : null;
  return agentsAtOnce === null ? ended : { ...ended, agentsAtOnce };
}

/** The run is told of a used-up budget before the turn counts: whoever harvests it again tells it again. */
async function charge(life: LifeContext, ended: TurnEnded): Promise<TurnEnded> {
  const { meter, inbox, runId } = life.run;
  const over = meter.add(ended.key, ended.usage);
  if (over === null) return ended;
  await inbox.send(runMachineId(runId), { name: "budget", reason: over });
  return { ...ended, runBudget: over };
}

/** A reviewer only reads: what it changed is put back, and its word does not count. */
async function reviewOf(
  life: LifeContext,
  effect: TurnEffect,
  reading: TurnReading & { readonly review?: ReviewOutcome | null },
): Promise<ReviewOutcome> {
  const changed = await putAt(worktreePath(life), effect.head);
  if (changed.length > 0) {
    return {
      type: "protocol",
      reason: `the reviewer changed the tree (${changed.slice(0, 3).join(", ")}); the changes were discarded`,
    };
  }
  const review = reading.review ?? { type: "protocol" as const, reason: "the reviewer gave no verdict" };
  if (review.type === "protocol") return review;
  return {
    ...review,
    findings: review.findings.map((one) => ({ ...one, file: fileIn(worktreePath(life), one.file) })),
  };
}

/** Findings name files of the repository, wherever a checkout of it is. */
function fileIn(worktree: string, file: string): string {
  return file.startsWith(`${worktree}/`) ? file.slice(worktree.length + 1) : file;
}

async function readMessage(agent: Agent, files: TurnFiles): Promise<Said> {
  let said = nothingSaid;
  for await (const line of agent.message(files)) said = hear(said, line);
  return said;
}

/** A worktree that cannot be read breaks the turn: nothing is judged that was not seen. */
async function snapshotOf(life: LifeContext, effect: TurnEffect, marker: Marker | null): Promise<Snapshot> {
  const named = marker?.name === "ALREADY_COMPLETE" ? /\b[0-9a-f]{7,64}\b/i.exec(marker.rationale)?.[0] : undefined;
  return await takeSnapshot(life, effect.base, named ?? null);
}

function numberIn(value: unknown, key: string): number | null {
  if (typeof value !== "object" || value === null || !(key in value)) return null;
  const found = (value as Record<string, unknown>)[key];
  return typeof found === "number" ? found : null;
}
