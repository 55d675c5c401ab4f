import type { RunEffect, RunEvent } from "../../core/run/effects.js";
import type { Settled } from "../../durable/types.js";
import type { RunContext } from "../context.js";
import { seeMerges } from "../unmerged.js";
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
  for (let { cursor } = effect, isFirst = true; ; isFirst = false) {
    // Seen before the look, so that no merge slips in between.
    const merges = await seeMerges(run);
    if (!isFirst) cursor = (await boardCursor(run)) ?? null;
    // An epic that is due is looked for after a change alone: it may be one that was seen to in vain.
    const due = epics && !isFirst ? { due: await dueEpics(run) } : {};
    // Of a merge since the last pick nobody tells.
    const looks = !isFirst || merges !== null;
    if (due.due?.length || (looks && (await mayStart(run, not)))) {
      return { event: { type: "board-changed", key, ...due } };
    }
    signal.throwIfAborted();
    await change(run, { cursor, merges }, signal);
  }
}

/** How often it is looked whether somebody has merged: the refs are read, git is not asked. */
const lookAgainMs = 2000;

interface Seen {
  readonly cursor: number | null;
  readonly merges: string | null;
}

/** Items of pull requests are on our own board, whatever the tracker. */
async function change(run: RunContext, { cursor, merges }: Seen, signal: AbortSignal): Promise<void> {
  const { tracker, board, clock, projectId } = run;
  if (tracker.changed && cursor !== null && merges === null) return await tracker.changed(cursor, signal);
  const enough = new AbortController();
  const either = AbortSignal.any([signal, enough.signal]);
  const waits = [clock.sleep(clock.now() + askAgainMs, either)];
  if (cursor !== null) waits.push(board.changed(projectId, cursor, either));
  if (merges !== null) waits.push(merged(run, merges, either));
  try {
    await Promise.race(waits);
  } finally {
    enough.abort();
    await Promise.allSettled(waits);
  }
}

async function merged(run: RunContext, before: string, signal: AbortSignal): Promise<void> {
  do await run.clock.sleep(run.clock.now() + lookAgainMs, signal);
  while ((await seeMerges(run)) === before);
}
