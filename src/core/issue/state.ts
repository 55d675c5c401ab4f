import type { Ledger } from "../finding.js";
import type { ItemStatus } from "../ports/tracker.js";
import type { IssueStatus } from "../record.js";
import type { Seen, SessionEndResult } from "../report.js";
import type { Deliver, IssueStart } from "../run/effects.js";
import type { IssueEffect, TurnEffect } from "./effects.js";
import type { Interruption, Marker, Proposed } from "./events.js";
import type { TriggerName } from "./policy.js";

/**
 * An issue's life as its row keeps it: counters, ids and references, never texts, so that it stays below 8 kB whatever
 * happens. Settings are not in it: they are the run's, frozen, and come with the policy.
 */
export type Phase =
  | "claiming"
  | "preparing"
  | "implementing"
  | "gating"
  | "session-ending"
  | "reviewing"
  | "finalizing"
  | "closing"
  | "done";

export interface IssueState {
  readonly version: 1;
  readonly issueId: string;
  readonly title: string;
  readonly life: number;
  /** It is a follow-up itself, so it makes none of its own, but for what blocked it and was never decided. */
  readonly followUp: boolean;
  readonly phase: Phase;
  readonly startedAt: number;
  /** How long nobody was at work on it since, because the process had ended. */
  readonly awayMs?: number;
  /** Of a landing by hand: what the item was before it was claimed. */
  readonly was?: ItemStatus;
  readonly resume: {
    readonly runId: string;
    readonly sessionId: string | null;
    /** Whose session was left, where it is none of today's agent. */
    readonly sessionOf?: string;
    readonly baseSha: string | null;
  } | null;
  /** Nothing is left of the work that it was resumed for. */
  readonly startsAnew?: boolean;
  /** Blocking findings that an earlier life has left, and this one was resumed with or not; "open": too many to list, all that block are meant. */
  readonly carried: readonly string[] | "open";
  readonly owed: readonly Owed[];
  readonly signals: number;
  readonly folders: number;
  readonly turns: number;
  readonly timers: number;
  readonly draining: boolean;
  readonly halt: "abort" | "stop" | null;
  /** A stop came after an abort, or after its ending was decided: nothing is waited for any longer than a stop allows. */
  readonly hurry: boolean;
  readonly usage: { readonly tokens: number; readonly usd: number };
  /** How the run's budget was used up, once it was: no further turn starts. */
  readonly runBudget?: string;
  readonly baseSha: string;
  /** What reviews are based on: the newest commit of the target that is known to be in the work. */
  readonly reviewBase: string;
  /** What this life, if it demands it, or an earlier one was to merge and has not; once it has, reviews are based on it. */
  readonly unmerged?: string | null;
  /** As its worktree has it: an id that git would misread is spelt differently there. */
  readonly branch?: string;
  /** Of a pull request's item: what the pull request had of the branch when it began. */
  readonly startHead?: string;
  /** All that is left of an earlier life's work: to push it. */
  readonly deliver?: Deliver | null;
  /** The pull request that the work waits in. */
  readonly pullRequest?: { readonly number: number; readonly url: string };
  /** Its worktree was made anew in the middle of the life, and nothing begins there before setup has run. */
  readonly unready?: boolean;
  readonly work: Work | null;
  readonly marker: Marker | null;
  readonly session: string | null;
  /** agent.fallback has taken over. */
  readonly fallback?: true;
  readonly turn: TurnState | null;
  readonly gate: GateState;
  /** What the last failed gate or blocking round saw, the earlier run's included. */
  readonly seen: Seen | null;
  /** Findings that were not open before a landing by hand. */
  readonly tried?: readonly string[];
  readonly sessionEnd: SessionEndState | null;
  /** How an issue's session_end came out last. */
  readonly sessionEndResult?: Conclusion;
  /** How the trigger ended that the life is of; absent in an issue's life. */
  readonly concluded?: Concluded;
  /** Of a trigger of the run: when all its reviewers had last judged what has landed, without a fixer's commits. */
  readonly judgedBaseAt?: number;
  /** What was open of its commands when one had last run there. */
  readonly failedOnBase?: readonly string[];
  /** Of an epic's verification: what the tracker was told of it. */
  readonly verification?: Verification;
  readonly sessionEndRuns: number;
  /** How often the gate has refused what fixers of session_end committed; absent: never. */
  readonly fixersRefused?: number;
  /** By stage: the last visit of it that an earlier life reported from. Absent: this life has not reported from any. */
  readonly visitsBefore?: Readonly<Record<string, number>>;
  readonly review: ReviewState;
  readonly landing: LandingState;
  readonly ending: Ending | null;
  /** Of an escalated issue: where its dossier is, null where it could not be written; it is told once the tracker knows. */
  readonly dossier?: string | null;
  /** A tracker call that gave up: the run exits 3. */
  readonly trackerOwed: boolean;
  /** Why the life cannot go on: the tracker gave no answer. */
  readonly trackerAway?: string;
  /** Somebody has deleted the issue: nothing can be said to anybody about it. */
  readonly issueGone?: true;
  /** The effect that was last known to wait long for the tracker, and for what. */
  readonly slow?: { readonly key: string; readonly for: string };
  /** Its failure mode says that the whole run aborts. */
  readonly abortRun: boolean;
}

