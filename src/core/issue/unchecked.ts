import { type LedgerChange, supersedeStage } from "../ledger/ledger.js";
import type { Settings } from "../settings.js";
import { isReviewStage, perIssueReview, reviewSlots, reviewStage } from "./slots.js";
import type { Step } from "./step.js";

/**
 * Findings of reviewers that are no longer configured would stay open for ever: they are closed when the work begins. A
 * flag leaves the review out for one run only: what it found is there for the next, unless this one succeeds.
 */
export function dropUnchecked(step: Step): void {
  const dropped = withoutUnchecked(step);
  if (dropped) step.apply(dropped);
}

/** null: nothing is dropped. */
export function withoutUnchecked(step: Step): LedgerChange | null {
  return isLeftOut(step.policy.settings) ? null : supersedeUnchecked(step);
}

/** The issue has succeeded, and no later run will look at what a flag has left out. */
export function dropLeftOut(step: Step): void {
  const dropped = isLeftOut(step.policy.settings) ? supersedeUnchecked(step) : null;
  if (dropped) step.apply(dropped);
}

function isLeftOut({ per_issue_review, left_out_reviewer }: Settings): boolean {
  return !per_issue_review.enabled && left_out_reviewer?.section === perIssueReview;
}

function supersedeUnchecked({ policy: { settings }, ledger, at }: Step): LedgerChange | null {
  const checked = settings.per_issue_review.enabled
    ? [perIssueReview, ...reviewSlots(settings).map((slot) => reviewStage(settings, slot.name))]
    : [];
  const stages = ledger.findings.flatMap((finding) => [
    finding.stage,
    ...(finding.stages ?? []).map((report) => report.stage),
  ]);
  const gone = [...new Set(stages)].filter((stage) => isReviewStage(stage) && !checked.includes(stage));
  return gone.length === 0 ? null : supersedeStage(ledger, { stages: gone, reason: "no longer checked", at });
}
