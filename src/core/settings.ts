/**
 * The resolved configuration, frozen before anything starts. Keys are spelled as in ratchet.yaml, so that a value has
 * one name from the file to the place that uses it. config/ produces it; whoever needs a section is given that section.
 */
export interface Settings {
  readonly preset: string | null;
  readonly commands: Readonly<Record<string, CommandSettings>>;
  readonly commands_env: "inherit" | readonly string[];
  readonly evidence_check: { readonly required: readonly string[] };
  readonly agent: AgentSettings;
  readonly timeout_minutes: number;
  readonly idle_timeout_seconds: number;
  /** `auto` is already resolved to a number here. */
  readonly max_agents: number;
  readonly max_issues: number | null;
  readonly max_gate_retries: number;
  readonly tracker: { readonly type: "local" | "beads" | "github" };
  readonly per_issue_review: ReviewSettings;
  readonly validation_triggers: TriggerSettings;
  /** The section that chooses the reviewer of all reviews, where a flag has left the section itself out. */
  readonly left_out_reviewer?: { readonly section: ReviewSectionName; readonly review: ReviewSettings };
  /** What session_end is without the flag that leaves it out: what it has found is tracked all the same. */
  readonly left_out_session_end?: Trigger;
  readonly finalize: { readonly mode: "merge" | "pr" | "branch"; readonly into: string | null };
  readonly pull_requests: PullRequestSettings;
  readonly forge: { readonly type: "github" | "memory"; readonly repo: string | null; readonly api_url: string | null };
  readonly budgets: { readonly issue: Budget; readonly run: Budget };
  readonly convergence: { readonly same_failure: number; readonly rounds_without_fewer_findings: number };
  readonly store: { readonly url: string | null };
  readonly worktree: { readonly copy: readonly string[] };
  readonly docs_patterns: readonly string[];
  readonly retention_days: number;
}

export interface CommandSettings {
  readonly command: string;
  /** Seconds. */
  readonly timeout: number;
  readonly allow_fail: boolean;
  readonly exclusive: boolean;
}

export type AgentKind = "claude" | "codex" | "pi" | "acp" | "command" | "scripted";
export interface AgentSettings {
  readonly type: AgentKind;
  readonly model: string | null;
  readonly effort: string | null;
  readonly command: readonly string[];
  /** The script of `type: scripted`, absolute. */
  readonly script: string | null;
  readonly workflow: string | null;
  readonly sandbox: "none" | "bwrap";
  /** Who goes on when this one cannot; null: it is waited for. */
  readonly fallback: AgentChoice | null;
  /** USD per million tokens, by model; before the built-in table. */
  readonly prices: Readonly<Record<string, TokenPrice>>;
  readonly backoff_seconds: readonly number[];
  /** Names (or PREFIX_*) of environment variables the agent may see. */
  readonly env: readonly string[];
}

/** An agent named in one line: another vendor's, or another model of the same. */
export interface AgentChoice {
  readonly type: AgentKind;
  readonly model: string | null;
  readonly effort: string | null;
  /** For `command` and `acp`. */
  readonly command: readonly string[];
  /** As agent.env. */
  readonly env: readonly string[];
}
export interface TokenPrice {
  readonly input: number;
  readonly output: number;
  /** Input read from a cache; where it is not given, as `input`. */
  readonly cached?: number;
}

export type ReviewerKind = "cerberus" | "agent_sdk" | "command" | "panel";
export type FindingThreshold = "P0" | "P1" | "P2" | "P3" | "none";
export type FailureMode = "abort" | "continue" | "remediate";

/** Who reviews: the part of a review section that chooses the reviewer. */
export interface ReviewerSettings {
  readonly reviewer_type: ReviewerKind;
  readonly command: readonly string[];
  readonly cerberus: CerberusSettings;
  readonly agent_sdk_timeout: number;
  readonly agent_sdk_model: "sonnet" | "opus" | "haiku";
  readonly agent_sdk_agent: AgentChoice | null;
}
export interface CerberusSettings {
  readonly timeout: number;
  readonly spawn_args: readonly string[];
  readonly wait_args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}
export interface PanelMember extends ReviewerSettings {
  readonly name: string;
  readonly reviewer_type: Exclude<ReviewerKind, "panel">;
}
export interface ReviewSettings extends ReviewerSettings {
  readonly enabled: boolean;
  readonly panel: readonly PanelMember[];
  readonly max_retries: number;
  readonly finding_threshold: FindingThreshold;
  readonly track_review_issues: boolean;
  readonly failure_mode: FailureMode;
  readonly baseline: "since_run_start" | "since_last_review" | null;
}

export type ReviewSectionName = "per_issue_review" | `validation_triggers.${keyof TriggerSettings}`;

export interface TriggerCommand {
  readonly ref: string;
  readonly command: string;
  readonly timeout: number;
}
export interface Trigger {
  readonly failure_mode: FailureMode;
  readonly max_retries: number;
  readonly timeout: number;
  readonly commands: readonly TriggerCommand[];
  readonly code_review: ReviewSettings | null;
}
export type FireOn = "success" | "failure" | "both";
export interface TriggerSettings {
  readonly session_end: Trigger | null;
  readonly run_end: (Trigger & { readonly fire_on: FireOn }) | null;
  readonly epic_completion: (Trigger & { readonly fire_on: FireOn; readonly epic_depth: "top_level" | "all" }) | null;
  readonly periodic: (Trigger & { readonly interval: number }) | null;
}

export interface PullRequestSettings {
  readonly max_rework_cycles: number | null;
  readonly comment_timeout_seconds: number;
  readonly max_inline_comments: number;
  readonly rework_on_comment: boolean;
  readonly trusted: readonly string[];
  readonly review: { readonly enabled: boolean };
  readonly merge: "squash" | "merge" | "rebase" | "none";
  readonly poll_seconds: number;
}

/** null: no limit. */
export interface Budget {
  readonly usd: number | null;
  readonly tokens: number | null;
  readonly minutes: number | null;
}
