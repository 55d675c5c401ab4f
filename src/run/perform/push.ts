import type { PushEffect } from "../../core/issue/effects.js";
import type { IssueEvent, PushOutcome } from "../../core/issue/events.js";
import type { Settled } from "../../durable/types.js";
import { pushBranch } from "../../git/landing/push.js";
import { messageOf } from "../../lib/errors.js";
import { forgeOf, type LifeContext } from "../context.js";
import { isTrackerAway } from "../tracker-outbox.js";
import { takenAway } from "./taken-away.js";

/** Pushing what is there already changes nothing, so it is simply done again. */
export async function performPush(
  life: LifeContext,
  effect: PushEffect,
  signal: AbortSignal,
): Promise<Settled<IssueEvent>> {
  const { branch } = life.names;
  const over = await whyOver(life, signal);
  const outcome = over ?? (await pushBranch(life.run.mirror, { branch, head: effect.head, signal }));
  return { event: { type: "push-ended", key: effect.key, outcome } };
}

/** A rework takes its time: a branch whose pull request has ended meanwhile is not brought back. */
async function whyOver(life: LifeContext, signal: AbortSignal): Promise<PushOutcome | null> {
  const { run, item } = life;
  if (!item) return await whyUnwanted(life);
  try {
    const { state } = await forgeOf(run).pullRequest(item.prNumber, signal);
    return state === "open" ? null : { type: "closed", reason: `Pull request #${item.prNumber} was ${state}` };
  } catch (error) {
    if (signal.aborted) throw error;
    return { type: "unreachable", reason: messageOf(error) };
  }
}

/** No pull request for an issue that somebody has ended while it was worked on. A tracker that is away says nothing. */
async function whyUnwanted(life: LifeContext): Promise<PushOutcome | null> {
  try {
    const how = await takenAway(life);
    return how === null ? null : { type: "closed", reason: `The issue was ${how} by someone else` };
  } catch (error) {
    if (isTrackerAway(error)) return null;
    throw error;
  }
}
