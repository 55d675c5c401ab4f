import type { RunEffect, RunEvent } from "../../core/run/effects.js";
import type { Settled } from "../../durable/types.js";
import type { RunContext } from "../context.js";

type BoardEffect = Extract<RunEffect, { readonly kind: "board" }>;

/** How often a tracker is asked that cannot tell by itself. */
const askAgainMs = 30_000;

/** Waits until it is worth asking for work again: items of pull requests are on our own board, whatever the tracker. */
export async function performBoard(
  run: RunContext,
  effect: BoardEffect,
  signal: AbortSignal,
): Promise<Settled<RunEvent>> {
  const { tracker } = run;
  const { cursor } = effect;
  if (tracker.changed && cursor !== null) await tracker.changed(cursor, signal);
  else await askAgain(run, cursor, signal);
  return { event: { type: "board-changed", key: effect.key } };
}

async function askAgain({ board, clock, projectId }: RunContext, cursor: number | null, signal: AbortSignal) {
  const enough = new AbortController();
  const either = AbortSignal.any([signal, enough.signal]);
  const waits = [clock.sleep(clock.now() + askAgainMs, either)];
  if (cursor !== null) waits.push(board.changed(projectId, cursor, either));
  try {
    await Promise.race(waits);
  } finally {
    enough.abort();
    await Promise.allSettled(waits);
  }
}
