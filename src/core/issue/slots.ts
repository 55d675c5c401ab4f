import type { Finding } from "../finding.js";
import { reviewerSource } from "../reviewer-source.js";
import type { ReviewerSettings, Settings } from "../settings.js";

/** One reviewer's place in a review: the panel's name for it, or its type where there is no panel. */
export interface ReviewSlot {
  readonly name: string;
  readonly reviewer: ReviewerSettings;
}

export const perIssueReview = "per_issue_review";

/** One section chooses the reviewers of every review. */
export function reviewSlots(settings: Settings): readonly ReviewSlot[] {
  const { reviewer } = reviewerSource(settings);
  if (reviewer.reviewer_type !== "panel") return [{ name: reviewer.reviewer_type, reviewer }];
  return reviewer.panel.map((member) => ({ name: member.name, reviewer: member }));
}

/** Of whichever section chooses the reviewers. */
export function isPanel(settings: Settings): boolean {
  return reviewerSource(settings).reviewer.reviewer_type === "panel";
}

/** The ledger's stage of a per-issue review slot. */
export function reviewStage(settings: Settings, slot: string): string {
  return isPanel(settings) ? `${perIssueReview}/${slot}` : perIssueReview;
}
export function isReviewStage(stage: string): boolean {
  return stage === perIssueReview || stage.startsWith(`${perIssueReview}/`);
}

/** The issue's own review reports it, whoever told it first. */
export function isReviewFinding({ stage, stages }: Pick<Finding, "stage" | "stages">): boolean {
  return stages ? stages.some((report) => isReviewStage(report.stage)) : isReviewStage(stage);
}
