import type { JoinEffect } from "./effects.js";
import type { Looked } from "./events.js";
import { readyParts, wordsIn } from "./parts.js";
import type { PrState } from "./state.js";
import type { PrStep } from "./step.js";

/**
 * An item that nobody has begun takes along what has come since it was made, so that an agent never begins without what
 * is known. Only the board can tell whether it was in time; until it has, nothing is decided about the pull request.
 */
export function isJoining({ owed }: PrState): boolean {
  return owed.some(({ kind }) => kind === "join");
}

export function joinCycle(step: PrStep, looked: Looked) {
  const { working } = step.state;
  const parts = readyParts(step, looked);
  if (working === null || working.begun || parts.length === 0) return;
  const item = looked.items.find(({ id }) => id === working.item);
  // It is being made: the next look has it, also where the forge has nothing new.
  if (!item) return step.set({ cursor: null });
  if (item.status !== "available" && item.status !== "blocked") {
    return step.set({ working: { ...working, begun: true } });
  }
  step.task({
    kind: "join",
    join: looked.key,
    cycle: working.cycle,
    item: working.item,
    parts: parts.map(([id]) => id),
    look: looked.path,
    feedback: wordsIn(parts),
  });
}

export function afterJoin(step: PrStep, { cycle, parts }: JoinEffect, taken: boolean) {
  const { working } = step.state;
  // A cycle that has come to nothing meanwhile has answered nothing: they wait for the next.
  if (working?.cycle !== cycle) return;
  if (!taken) return step.set({ working: { ...working, begun: true } });
  for (const id of parts) {
    const one = step.state.deliveries[id];
    if (one?.status === "waiting") step.deliver(id, { ...one, status: "delivered", cycle });
  }
}
