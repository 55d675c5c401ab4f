import type { Finding } from "../finding.js";
import type { CerberusSettings, ReviewerSettings, ReviewSettings, Settings } from "../settings.js";

/** One reviewer's place in a review: the panel's name for it, or its type where there is no panel. */
export interface ReviewSlot {
  readonly name: string;
  readonly reviewer: ReviewerSettings;
}

export const perIssueReview = "per_issue_review";

const noCerberus: CerberusSettings = { timeout: 300, spawn_args: [], wait_args: [], env: {} };
const lastResort: ReviewSlot = {
  name: "agent_sdk",
  reviewer: {
    reviewer_type: "agent_sdk",
    command: [],
    cerberus: noCerberus,
    agent_sdk_timeout: 600,
    agent_sdk_model: "sonnet",
    agent_sdk_agent: null,
  },
};

/** One section chooses the reviewers of every review: per_issue_review when enabled, else the first enabled trigger's. */
export function reviewSlots(settings: Settings): readonly ReviewSlot[] {
  const section = chosenSection(settings);
  if (section === null) return [lastResort];
  if (section.reviewer_type !== "panel") return [{ name: section.reviewer_type, reviewer: section }];
  return section.panel.map((member) => ({ name: member.name, reviewer: member }));
}

function chosenSection({ per_issue_review, validation_triggers: triggers }: Settings): ReviewSettings | null {
  const ordered = [triggers.session_end, triggers.epic_completion, triggers.run_end, triggers.periodic];
  const sections = [per_issue_review, ...ordered.map((trigger) => trigger?.code_review ?? null)];
  return sections.find((section) => section?.enabled) ?? null;
}

/** The ledger's stage of a per-issue review slot. */
export function reviewStage(settings: Settings, slot: string): string {
  return settings.per_issue_review.reviewer_type === "panel" ? `${perIssueReview}/${slot}` : perIssueReview;
}
export function isReviewStage(stage: string): boolean {
  return stage === perIssueReview || stage.startsWith(`${perIssueReview}/`);
}

/** The issue's own review reports it, whoever told it first. */
export function isReviewFinding({ stage, stages }: Pick<Finding, "stage" | "stages">): boolean {
  return stages ? stages.some((report) => isReviewStage(report.stage)) : isReviewStage(stage);
}
