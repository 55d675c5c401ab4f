import type { Settings, Trigger } from "../settings.js";
import { verificationOf } from "../verification.js";

/**
 * Triggers of the run itself. One that fires leads a life without an issue: commands, fixers, review, landing. The
 * verification of an epic is one that nobody configures: a review alone, whose verdict completes the epic.
 */
export type RunTriggerName = "run_end" | "epic_completion" | "periodic" | "epic_verification";
export type TriggerName = "session_end" | RunTriggerName;

/** A work item of a pull request that leads a life of its own, in the worktree of the issue that it is about. */
export interface PullRequestItem {
  readonly source: "rework" | "merge_fix" | "code_review";
  readonly issueId: string;
  readonly prNumber: number;
  readonly cycle: number;
  /** The implementer's session, where there is one to go on in. */
  readonly session: string | null;
}

/** What a life is decided by and does not own: the run's frozen settings and what the user asked for. */
export interface IssuePolicy {
  /** The life is this trigger's, not an issue's. */
  readonly trigger?: RunTriggerName;
  /** The life is this item's. */
  readonly item?: PullRequestItem;
  readonly settings: Settings;
  readonly runId: string;
  readonly projectId: string;
  /** The branch that work lands on. */
  readonly target: string;
  /** The prompt's file in the attempt folder of this name. */
  readonly promptPath: (folder: string) => string;
  readonly options: {
    readonly strict: boolean;
    readonly fresh: boolean;
    readonly resume?: boolean;
    readonly only?: "check" | "land" | "push";
    readonly watch?: boolean;
  };
}

/** What all lives of a run are decided by. */
export type CommonPolicy = Omit<IssuePolicy, "trigger" | "item" | "promptPath">;
interface OwnPolicy extends Pick<IssuePolicy, "promptPath"> {
  readonly trigger: RunTriggerName | undefined;
  readonly item: PullRequestItem | undefined;
}

/** One place for whoever leads a life and for whoever folds its journal again: both must come to the same. */
export function lifePolicy(common: CommonPolicy, { promptPath, trigger, item }: OwnPolicy): IssuePolicy {
  const { settings, runId, projectId, target, options } = common;
  const whose = { ...(trigger ? { trigger } : {}), ...(item ? { item } : {}) };
  return { settings, runId, projectId, target, options, promptPath, ...whose };
}

/** How work that has passed gets to the user: onto the target, in a pull request, or as a branch that they merge themselves. */
export function deliveryMode({ settings, options, trigger }: DeliveryPolicy): Settings["finalize"]["mode"] {
  const { mode } = settings.finalize;
  if (options.only === "land") return "merge";
  // What a trigger's fixers did is of no issue, and pull requests are issues'.
  return mode === "pr" && trigger ? "branch" : mode;
}
interface DeliveryPolicy extends Pick<IssuePolicy, "settings"> {
  readonly options: Pick<IssuePolicy["options"], "only">;
  readonly trigger?: RunTriggerName | undefined;
}

/** What triggers of a run mend is given to the user as one branch: a later one goes on from there. */
export function continuesBranch(policy: DeliveryPolicy): boolean {
  const mends = policy.trigger !== undefined && policy.trigger !== "epic_verification";
  return mends && deliveryMode(policy) === "branch";
}

/** Judgements, not repeats: 0 and 1 both mean one. Where no agent may start, there is one. */
export function gateAttempts(policy: IssuePolicy): number {
  if (policy.options.only) return 1;
  return Math.max(1, policy.settings.max_gate_retries);
}
interface ReviewPolicy extends Pick<IssuePolicy, "settings"> {
  readonly options: Pick<IssuePolicy["options"], "only">;
  readonly item?: IssuePolicy["item"];
}

export function reviewAttempts(policy: ReviewPolicy): number {
  if (policy.options.only || policy.item) return 1;
  return Math.max(1, policy.settings.per_issue_review.max_retries);
}

/**
 * The number of the round that would be the last: what fixers do is judged too, once the rounds are used up. Rounds that
 * passed, and were followed by a merge, use up none; a fixer that failed is followed by none.
 */
export function lastReviewRound(
  policy: ReviewPolicy,
  review: { readonly round: number; readonly blocking: number; readonly fixers: number },
): number {
  const { failure_mode, max_retries } = policy.settings.per_issue_review;
  const fixes = failure_mode === "remediate" && !policy.options.only && !policy.item;
  const left = Math.max(0, reviewAttempts(policy) - review.blocking - 1);
  return review.round + left + (fixes ? Math.max(0, max_retries - review.fixers) : 0);
}

/** How many there were: one that was wound down before any of its reviewers had a place was none. */
export function reviewRounds(review: {
  readonly round: number;
  readonly slots: readonly { readonly starts: number }[];
}): number {
  const { round, slots } = review;
  return slots.length > 0 && slots.every(({ starts }) => starts === 0) ? round - 1 : round;
}

/** The trigger whose commands this life runs: an issue's session_end, or the one that the life is of. */
export function triggerName({ trigger }: IssuePolicy): TriggerName {
  return trigger ?? "session_end";
}
export function triggerOf(policy: IssuePolicy): Trigger | null {
  const name = triggerName(policy);
  return name === "epic_verification" ? verificationOf(policy.settings) : policy.settings.validation_triggers[name];
}

/** The command's own word, wherever it runs: a trigger that changes what it runs has no other. */
export function mayFail({ settings }: IssuePolicy, name: string): boolean {
  return settings.commands[name]?.allow_fail ?? false;
}
