import { reviewerSource } from "./reviewer-source.js";
import type { Settings, Trigger } from "./settings.js";

const timeoutSeconds = 1800;

/** The review of a whole epic, by the reviewer that serves all reviews. null: no review is enabled, nobody verifies. */
export function verificationOf(settings: Settings): Trigger | null {
  const { review } = reviewerSource(settings);
  if (review === null) return null;
  const timeout = settings.validation_triggers.epic_completion?.timeout ?? timeoutSeconds;
  const code_review = { ...review, failure_mode: "continue", max_retries: 0, track_review_issues: false } as const;
  return { failure_mode: "continue", max_retries: 0, timeout, commands: [], code_review };
}
