import type { PushEffect } from "../../core/issue/effects.js";
import type { IssueEvent } from "../../core/issue/events.js";
import type { Settled } from "../../durable/types.js";
import { pushBranch } from "../../git/push.js";
import type { LifeContext } from "../context.js";

/** Pushing what is there already changes nothing, so it is simply done again. */
export async function performPush(
  life: LifeContext,
  effect: PushEffect,
  signal: AbortSignal,
): Promise<Settled<IssueEvent>> {
  const { branch } = life.names;
  const outcome = await pushBranch(life.run.mirror, { branch, head: effect.head, signal });
  return { event: { type: "push-ended", key: effect.key, outcome } };
}
