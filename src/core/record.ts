import type { OtherReport, Priority, TextRef } from "./finding.js";
import type { Usage } from "./issue/events.js";
import type { Counters, IssueStatus, RunStatus, Seen, SessionEndResult, Undelivered } from "./report.js";
import type { Settings } from "./settings.js";

export type { IssueStatus, Undelivered };

/** One issue in a run's record, as `runs export` prints it. */
export interface IssueRecord extends Counters {
  readonly issue_id: string;
  readonly title: string;
  readonly status: IssueStatus;
  readonly message: string;
  readonly error: string | null;
  readonly session_id: string | null;
  readonly agent: string;
  readonly branch: string | null;
  readonly worktree_path: string | null;
  readonly base_sha: string | null;
  /** What reviews are based on, where that is not base_sha: the last commit that was to be merged into the branch, and was. */
  readonly review_base?: string;
  /** What was to be merged and is not yet, for whoever goes on. */
  readonly unmerged?: string;
  readonly commit: string | null;
  readonly resolution: { readonly outcome: string; readonly rationale: string } | null;
  readonly evidence_check: {
    readonly passed: boolean;
    readonly evidence: Readonly<Record<string, boolean>>;
    readonly failure_reasons: readonly string[];
  };
  readonly session_end_result: SessionEndResult | null;
  readonly last_review_issues: readonly StoredReviewIssue[] | null;
  readonly findings: { readonly open: number; readonly resolved: number };
  readonly usage: Usage;
  readonly duration_seconds: number;
  readonly started_at: string;
  readonly finished_at: string | null;
  /** What the last failed gate or blocking round saw, so that a resume knows whether anything changed since. */
  readonly seen?: Seen | null;
  /** It passed everything and only has to be pushed still. */
  readonly undelivered?: Undelivered;
}

export interface StoredReviewIssue {
  readonly file: string;
  readonly line_start: number;
  readonly line_end: number;
  readonly priority: Priority;
  readonly title: string;
  readonly body: string;
  readonly reviewer: string;
  /** Where the whole body is, when `body` is only its beginning. An exported record has the whole of it instead. */
  readonly ref?: TextRef;
  /** What others who report it say; an exported record has it in `body` instead. */
  readonly also_reported?: readonly OtherReport[];
}

export interface RunRecord {
  readonly run_id: string;
  readonly started_at: string;
  readonly completed_at: string | null;
  readonly version: string;
  readonly repo_path: string;
  readonly project_id: string;
  readonly status: RunStatus;
  readonly exit_code: number | null;
  readonly target_branch: string;
  readonly run_start_commit: string;
  readonly config: Settings;
  readonly run_end: null | {
    readonly status: "pass" | "fail" | "skipped";
    readonly reason: string | null;
    /** What kept it from its end, such as why its repair was not landed; absent: the reason says it all. */
    readonly message?: string;
    readonly commands: SessionEndResult["commands"];
    readonly code_review_result: SessionEndResult["code_review_result"];
  };
  /** What the turns of the run's own triggers have used, verifications of epics included; absent: there were none. */
  readonly trigger_usage?: Usage;
  readonly issues: Readonly<Record<string, IssueRecord>>;
}
