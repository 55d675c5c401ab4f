import type { Settings } from "../settings.js";

/** What a life is decided by and does not own: the run's frozen settings and what the user asked for. */
export interface IssuePolicy {
  readonly settings: Settings;
  readonly runId: string;
  readonly projectId: string;
  /** The branch that work lands on. */
  readonly target: string;
  /** The prompt's file in the attempt folder of this name. */
  readonly promptPath: (folder: string) => string;
  readonly options: { readonly strict: boolean; readonly fresh: boolean };
}

/** Judgements, not repeats: 0 and 1 both mean one. */
export function gateAttempts(policy: IssuePolicy): number {
  return Math.max(1, policy.settings.max_gate_retries);
}
export function reviewAttempts(policy: IssuePolicy): number {
  return Math.max(1, policy.settings.per_issue_review.max_retries);
}
