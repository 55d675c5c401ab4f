import type { RunEffect, RunEvent } from "../../core/run/effects.js";
import type { Settled } from "../../durable/types.js";
import type { RunContext } from "../context.js";

type BoardEffect = Extract<RunEffect, { readonly kind: "board" }>;

/** How often a tracker is asked that cannot tell by itself. */
const askAgainMs = 30_000;

/** Waits until it is worth asking for work again. */
export async function performBoard(
  run: RunContext,
  effect: BoardEffect,
  signal: AbortSignal,
): Promise<Settled<RunEvent>> {
  const { tracker, clock } = run;
  if (tracker.changed && effect.cursor !== null) await tracker.changed(effect.cursor, signal);
  else await clock.sleep(clock.now() + askAgainMs, signal);
  return { event: { type: "board-changed", key: effect.key } };
}
