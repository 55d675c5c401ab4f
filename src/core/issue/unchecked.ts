import { type LedgerChange, supersedeStage } from "../ledger/ledger.js";
import type { Settings } from "../settings.js";
import { closeOthers } from "./ledger-parts.js";
import { isReviewStage, perIssueReview, reviewSlots, reviewStage } from "./slots.js";
import type { Step } from "./step.js";

const reason = "no longer checked";

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
  const { ledger, at, policy } = step;
  const { settings } = policy;
  const checked = isReviewConfigured(settings)
    ? [perIssueReview, ...reviewSlots(settings).map((slot) => reviewStage(settings, slot.name))]
    : [];
  const stages = reviewStages(step).filter((stage) => !checked.includes(stage));
  return stages.length === 0 ? null : supersedeStage(ledger, { stages, reason, at });
}

/** The issue has succeeded, and no later run will look at what a flag has left out; `keep` becomes somebody's business. */
export function dropLeftOut(step: Step, keep: readonly string[]): void {
  if (!isLeftOut(step.policy.settings)) return;
  const { round: visit } = step.state.review;
  for (const stage of reviewStages(step)) closeOthers(step, stage, { keep, passed: false, visit, reason });
}

/** In this run, or but for a flag. */
export function isReviewConfigured(settings: Settings): boolean {
  return settings.per_issue_review.enabled || isLeftOut(settings);
}

function isLeftOut({ per_issue_review, left_out_reviewer }: Settings): boolean {
  return !per_issue_review.enabled && left_out_reviewer?.section === perIssueReview;
}

/** Those of the issue's own review that anything was ever reported by. */
function reviewStages({ ledger }: Step): string[] {
  const stages = ledger.findings.flatMap((finding) => [
    finding.stage,
    ...(finding.stages ?? []).map((report) => report.stage),
  ]);
  return [...new Set(stages)].filter(isReviewStage);
}
