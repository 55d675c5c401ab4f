import { openFindings, supersedeStage } from "../ledger/ledger.js";
import { isHeldUp, isObjectedTo, openBlocking } from "./blocking.js";
import { isOverBudget, isSpent } from "./budget.js";
import { closeOthers } from "./ledger-parts.js";
import { reviewAttempts } from "./policy.js";
import { landsNothing } from "./preconditions.js";
import { noteSeen } from "./progress.js";
import { endItem } from "./pull-request.js";
import { isReviewerRunning, newSlot, startSlots } from "./reviewers.js";
import { isPanel, perIssueReview, reviewSlots, reviewStage } from "./slots.js";
import type { ReviewState, Slot } from "./state.js";
import type { Step } from "./step.js";
import { oweTurn } from "./turns.js";

/**
 * The issue's review. A round is one commit under review: first the slots that have open findings from the last one,
 * then the others, so that a pass always covers the commit that lands. Nothing is decided while a reviewer runs.
 */
export function enterReview(step: Step) {
  const { work, review } = step.state;
  if (!isReviewDue(step) || !work) return step.go("finalizing");
  // Who asks for the checks alone has changed something that no tree shows.
  const isAsked = step.policy.options.only !== undefined;
  if (review.seen === work.tree && !isAsked && isHeldUp(step) && !isObjectedTo(step)) {
    return step.fail("no_progress", "No progress: the tree is the one that the last review saw");
  }
  if (isOverBudget(step)) return;
  const slots = reviewSlots(step.policy.settings).map(({ name }) =>
    newSlot(name, review.slots.find((slot) => slot.name === name)?.open ?? false),
  );
  setReview(step, { round: review.round + 1, slots });
  const first = slots.filter((slot) => slot.open);
  startSlots(step, namesOf(first.length > 0 ? first : slots));
}

export function isReviewDue(step: Step): boolean {
  const { work, marker } = step.state;
  if (step.policy.trigger) return false;
  if (step.policy.item) return step.policy.item.source === "code_review";
  if (!step.policy.settings.per_issue_review.enabled || (work?.commits ?? 0) === 0 || landsNothing(step.state))
    return false;
  // What a review has found is not settled by calling the commits documentation.
  return marker === null || openBlocking(step).length > 0;
}

export function afterReviewer(step: Step) {
  if (isReviewerRunning(step) || isSpent(step)) return;
  const slots = step.state.review.slots.map((slot) =>
    stillBlocks(step, slot) ? slot : { ...slot, status: "pass" as const },
  );
  setReview(step, { slots });
  const failed = slots.filter((slot) => slot.status === "fail");
  const out = slots.filter((slot) => slot.status === "out");
  if (out.length > 0 && isOverBudget(step)) return;
  if (failed.length > 0 || out.length > 0) return roundFailed(step, { failed, out });
  const rest = slots.filter((slot) => slot.status === "idle");
  if (rest.length > 0 && isOverBudget(step)) return;
  if (rest.length > 0) return startSlots(step, namesOf(rest));
  roundPassed(step);
}

/** A waiver may have come since the slot's verdict. */
function stillBlocks(step: Step, slot: Slot): boolean {
  if (slot.status !== "fail") return true;
  const { settings } = step.policy;
  const blocking = settings.per_issue_review.finding_threshold;
  return openFindings(step.ledger, { stages: [reviewStage(settings, slot.name)], blocking }).length > 0;
}

function roundPassed(step: Step) {
  const { work, review } = step.state;
  closeOthers(step, perIssueReview, { keep: keptOpen(step), passed: true, visit: review.round });
  const slots = review.slots.map((slot) => ({ ...slot, open: false }));
  setReview(step, { passed: work?.head ?? null, slots, fixer: null });
  if (step.policy.item) return endItem(step, { message: "Approved", commit: work?.head ?? null });
  step.go("finalizing");
}

/** Without a panel the section's own findings are the slot's, which its verdict has dealt with. */
function keptOpen(step: Step): string[] {
  if (isPanel(step.policy.settings)) return [];
  return step.ledger.findings.map((finding) => finding.id);
}

