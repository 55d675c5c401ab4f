import type { Settings } from "../core/settings.js";

export { reviewerSource } from "../core/reviewer-source.js";

/**
 * How many rounds of review an issue gets: --max-review-retries, else per_issue_review.max_retries when enabled, else 3
 * (the resolved settings already hold the winner). 0 and 1 both mean one round.
 */
export function maxReviewRounds(settings: Settings): number {
  return Math.max(1, settings.per_issue_review.max_retries);
}
