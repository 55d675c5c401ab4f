import type { TimerEffect } from "../../core/issue/effects.js";
import type { Settled } from "../../durable/types.js";
import type { WorkflowEvent } from "../../workflow/machine/events.js";
import type { Inbox, RunContext } from "../context.js";
import { performTimer } from "../perform/timer.js";

interface Timing {
  readonly run: Pick<RunContext, "clock"> & { readonly inbox: Pick<Inbox, "isEmpty"> };
  readonly machine: { readonly id: string };
}

/**
 * A time that is up. What was said before counts, though nobody was there to read it: a gate that was answered in time
 * while its workflow was down is answered, however late the workflow goes on.
 */
export async function performStageTimer(
  { run: { clock, inbox }, machine }: Timing,
  effect: TimerEffect,
  signal: AbortSignal,
): Promise<Settled<WorkflowEvent>> {
  const fired = await performTimer(clock, effect, signal);
  while (!(await inbox.isEmpty(machine.id))) await clock.sleep(clock.now() + 20, signal);
  return fired;
}
