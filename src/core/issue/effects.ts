import type { GivenBack } from "../ports/tracker.js";
import type { FindingThreshold } from "../settings.js";
import type { Interruption } from "./events.js";
import type { TriggerName } from "./policy.js";

/**
 * What an issue's machine can owe. Effects carry ids, names and numbers, never rendered text: the performer renders
 * prompts from the ledger and the tracker at the moment it starts. Every key is owed once in a machine's life.
 */
export type TurnRole = "implementer" | "fixer" | "reviewer" | "rework" | "stage";
export type PromptKind =
  | "implementer"
  | "gate_followup"
  | "review_followup"
  | "fixer"
  | "review"
  | "epic_verification"
  | "rework"
  | "continue"
  | "stage"
  | "goal";

export interface TurnEffect {
  readonly kind: "turn";
  readonly key: string;
  /** The attempt's folder below runs/<run>/<issue>/, e.g. `03-gate_followup`. */
  readonly folder: string;
  /** Stages are a workflow's. */
  readonly role: Exclude<TurnRole, "stage">;
  readonly prompt: Exclude<PromptKind, "stage" | "goal">;
  /** The stage on whose behalf the turn runs: `implement`, `session_end`, `per_issue_review`, `per_issue_review/<slot>`. */
  readonly stage: string;
  /** Reviewer slot (panel name, or reviewer_type where there is no panel); null for other roles. */
  readonly slot: string | null;
  readonly attempt: number;
  readonly maxAttempts: number;
  /** The session to go on in; null starts a new one. */
  readonly session: string | null;
  /** agent.fallback does it. */
  readonly fallback?: true;
  /** For reviewers: what is judged. For others base and the commit the turn starts from. */
  readonly base: string;
  readonly head: string;
  /** Only findings of these ids are listed (the first prompt of a resume); null: every open one. */
  readonly only: readonly string[] | null;
  /** Of a review: from which priority on a finding blocks. */
  readonly threshold?: FindingThreshold;
  /** For `continue`: the folder of the turn that is continued. */
  readonly continues: string | null;
  /** For `continue`: what ended that turn. Older versions did not say. */
  readonly interrupted?: Interruption;
  /** Wall-clock end of the turn's own clock, in ms since the epoch; kept through continues. null: set when it starts. */
  readonly until: number | null;
}

/** Ends a turn or command that is still owed: clean signal, grace, then SIGKILL of the tree. The turn itself settles as `stopped`. */
export interface StopEffect {
  readonly kind: "stop";
  readonly key: string;
  readonly folder: string;
  /** `clean`: the agent's own signal and 10 s. `patient`: 10 s to end by itself, then SIGTERM + 10 s. `kill`: SIGTERM, 2 s, SIGKILL. */
  readonly how: "clean" | "patient" | "kill";
}

export interface CommandEffect {
  readonly kind: "command";
  readonly key: string;
  readonly folder: string;
  readonly stage: "setup" | "gate" | TriggerName | "landing";
  readonly name: string;
  readonly command: string;
  readonly timeoutSeconds: number;
  readonly exclusive: boolean;
  /** Where it runs. */
  readonly place: "issue" | "landing";
  /** The commit it judges; the place is put there, clean, afterwards. Null for setup. */
  readonly commit: string | null;
  /** Another command was cut short at this place by a crash: what that changed goes first. */
  readonly cutShort?: true;
}

export type WorktreeEffect =
  | { readonly kind: "worktree"; readonly key: string; readonly op: "open"; readonly baseSha: string | null }
  /** A fixer's uncommitted work is committed by Ratchet. */
  | { readonly kind: "worktree"; readonly key: string; readonly op: "commit-all"; readonly message: string }
  /** What is in it now, without a turn that would tell. */
  | { readonly kind: "worktree"; readonly key: string; readonly op: "look" }
  /** Parks what is not landed, then removes the worktree. */
  | { readonly kind: "worktree"; readonly key: string; readonly op: "remove" };

export type LandEffect =
  | {
      readonly kind: "land";
      readonly key: string;
      readonly op: "propose";
      readonly head: string;
      readonly target: string;
      /** Trees that need no gate any more: a proposal with one of them lands at once. null: none needs one. */
      readonly gated?: readonly string[] | null;
      /** Lands also where the user's branch has moved on since it was proposed. */
      readonly insists?: true;
    }
  | {
      readonly kind: "land";
      readonly key: string;
      readonly op: "commit";
      readonly tip: string;
      readonly commit: string;
      readonly target: string;
      readonly head: string;
      readonly insists?: true;
    }
  /** mode branch: puts ratchet/<issue> into the user's repository. */
  | { readonly kind: "land"; readonly key: string; readonly op: "branch"; readonly head: string };

/** The branch goes to the forge. Its own commits are never overwritten there. */
export interface PushEffect {
  readonly kind: "push";
  readonly key: string;
  readonly head: string;
}
/** Opens the pull request of the branch, or finds the one that is there. */
export interface PullRequestEffect {
  readonly kind: "pull-request";
  readonly key: string;
  readonly head: string;
}

export type TrackerEffect =
  /** `any`: also one that waits for a person, to land it by hand. */
  | { readonly kind: "tracker"; readonly key: string; readonly op: "claim"; readonly any?: boolean }
  | {
      readonly kind: "tracker";
      readonly key: string;
      readonly op: "complete";
      readonly commit: string | null;
      readonly note: string;
    }
  /** The work waits in a pull request: its review item is made, and the issue is closed by the merge. */
  | {
      readonly kind: "tracker";
      readonly key: string;
      readonly op: "hand-over";
      readonly number: number;
      readonly url: string;
      readonly head: string;
    }
  /** `resumed`: this life was a resume of an earlier one. */
  | {
      readonly kind: "tracker";
      readonly key: string;
      readonly op: "fail";
      readonly reason: string;
      readonly resumed?: true;
    }
  | { readonly kind: "tracker"; readonly key: string; readonly op: "release" }
  /** It is again what it was. */
  | {
      readonly kind: "tracker";
      readonly key: string;
      readonly op: "give-back";
      readonly was: GivenBack;
      readonly reason: string;
    }
  | { readonly kind: "tracker"; readonly key: string; readonly op: "escalate"; readonly reason: string }
  /** Non-blocking findings that stay become one follow-up issue (deduplicated, appended). */
  | { readonly kind: "tracker"; readonly key: string; readonly op: "follow-up"; readonly findings: readonly string[] };

/** What a person needs who decides about an escalated issue, as files beside its attempts. */
export interface DossierEffect {
  readonly kind: "dossier";
  readonly key: string;
  readonly reason: string;
}

export interface TimerEffect {
  readonly kind: "timer";
  readonly key: string;
  readonly until: number;
}
/** The next inbox signal of this machine. */
export interface WaitEffect {
  readonly kind: "wait";
  readonly key: string;
}

export type IssueEffect =
  | TurnEffect
  | StopEffect
  | CommandEffect
  | WorktreeEffect
  | LandEffect
  | PushEffect
  | PullRequestEffect
  | TrackerEffect
  | DossierEffect
  | TimerEffect
  | WaitEffect;
