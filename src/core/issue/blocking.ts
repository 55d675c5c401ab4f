import { openFindings } from "../ledger/ledger.js";
import { isReviewStage } from "./slots.js";
import type { Step } from "./step.js";
import { carriedFindings } from "./turns.js";

/** Open blocking findings of the issue's review, as it rates them itself; before its first verdict in this life, those it was resumed with. */
export function blockingReview(step: Step): string[] {
  if (!step.state.review.judged) return carriedFindings(step);
  const threshold = step.policy.settings.per_issue_review.finding_threshold;
  const open = openFindings(step.ledger, { stages: isReviewStage, sources: ["review"], blocking: threshold });
  return open.map((finding) => finding.id);
}
