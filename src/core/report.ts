import type { Priority } from "./finding.js";
import type { Usage } from "./issue/events.js";

/**
 * The public events: what `run --json` prints, what views read and what project() turns into rows. A machine returns
 * them beside its effects; the store gives each its seq (per run, without gaps) and time in the commit that records it.
 */
export type ReportBody =
  | {
      readonly type: "run-started";
      readonly project_id: string;
      readonly target_branch: string;
      readonly run_start_commit: string;
      readonly repo_path: string;
      /** When the run began, of one that had ended and goes on. */
      readonly started_at?: string;
    }
  | {
      readonly type: "run-finished";
      readonly status: RunStatus;
      readonly exit_code: number;
      readonly success_count: number;
      /** Issues that came to an end; those that were interrupted are not among them. */
      readonly total_count: number;
      readonly interrupted_count?: number;
    }
  | {
      readonly type: "issue-started";
      readonly title: string;
      readonly life: number;
      readonly agent: string;
      /** What a resumed life has from the one before: its session, its base, the findings that its last review left. */
      readonly session_id?: string;
      readonly base_sha?: string;
      readonly blocking?: readonly string[];
    }
  | { readonly type: "worktree-ready"; readonly path: string; readonly branch: string; readonly base_sha: string }
  | {
      readonly type: "prompt-sent";
      readonly kind: string;
      readonly attempt: number;
      readonly max_attempts: number;
      readonly path: string;
      readonly role: string;
      readonly reviewer?: string;
      /** It goes to no agent: it is the goal of this workflow, whose stages get prompts of their own. */
      readonly workflow?: string;
    }
  | {
      readonly type: "turn-ended";
      readonly outcome: string;
      readonly session_id: string | null;
      readonly usage: Usage | null;
      readonly role: string;
      readonly reviewer?: string;
      readonly reason?: string;
    }
  /** A running turn's session, as soon as the agent has told it. */
  | { readonly type: "session-known"; readonly session_id: string; readonly role: string }
  /** agent.fallback has taken over for the rest of the issue. */
  | {
      readonly type: "agent-changed";
      readonly agent: string;
      readonly model: string | null;
      readonly reason: string;
    }
  | {
      readonly type: "gate-started";
      readonly attempt: number;
      readonly max_attempts: number;
      readonly commit: string;
      /** Executions of the gate in this life, this one included. */
      readonly run?: number;
    }
  | {
      readonly type: "gate-passed";
      readonly attempt: number;
      readonly commit: string;
      readonly evidence: Readonly<Record<string, boolean>>;
    }
  | {
      readonly type: "gate-failed";
      readonly attempt: number;
      readonly findings: number;
      readonly reasons: readonly string[];
      readonly evidence: Readonly<Record<string, boolean>>;
    }
  | { readonly type: "session-end-started" }
  | {
      readonly type: "session-end-completed";
      readonly result: "pass" | "fail" | "timeout" | "interrupted";
      readonly reason: string | null;
      readonly session_end_result: SessionEndResult;
      readonly attempts: number;
    }
  | { readonly type: "session-end-skipped"; readonly reason: "gate_failed" | "not_configured" }
  | { readonly type: "fixer-started"; readonly stage: string; readonly attempt: number; readonly max_attempts: number }
  | { readonly type: "fixer-ended"; readonly stage: string; readonly attempt: number; readonly outcome: string }
  | {
      readonly type: "review-started";
      readonly attempt: number;
      readonly reviewer: string;
      readonly commit: string;
      readonly stage: string;
    }
  | {
      readonly type: "review-ended";
      readonly attempt: number;
      readonly reviewer: string;
      readonly verdict: "pass" | "fail" | "protocol";
      readonly findings: number;
      readonly reason?: string;
      readonly stage: string;
      /** Of the issue's own review: the findings that block now, whoever raised them. */
      readonly blocking?: readonly string[];
    }
  | {
      readonly type: "finding-raised";
      readonly finding: string;
      readonly source: string;
      readonly stage: string;
      readonly reviewer: string;
      readonly file: string;
      readonly line_start: number;
      readonly line_end: number;
      readonly priority: Priority;
      readonly title: string;
      readonly reopened: boolean;
      /** It was open already: a further visit or reviewer reports it too. */
      readonly again?: boolean;
      /** A called workflow has told it: this is the entry of the workflow that calls. */
      readonly copied?: true;
    }
  | {
      readonly type: "finding-resolved";
      readonly finding: string;
      readonly status: "resolved" | "superseded" | "waived";
      readonly title: string;
      readonly reason: string | null;
      /** As above. */
      readonly copied?: true;
    }
  /** The implementer says that it is wrong; the reviewer decides. */
  | { readonly type: "finding-rejected"; readonly finding: string; readonly title: string; readonly reason: string }
  | {
      readonly type: "landed";
      readonly commit: string;
      readonly target_branch: string;
      readonly merged: boolean;
      readonly behind: string | null;
    }
  /** At the end of a run in which the user's branch could not follow a landing. null: now it has. */
  | { readonly type: "target-followed"; readonly target_branch: string; readonly behind: string | null }
  | {
      readonly type: "pull-request-opened";
      readonly number: number;
      readonly url: string;
      readonly branch: string;
      readonly commit: string;
    }
  | {
      readonly type: "issue-finished";
      readonly status: IssueStatus;
      readonly message: string;
      readonly error: string | null;
      readonly commit: string | null;
      readonly resolution: { readonly outcome: string; readonly rationale: string } | null;
      readonly last_review_issues: readonly string[] | null;
      readonly counters: Counters;
      readonly session_id: string | null;
      readonly duration_seconds?: number;
      /** Where it differs from base_sha. */
      readonly review_base?: string;
      /** What was to be merged and is not yet. */
      readonly unmerged?: string;
      readonly seen?: Seen | null;
      /** It passed everything and only has to be pushed still. */
      readonly undelivered?: Undelivered;
      /** It failed once too often: only a retry brings it back. */
      readonly quarantined?: true;
      /** Of a life that only delivered: how the gate of the earlier one passed. */
      readonly evidence?: Readonly<Record<string, boolean>>;
    }
  | { readonly type: "run-end-started"; readonly success_count: number; readonly total_count: number }
  | {
      readonly type: "run-end-completed";
      readonly result: "pass" | "fail";
      readonly reason?: string | null;
      /** What kept it from its end, where the reason does not say it all. */
      readonly message?: string;
      readonly commands?: SessionEndResult["commands"];
      readonly code_review_result?: SessionEndResult["code_review_result"];
    }
  | { readonly type: "run-end-skipped"; readonly reason: "fire_on_not_met" | "run_aborted" }
  /** The other triggers of the run. `about`: what made it fire, such as `epic_id=x`. */
  | { readonly type: "trigger-started"; readonly trigger: string; readonly about: string }
  | {
      readonly type: "trigger-completed";
      readonly trigger: string;
      readonly about: string;
      /** skipped: somebody else does it, or the run ends. */
      readonly result: "pass" | "fail" | "skipped";
      readonly reason: string | null;
      /** As above. */
      readonly message?: string;
    }
  /** A workflow, of its own or of an issue. */
  | { readonly type: "workflow-started"; readonly name: string; readonly goal: string | null }
  | {
      readonly type: "workflow-finished";
      readonly name: string;
      readonly status: "success" | "fail" | "cancelled";
      /** null with success. */
      readonly reason: string | null;
      /** The stage that the ending is about. */
      readonly stage: string | null;
    }
  | { readonly type: "stage-started"; readonly stage: string; readonly visit: number; readonly attempt: number }
  | {
      readonly type: "stage-ended";
      readonly stage: string;
      readonly visit: number;
      readonly outcome: string;
      /** Executions of the visit. */
      readonly attempts: number;
      readonly seconds: number;
      readonly usage: Usage | null;
      readonly reason: string | null;
    }
  /** What a human gate of an issue's workflow asks. */
  | {
      readonly type: "question";
      readonly stage: string;
      readonly visit: number;
      readonly prompt: string;
      /** The beginning of what the answer is about; null: nothing. */
      readonly details: string | null;
      /** How many characters of it are left out. */
      readonly more: number;
      readonly options: readonly { readonly key: string; readonly label: string; readonly feedback: boolean }[];
      /** The option that is taken when time runs out, and when. */
      readonly default: string | null;
      readonly until: Moment;
      /** Its name for `ratchet answer`. */
      readonly gate: string;
    }
  | { readonly type: "edge-taken"; readonly from: string; readonly to: string }
  | { readonly type: "escalated"; readonly reason: string; readonly dossier: string | null }
  | { readonly type: "waiting"; readonly for: string; readonly until: Moment }
  | {
      readonly type: "log";
      readonly level: "info" | "warn" | "error";
      readonly text: string;
      /** The tracker could not be told: what (`complete`, `fail`, …), and why not. */
      readonly untold?: { readonly op: string; readonly reason: string };
    };

