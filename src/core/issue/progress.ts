import type { Work } from "./state.js";
import type { Step } from "./step.js";

/**
 * Progress is a tree that differs from the one that the last check had something against, an earlier life's included:
 * a gate that failed, or a round of review that blocked. What a round has blocked, the gate had passed before. What a
 * submodule's remote was given is progress too, which no tree shows.
 */
export function noteSeen(step: Step, { tree, filesTree, unpushedCount }: Work, by: "gate" | "review"): void {
  step.set({ seen: { tree, filesTree, by, ...(unpushedCount ? { unpushedCount } : {}) } });
}

/** The work is what the last check had something against, whichever it was. */
export function isUnchanged({ state: { seen } }: Step, { tree, filesTree, unpushedCount = 0 }: Work): boolean {
  if (seen === null || seen.tree !== tree || seen.filesTree !== filesTree) return false;
  return (seen.unpushedCount ?? 0) === unpushedCount;
}

/** It is what a gate has failed on. What only a review has blocked, the gate may fail for the first time. */
export function isUnchangedSinceGate(step: Step, work: Work): boolean {
  const { seen, review } = step.state;
  // Older records do not say who it was: a review that has seen the same tree.
  const by = seen?.by ?? (review.seen === work.tree ? "review" : "gate");
  return isUnchanged(step, work) && by === "gate";
}
