import type { RunEvent } from "./effects.js";
import type { RunStep } from "./step.js";

/**
 * The user's branch that could not follow a landing may be free by now: it is tried once more when all else is over, so
 * that the last word about it is true. Not for somebody who wants the run to stop.
 */
export function noteBehind(step: RunStep, { behind = false }: { readonly behind?: boolean }): void {
  if (behind) step.set({ behind });
}

/** True: the run cannot end yet. */
export function followsFirst(step: RunStep): boolean {
  const { behind = false, following, stopping, aborting } = step.state;
  if (following) return true;
  if (!behind || stopping || aborting) return false;
  const follows = (step.state.follows ?? 0) + 1;
  const key = `follow:${follows}`;
  step.set({ behind: false, follows, following: key });
  step.owe({ kind: "follow", key });
  return true;
}

export function followed(step: RunStep, event: Extract<RunEvent, { type: "followed" }>): void {
  if (event.key !== step.state.following) return;
  step.set({ following: null });
  step.report({ type: "target-followed", target_branch: event.target, behind: event.behind });
}

/** What was said at the landing stays the last word. */
export function followBroke(step: RunStep, { key, message }: Extract<RunEvent, { type: "crashed" }>): boolean {
  if (key !== step.state.following) return false;
  step.set({ following: null });
  step.log("warn", `The user's branch could not be looked at again: ${message}`);
  return true;
}