function roundFailed(step: Step, slots: { readonly failed: readonly Slot[]; readonly out: readonly Slot[] }) {
  const { work, review } = step.state;
  if (slots.failed.length === 0 || !work) return unavailable(step, slots.out);
  if (isPanel(step.policy.settings)) {
    const gone = { stages: [perIssueReview], reason: "no longer checked", at: step.at };
    step.apply(supersedeStage(step.ledger, gone));
  }
  const blocking = review.blocking + 1;
  const marked = review.slots.map((slot) => ({ ...slot, open: slot.status === "fail" || hasOpen(step, slot) }));
  setReview(step, { blocking, seen: work.tree, slots: marked });
  noteSeen(step, work, "review");
  if (step.policy.item) return endItem(step, { message: "Changes requested", commit: work.head });
  const max = reviewAttempts(step.policy);
  if (blocking < max) return followUp(step, blocking + 1, max);
  if (slots.out.length > 0) return unavailable(step, slots.out);
  usedUp(step, blocking);
}

/** Also what does not block: whoever found it looks whether it is mended. */
function hasOpen({ ledger, policy }: Step, { name }: Slot): boolean {
  return openFindings(ledger, { stages: [reviewStage(policy.settings, name)], defects: true }).length > 0;
}

function followUp(step: Step, attempt: number, maxAttempts: number): void {
  const { session } = step.state;
  const plan = { role: "implementer", stage: "implement", prompt: "review_followup", judged: true } as const;
  oweTurn(step, { ...plan, attempt, maxAttempts, session });
}

function unavailable(step: Step, out: readonly Slot[]) {
  const message = `Review unavailable: no verdict from ${namesOf(out).join(", ")}`;
  if (!step.policy.item) return step.fail("review_unavailable", message);
  step.end({ status: "escalated", error: "review_unavailable", message, commit: null });
}

function usedUp(step: Step, rounds: number) {
  const message = `Review failed: blocking findings after ${rounds} ${rounds === 1 ? "round" : "rounds"}`;
  if (step.policy.settings.per_issue_review.failure_mode === "abort") {
    step.set({ abortRun: true });
    return step.fail("failure_mode_abort", `${message}, and its failure_mode is abort`);
  }
  sendFixer(step, { error: "review_failed", message });
}

/** What says something about this fixer alone. Who cannot be reached, stays silent or is lost was tried again already. */
const ownFailures = ["agent_failed", "turn_timeout", "context_overflow", "session_not_found"];

/** Of the fixers that a review sends: one that came to nothing counts like any other, and the next one begins anew. */
export function afterFailedFixer(step: Step, failure: Failure) {
  if (!ownFailures.includes(failure.error)) return step.fail(failure.error, failure.message);
  sendFixer(step, failure);
}

interface Failure {
  readonly error: string;
  readonly message: string;
}

/** `failure`: what the issue fails with where no fixer is left. */
function sendFixer(step: Step, failure: Failure) {
  const { failure_mode, max_retries } = step.policy.settings.per_issue_review;
  const { review, draining } = step.state;
  if (failure_mode !== "remediate" || draining || step.policy.options.only || review.fixers >= max_retries)
    return step.fail(failure.error, failure.message);
  if (isOverBudget(step)) return;
  const attempt = review.fixers + 1;
  setReview(step, { fixers: attempt, fixer: { session: null } });
  step.report({ type: "fixer-started", stage: perIssueReview, attempt, max_attempts: max_retries });
  const plan = { role: "fixer", stage: "per_issue_review", prompt: "fixer", session: null, judged: true } as const;
  oweTurn(step, { ...plan, attempt, maxAttempts: max_retries });
}

function namesOf(slots: readonly Slot[]): string[] {
  return slots.map((slot) => slot.name);
}
function setReview(step: Step, patch: Partial<ReviewState>): void {
  step.set({ review: { ...step.state.review, ...patch } });
}
