import type { PanelMember, ReviewerSettings, ReviewSectionName, ReviewSettings, Settings } from "./settings.js";

export interface ReviewerSource {
  readonly section: ReviewSectionName | "default";
  /** The section itself; null: no review is enabled. */
  readonly review: ReviewSettings | null;
  readonly reviewer: ReviewerSettings & { readonly panel: readonly PanelMember[] };
}

const fallback: ReviewerSource["reviewer"] = Object.freeze({
  reviewer_type: "agent_sdk",
  command: [],
  panel: [],
  cerberus: { timeout: 300, spawn_args: [], wait_args: [], env: {} },
  agent_sdk_timeout: 600,
  agent_sdk_model: "sonnet",
  agent_sdk_agent: null,
});

/**
 * One reviewer serves all reviews: that of the first enabled section. A flag that leaves this section out chooses no other
 * for what is still reviewed.
 */
export function reviewerSource(settings: Settings): ReviewerSource {
  const { left_out_reviewer: leftOut } = settings;
  const enabled = firstEnabled(settings);
  if (enabled === null) return { section: "default", review: null, reviewer: leftOut?.review ?? fallback };
  const { section, review } = leftOut ?? enabled;
  return { section, review, reviewer: review };
}

function firstEnabled(settings: Settings): NonNullable<Settings["left_out_reviewer"]> | null {
  const { session_end, epic_completion, run_end, periodic } = settings.validation_triggers;
  const candidates: [ReviewSectionName, ReviewSettings | null | undefined][] = [
    ["per_issue_review", settings.per_issue_review],
    ["validation_triggers.session_end", session_end?.code_review],
    ["validation_triggers.epic_completion", epic_completion?.code_review],
    ["validation_triggers.run_end", run_end?.code_review],
    ["validation_triggers.periodic", periodic?.code_review],
  ];
  for (const [section, review] of candidates) {
    if (review?.enabled === true) return { section, review };
  }
  return null;
}
