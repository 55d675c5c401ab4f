import type { RunEffect, RunEvent } from "../../core/run/effects.js";
import type { Settled } from "../../durable/types.js";
import type { RunContext } from "../context.js";
import { waitsForMerges } from "../unmerged.js";
import { dueEpics } from "./epics.js";
import { boardCursor, mayStart } from "./pick.js";

type BoardEffect = Extract<RunEffect, { readonly kind: "board" }>;

/** How often a tracker is asked that cannot tell by itself. */
const askAgainMs = 30_000;

/**
 * Waits until there is something to pick, or an epic to see to. Every change is looked at here first: one that brings
 * neither, such as the end of most issues, wakes nobody and is not recorded.
 */
export async function performBoard(
  run: RunContext,
  { key, not = [], epics, ...effect }: BoardEffect,
  signal: AbortSignal,
): Promise<Settled<RunEvent>> {
  for (let { cursor } = effect; ; ) {
    await change(run, cursor, signal);
    cursor = (await boardCursor(run)) ?? null;
    const due = epics ? { due: await dueEpics(run) } : {};
    if (due.due?.length || (await mayStart(run, not))) return { event: { type: "board-changed", key, ...due } };
    signal.throwIfAborted();
  }
}

/** Items of pull requests are on our own board, whatever the tracker. */
async function change(run: RunContext, cursor: number | null, signal: AbortSignal): Promise<void> {
  const { tracker, board, clock, projectId } = run;
  if (tracker.changed && cursor !== null && !(await waitsForMerges(run))) return await tracker.changed(cursor, signal);
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
