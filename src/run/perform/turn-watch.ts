import { addUsage, overBudget } from "../../core/budget.js";
import type { TurnEffect } from "../../core/issue/effects.js";
import type { Usage } from "../../core/issue/events.js";
import { type AgentEvent, linesFor, type StreamReader } from "../../core/ports/agent-event.js";
import { followLines } from "../../lib/follow-file.js";
import { stopProgram } from "../../lib/process/stop.js";
import type { LifeContext } from "../context.js";
import { filesOf } from "./turn-files.js";
import { callOf, programOf } from "./turn-program.js";

/** Why a turn was ended from outside, kept in its folder so that a successor tells the same story. */
export type StopWord = "timed-out" | "idle" | "stopped";

interface Watched<T> {
  readonly folder: string;
  /** Follows the program to its end. */
  readonly turn: Promise<T>;
}

/**
 * What an agent streams is read while it works: its session is recorded the moment it is known, and a budget that runs
 * out in the middle of a turn ends the turn. Who does not stream is only followed.
 */
export async function watchTurn<T>(life: LifeContext, effect: TurnEffect, { folder, turn }: Watched<T>): Promise<T> {
  const files = filesOf(folder);
  const reader = programOf(life, effect).reader?.(files);
  if (!reader) return await turn;
  const over = new AbortController();
  const stream = { folder, reader, stdout: files.stdout, signal: over.signal };
  // A broken watcher is told once the program has ended: it must not be left running with nobody to follow it.
  const [ended, watched] = await Promise.allSettled([
    turn.finally(() => over.abort()),
    watchStream(life, effect, stream),
  ]);
  if (ended.status === "rejected") throw ended.reason;
  if (watched.status === "rejected") throw watched.reason;
  return ended.value;
}

interface Stream {
  readonly folder: string;
  readonly reader: StreamReader;
  readonly stdout: string;
  readonly signal: AbortSignal;
}

async function watchStream(life: LifeContext, effect: TurnEffect, stream: Stream): Promise<void> {
  let stopping: Promise<void> | null = null;
  for await (const line of followLines(stream.stdout, stream.signal, linesFor(stream.reader))) {
    for (const event of stream.reader.line(line)) {
      if (event.type === "session") await tellSession(life, effect, event.id);
      if (event.type !== "usage" || stopping !== null || !isOver(life, effect, event)) continue;
      stopping = stopTurn(life, effect, { folder: stream.folder, why: "stopped" });
    }
  }
  await stopping;
}

/** A reviewer's session is of no use to anybody. */
async function tellSession(life: LifeContext, effect: TurnEffect, id: string): Promise<void> {
  if (effect.role === "reviewer" || life.state().turn?.session === id) return;
  await life.run.inbox.send(life.machine, { name: "session", turn: effect.key, id });
}

/** With what all running turns have used so far. */
function isOver(life: LifeContext, { key }: TurnEffect, { usage }: Extract<AgentEvent, { type: "usage" }>): boolean {
  const { settings, meter, clock } = life.run;
  life.live.set(key, usage);
  if (meter.running(key, usage) !== null) return true;
  if (life.trigger) return false;
  const { usage: spent, startedAt } = life.state();
  const sum = [...life.live.values()].reduce((total: typeof spent, one: Usage) => addUsage(total, one), spent);
  return overBudget(settings.budgets.issue, { ...sum, ms: clock.now() - startedAt }) !== null;
}

export async function stopTurn(
  life: LifeContext,
  effect: TurnEffect,
  { folder, why }: { readonly folder: string; readonly why: StopWord },
): Promise<void> {
  const { stopSignal } = callOf(life, effect, folder);
  await stopProgram(folder, { first: stopSignal, graceMs: 10_000, why });
}