/** The machine's value: the row and, beside it, the ledger (kept as rows of its own). */
export interface IssueLife {
  readonly state: IssueState;
  readonly ledger: Ledger;
}

/** An effect that is owed, as far as the machine must know it to route its result or to end it. */
export interface Owed {
  readonly key: string;
  readonly kind: IssueEffect["kind"];
  readonly folder?: string;
  /** The reviewer's slot it belongs to. */
  readonly slot?: string;
  /** A stop has been owed for it. */
  readonly told?: boolean;
}

export interface Work extends Omit<Seen, "reviewed"> {
  readonly head: string;
  readonly commits: number;
  readonly dirtyCount: number;
  readonly docsOnly: boolean;
  readonly containsBase: boolean;
  readonly named: boolean | null;
}

/** The turn that is owed or about to be repeated. Repeats keep the number and get a new key and folder. */
export interface TurnState {
  readonly role: "implementer" | "fixer";
  readonly stage: "implement" | TriggerName | "per_issue_review";
  readonly prompt: TurnEffect["prompt"];
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly folder: string;
  readonly session: string | null;
  /** The one that the prompt went into; the agent may have told another since. */
  readonly sent?: string | null;
  /** The session id is an earlier run's. */
  readonly earlier: boolean;
  /** Only the carried findings are listed. */
  readonly only: boolean;
  /** A review judges it: an unchanged tree is no progress at once. */
  readonly judged: boolean;
  /** What was sent last, and what is sent when the timer fires. */
  readonly next: "same" | "continue";
  /** Why it is continued. */
  readonly interrupted?: Interruption;
  readonly transient: number;
  readonly limited: number;
  readonly idle: number;
  readonly lost: number;
  readonly restarted: boolean;
}

export interface GateState {
  readonly runs: number;
  readonly failures: number;
  readonly next: "session-ending" | "reviewing";
  /** The commands of the running execution that have ended, by name; null: none runs. */
  readonly evidence: Readonly<Record<string, boolean>> | null;
  readonly folder: string;
  /** Findings this execution has raised, and the names of the commands that raised them. */
  readonly raised: readonly string[];
  readonly failed: readonly string[];
  /** The tree of the last passed gate, by commands or by marker. */
  readonly tree: string | null;
  /** Trees whose gate passed by its commands; the newest last. */
  readonly passed: readonly string[];
  /** Single commands that passed, per tree; the newest last. */
  readonly cache: readonly { readonly tree: string; readonly names: readonly string[] }[];
}

export interface Verification {
  readonly completed: boolean;
  /** The issue that was made of what it found. */
  readonly followUp?: string;
  /** Somebody else has completed the epic meanwhile. */
  readonly byOthers?: true;
}
export interface SessionEndState {
  readonly startedAt: number;
  readonly execution: number;
  readonly fixers: number;
  readonly folder: string;
  readonly results: readonly SessionEndRun[];
  /** The common beginning of the output paths. */
  readonly root: string;
  /** How the commands came out, once they have. */
  readonly outcome: null | { readonly passed: boolean; readonly reason: string | null };
  readonly timer: string | null;
  readonly timerUntil: number;
  readonly remainingMs: number;
  readonly timedOut: boolean;
  readonly slots: readonly Slot[];
  /** The command that waits for its turn with others of its name. */
  readonly queued?: string | null;
  /** Fixers that its review sent; only at run level. */
  readonly reviewFixers?: number;
}
interface SessionEndRun {
  readonly exit: number | null;
  readonly timedOut: boolean;
  readonly seconds: number;
  /** Below `root`. */
  readonly output: string;
}