/** A number as machines reckon with it and rows keep it; as it is told, a text like `time`. null: there is none. */
type Moment = number | string | null;

export type IssueStatus = "success" | "failed" | "escalated" | "running" | "interrupted";
export type RunStatus = "running" | "succeeded" | "failed" | "aborted" | "interrupted";

/** As a machine returns it. The life's own issue; absent on run-level reports. */
export type RunReport = ReportBody & {
  readonly issue_id?: string;
  /** Of a called workflow: the stages that called it, outermost first. */
  readonly calls?: readonly string[];
};
/** As told and printed. */
export type PublicEvent = RunReport & { readonly seq: number; readonly time: string; readonly run_id: string };

/** What the last failed gate or blocking round saw: HEAD's tree, the files' tree, and what submodules had alone. */
export interface Seen {
  readonly tree: string;
  readonly filesTree: string;
  /** The tree of the last blocking round, whatever a gate has seen since. */
  readonly reviewed?: string;
  /** Which of the two it was; absent in older records. */
  readonly by?: "gate" | "review";
  /** Submodules of it whose commit nobody else was known to have; absent: none. */
  readonly unpushedCount?: number;
}

/** Work that passed everything and that the forge could not be given. */
export interface Undelivered {
  readonly head: string;
  /** Rounds of review, the last of which passed; 0: it was not reviewed. */
  readonly reviewed: number;
  /** Why the remote refused the push, where it did. */
  readonly refused?: string;
}

export interface Counters {
  readonly gate_attempts: number;
  readonly review_attempts: number;
  readonly session_end_attempts: number;
}

export interface SessionEndResult {
  readonly status: "pass" | "fail" | "timeout" | "interrupted" | "skipped";
  readonly reason: string | null;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly commands: readonly SessionEndCommand[];
  readonly code_review_result: {
    readonly ran: boolean;
    readonly passed: boolean;
    readonly findings: readonly string[];
  } | null;
}
export interface SessionEndCommand {
  readonly ref: string;
  readonly command: string;
  readonly passed: boolean;
  readonly exit_code: number | null;
  readonly timed_out: boolean;
  readonly duration_seconds: number;
  readonly output_path: string;
  /** It did not pass, and by its allow_fail that fails nothing; absent otherwise. */
  readonly allowed?: true;
}
