import type { PostEffect, PrEffect } from "../../core/pull-request/effects.js";
import type { PrEvent } from "../../core/pull-request/events.js";
import { closedLookMs, isReopenable } from "../../core/pull-request/machine.js";
import { isMergeDue } from "../../core/pull-request/merge.js";
import type { Perform, Settled } from "../../durable/types.js";
import { ExternalError, messageOf } from "../../lib/errors.js";
import { askedFor } from "../asked.js";
import { performTimer } from "../perform/timer.js";
import { performWait } from "../perform/wait.js";
import type { PrContext } from "./context.js";
import { performCycle, performJoin } from "./cycle.js";
import { performEscalate, performFinish, performMerge, performReopen, performReview } from "./endings.js";
import { performLook } from "./look.js";
import { post } from "./posts.js";
import { parsePrSignal } from "./signal.js";

type Performer<K extends PrEffect["kind"]> = (
  context: PrContext,
  effect: Extract<PrEffect, { readonly kind: K }>,
  signal: AbortSignal,
) => Promise<Settled<PrEvent>>;

/** One performer per effect kind: the compiler finds the missing one. */
const performers: { readonly [K in PrEffect["kind"]]: Performer<K> } = {
  look: performLook,
  cycle: performCycle,
  join: performJoin,
  escalate: performEscalate,
  merge: performMerge,
  finish: performFinish,
  reopen: performReopen,
  review: performReview,
  post: performPost,
  note: async ({ board, projectId, pr }, { key, note }) => {
    const event =
      note.type === "log" ? { ...note, level: note.level === "warn" ? ("warning" as const) : note.level } : note;
    await board.appendEvent(projectId, pr.issueId, event);
    return { event: { type: "noted", key } };
  },
  timer: untilChanged,
  wait: (context, effect, signal) =>
    performWait({ inbox: context.inbox, machine: context.machine, parse: parsePrSignal }, effect, signal),
};

export function pullRequestPerformer(context: PrContext): Perform<PrEvent, PrEffect> {
  return async (effect, { signal }) => {
    const perform = performers[effect.kind] as (
      context: PrContext,
      effect: PrEffect,
      signal: AbortSignal,
    ) => Promise<Settled<PrEvent>>;
    // No pull request is stopped: whoever follows it leaves it as it is.
    const asking = { teller: null, signal, stopping: signal, patienceMs: 0 };
    return await askedFor(context, asking, (asked) => perform(asked, effect, signal));
  };
}

/** Quiet polls never reach the journal: the timer fires when there is something to see, or asking has failed. */
async function untilChanged(
  context: PrContext,
  effect: Extract<PrEffect, { readonly kind: "timer" }>,
  signal: AbortSignal,
): Promise<Settled<PrEvent>> {
  const { clock, forge, pr, settings } = context;
  let { until } = effect;
  for (;;) {
    const fired = await performTimer(clock, { ...effect, until }, signal);
    const { state } = context.life();
    const { cursor } = state;
    const isOpen = state.phase === "following";
    if (isMergeDue(state, clock.now())) return fired;
    if (cursor === null || (!isOpen && !isReopenable(state, clock.now()))) return fired;
    try {
      if ((await forge.poll(pr.number, cursor, signal)).type === "changed") return fired;
    } catch (error) {
      if (signal.aborted) throw error;
      return fired;
    }
    until = clock.now() + (isOpen ? settings.pull_requests.poll_seconds * 1000 : closedLookMs(settings.pull_requests));
  }
}

async function performPost(context: PrContext, effect: PostEffect, signal: AbortSignal): Promise<Settled<PrEvent>> {
  const { key } = effect;
  try {
    const { id, refused = false } = await post(context, effect, signal);
    return { event: { type: "posted", key, id, ...(refused ? { refused } : {}) } };
  } catch (error) {
    // It stays owed: whoever goes on looks for it first.
    if (signal.aborted) throw error;
    const retryable = !(error instanceof ExternalError) || error.retryable;
    return { event: { type: "post-failed", key, reason: messageOf(error), retryable } };
  }
}