/** How a trigger ended. */
export interface Conclusion {
  readonly result: "pass" | "fail" | "timeout" | "interrupted";
  readonly reason: string | null;
}

/** What a trigger came to, as a state keeps it: the commands' texts are in the settings. */
export interface Concluded extends Conclusion {
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly results: SessionEndState["results"];
  readonly root: string;
  readonly review: SessionEndResult["code_review_result"];
  /** Every reviewer has given a verdict. */
  readonly judged?: boolean;
}

export interface ReviewState {
  readonly round: number;
  /** Rounds with blocking findings. */
  readonly blocking: number;
  /** A reviewer has given a verdict in this life. */
  readonly judged: boolean;
  readonly slots: readonly Slot[];
  /** The tree of the last blocking round, the earlier run's included. */
  readonly seen: string | null;
  /** The commit of the last passed round. */
  readonly passed: string | null;
  readonly fixers: number;
  /** The remediating fixer's session, while one is at work. */
  readonly fixer: { readonly session: string | null } | null;
}
export interface Slot {
  readonly name: string;
  /** queued: it runs again once no other does. */
  readonly status: "idle" | "running" | "queued" | "pass" | "fail" | "out";
  /** It has findings that were open after the last round that blocked. */
  readonly open: boolean;
  /** Turns started in this round, and how many of them gave no verdict. */
  readonly starts: number;
  readonly bad: number;
  readonly transient: number;
  readonly lost: number;
  /** What its verdict named. */
  readonly found?: readonly string[];
}

export interface LandingState {
  readonly rounds: number;
  readonly proposals: number;
  /** What others did must be merged into the branch before the gate. */
  readonly demanded: boolean;
  /** The branch whose newest commit that is; absent: the target. */
  readonly demandedOf?: string | null;
  /** The head that passed everything and is being pushed. */
  readonly delivers?: string | null;
  /** Why the remote refused it. */
  readonly refused?: string;
  /** What landing waits for, as it was last told; empty or absent: nothing. */
  readonly waiting?: string;
  readonly proposed: Proposed | null;
  /** How often what was proposed had no place any more; absent: never. */
  readonly moved?: number;
  /** It has landed, and the user's branch has not followed. */
  readonly behind?: true;
  readonly evidence: Readonly<Record<string, boolean>>;
  readonly raised: readonly string[];
  readonly folder: string;
}

export interface Ending {
  readonly status: Exclude<IssueStatus, "running"> | "not-claimed";
  readonly message: string;
  readonly error: string | null;
  readonly commit: string | null;
}

const carriedMax = 100;

const newReview = { round: 0, blocking: 0, judged: false, slots: [], passed: null, fixers: 0, fixer: null };

export function newIssue(start: IssueStart): IssueState {
  const { resume } = start;
  const blocking = resume?.blocking ?? start.blocking ?? [];
  const seen = (resume ? resume.seen : start.seen) ?? null;
  return {
    version: 1,
    issueId: start.issueId,
    title: start.title.length > 500 ? `${start.title.slice(0, 499)}…` : start.title,
    life: start.life,
    followUp: start.followUp ?? false,
    phase: "claiming",
    startedAt: 0,
    resume: resume && {
      ...{ runId: resume.runId, sessionId: resume.sessionId, baseSha: resume.baseSha },
      ...(resume.sessionOf === undefined ? {} : { sessionOf: resume.sessionOf }),
    },
    ...(start.deliver ? { deliver: start.deliver } : {}),
    carried: blocking.length > carriedMax ? "open" : blocking,
    owed: [],
    signals: 0,
    folders: start.folders ?? 0,
    turns: 0,
    timers: 0,
    draining: false,
    halt: null,
    hurry: false,
    usage: { tokens: 0, usd: 0 },
    baseSha: "",
    reviewBase: start.reviewBase ?? "",
    ...(start.unmerged ? { unmerged: start.unmerged } : {}),
    work: null,
    marker: null,
    session: null,
    turn: null,
    gate: {
      runs: 0,
      failures: 0,
      next: "session-ending",
      evidence: null,
      folder: "",
      raised: [],
      failed: [],
      tree: null,
      passed: [],
      cache: [],
    },
    seen,
    sessionEnd: null,
    sessionEndRuns: 0,
    review: { ...newReview, seen: seen?.reviewed ?? null },
    landing: {
      rounds: 0,
      proposals: 0,
      demanded: false,
      proposed: null,
      evidence: {},
      raised: [],
      folder: "",
    },
    ending: null,
    trackerOwed: false,
    abortRun: false,
  };
}
