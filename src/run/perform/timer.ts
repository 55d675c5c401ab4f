import type { TimerEffect } from "../../core/issue/effects.js";
import type { Clock } from "../../core/ports/clock.js";
import type { Settled } from "../../durable/types.js";

/** `until` is absolute: a timer that ran out while nobody was there fires at once. */
export async function performTimer(
  clock: Clock,
  effect: TimerEffect,
  signal: AbortSignal,
): Promise<Settled<{ readonly type: "timer-fired"; readonly key: string }>> {
  await clock.sleep(effect.until, signal);
  return { event: { type: "timer-fired", key: effect.key } };
}
