import type { Looked, SeenItem } from "./events.js";
import type { PrStep } from "./step.js";

/** Our reviewer has come to no verdict: the item goes on only when a person says so. */
export function isGivenUp({ source, status, reason }: SeenItem): boolean {
  return source === "code_review" && status === "waiting_for_response" && reason !== null;
}

/**
 * Every head is judged by our reviewer, once: one that somebody else pushed, as well as those of reworks, which come with
 * an item of their own; and one without a verdict again, once a person has decided.
 */
export function askForReview(step: PrStep, looked: Looked): void {
  const { head } = looked.pullRequest;
  if (!step.policy.settings.review.enabled) return;
  const reviews = looked.items.filter(({ source }) => source === "code_review");
  const open = reviews.find((one) => one.status !== "completed" && !isGivenUp(one));
  // What a run has taken may be of the head before.
  if (open && open.status !== "claimed" && step.state.reviewAsked !== head) step.set({ reviewAsked: head });
  if (open || reviews.length === 0 || isElsewhere(step)) return;
  const judged = reviews.findLast(({ verdict, commit }) => verdict !== undefined && commit === head);
  if (judged) {
    // An earlier head that is back has its verdict.
    if (judged.verdict?.verdict === "pass" && step.state.passed !== head) step.set({ passed: head });
    return;
  }
  if (step.state.reviewAsked === head) return;
  const times = (step.state.reviews ?? 0) + 1;
  step.set({ reviews: times, reviewAsked: head });
  step.log("info", `a review of ${head.slice(0, 12)} is asked for`);
  step.task({ kind: "review", cycle: step.state.cycle, times, predecessor: reviews.findLast(isGivenUp)?.id ?? null });
}

/** A person decides first, or a review comes anyway: with the rework that is due, or with one that is being made. */
function isElsewhere({ state }: PrStep): boolean {
  if (state.escalated || state.working !== null) return true;
  if ([...state.owed, ...state.undone].some(({ kind }) => kind === "cycle" || kind === "review" || kind === "reopen"))
    return true;
  return Object.values(state.deliveries).some(({ status, cause }) => status === "waiting" && cause);
}
