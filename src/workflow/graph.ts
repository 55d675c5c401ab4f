import type { Expression } from "./expression/expression.js";
import type { Named, Position } from "./position.js";

export type { Named, Position };

/**
 * A workflow, whatever it was written in. KDL and DOT both become this; the checker, the machine and the drawings know
 * nothing else. Defaults, stylesheets and model profiles are applied by the parsers: what a stage does is in the stage.
 */
export interface Graph {
  readonly name: string;
  readonly format: "kdl" | "dot";
  /** Absolute or as given; prompt files are relative to its folder. */
  readonly file: string;
  readonly goal: string | null;
  readonly label: string | null;
  /** The stage that is entered first. */
  readonly start: Named;
  /** In the order of the file; ids are unique once the graph is checked. */
  readonly stages: readonly Stage[];
  readonly transitions: readonly Transition[];
  /** Where a failed goal gate or stage goes that names no target of its own. */
  readonly retryTarget: Named | null;
  readonly fallbackRetryTarget: Named | null;
}

export type StageKind = Stage["kind"];
export type Stage =
  | StartStage
  | LlmStage
  | ToolStage
  | HumanStage
  | DecisionStage
  | ExitStage
  | ParallelStage
  | JoinStage
  | WorkflowStage
  | WorkspaceStage
  | UnknownStage;

interface StageBase {
  readonly id: string;
  readonly at: Position;
  readonly label: string | null;
  /** Executions of one visit, retries included; 1: none. */
  readonly maxAttempts: number;
  /** `retry max_attempts` (or DOT's max_retries) was written: then `fail` is retried too, not only `retry` and machinery. */
  readonly retriesFail: boolean;
  readonly backoff: Backoff;
  /** null: the engine's own limit. */
  readonly maxVisits: number | null;
  readonly goalGate: boolean;
  readonly retryTarget: Named | null;
  readonly fallbackRetryTarget: Named | null;
  /** A stage that failed or asked for another try until none was left is a partial success, not a failure. */
  readonly allowPartial: boolean;
}

export interface Backoff {
  readonly kind: "none" | "fixed" | "exponential";
  readonly delayMs: number;
  readonly maxDelayMs: number;
}

/** DOT's Mdiamond: passes on. KDL names its first stage instead. */
export interface StartStage extends StageBase {
  readonly kind: "start";
}
export interface LlmStage extends StageBase {
  readonly kind: "llm";
  readonly prompt: Prompt;
  readonly model: ModelChoice;
  /** A review: its reply carries a status. */
  readonly autoStatus: boolean;
  /** What a review's reply without a status is: KDL says a protocol failure, DOT a success. */
  readonly withoutStatus: "protocol" | "success";
  /** `<key>.response`; the stage's id by default. */
  readonly responseKey: string;
  readonly timeoutMs: number | null;
  readonly fidelity: Fidelity;
  readonly thread: string | null;
}
export type Prompt =
  | { readonly type: "text"; readonly text: string; readonly at: Position }
  | { readonly type: "files"; readonly files: readonly Named[] };

/** How much of what happened before goes along with a prompt; `full`: the same session as the others of its thread. */
export type Fidelity = "full" | "truncate" | "compact" | "summary:low" | "summary:medium" | "summary:high";

/** Profiles and stylesheets resolved; null: the agent's own. */
export interface ModelChoice {
  readonly model: string | null;
  readonly provider: string | null;
  readonly effort: string | null;
}

export interface ToolStage extends StageBase {
  readonly kind: "tool";
  readonly command: string;
  readonly timeoutMs: number;
  /** Relative to the checkout or workspace; null: its root. */
  readonly cwd: string | null;
}
export interface HumanStage extends StageBase {
  readonly kind: "human";
  readonly prompt: string;
  readonly options: readonly HumanOption[];
  /** After a way back to it has been taken (a revision), it is asked again; false: its first answer stands. */
  readonly reReview: boolean;
  readonly requireFeedbackOn: readonly Named[];
  /** The context key whose value is shown with the question. */
  readonly detailsFrom: string | null;
  readonly timeoutMs: number | null;
  /** The option taken when time runs out; null: it fails. */
  readonly default: Named | null;
}
export interface HumanOption {
  readonly key: string;
  readonly label: string;
  readonly to: Named;
}
/** Its routes are transitions. */
export interface DecisionStage extends StageBase {
  readonly kind: "decision";
}
export interface ExitStage extends StageBase {
  readonly kind: "exit";
}
export interface ParallelStage extends StageBase {
  readonly kind: "parallel";
  /** The first stage of each branch. */
  readonly branches: readonly Named[];
  readonly join: Named;
  readonly maxParallel: number;
  readonly branchTimeoutMs: number | null;
}
export interface JoinStage extends StageBase {
  readonly kind: "join";
  readonly policy: "all" | "any" | "quorum";
  readonly quorum: number;
}
export interface WorkflowStage extends StageBase {
  readonly kind: "workflow";
  /** A name or a file. */
  readonly ref: Named;
  readonly inputs: readonly { readonly key: string; readonly value: string }[];
}
export interface WorkspaceStage extends StageBase {
  readonly kind: "workspace.create" | "workspace.merge" | "workspace.cleanup";
  readonly workspace: string;
}
/** DOT may carry types of other runners: a warning of `validate`, refused by `run`. */
export interface UnknownStage extends StageBase {
  readonly kind: "unknown";
  readonly type: string;
}

export interface Transition {
  readonly from: Named;
  readonly to: Named;
  /** null: unconditional. Comes after every condition that holds. */
  readonly when: Expression | null;
  /** Higher first; DOT's weight. */
  readonly priority: number;
  readonly label: string | null;
  /** DOT: a new start from here, with nothing of before but the goal. */
  readonly restart: boolean;
  /** DOT: for the stage that it leads to. */
  readonly fidelity: Fidelity | null;
  readonly thread: string | null;
  readonly at: Position;
}

export type StageOutcome = "success" | "partial_success" | "fail" | "retry" | "skipped";
