import type { Ledger } from "../finding.js";
import type { PrEffect } from "./effects.js";

/** Who the pull request is; it never changes. */
export interface PrIdentity {
  readonly number: number;
  readonly url: string;
  readonly repo: string;
  readonly branch: string;
  readonly baseBranch: string;
  readonly projectId: string;
  readonly issueId: string;
  readonly title: string;
}

/**
 * What a pull request's machine remembers: where each remark, check and conflict stands, so that every one of them is
 * delivered once and answered once. It grows with what was said in this pull request and with nothing else.
 */
export interface PrState {
  readonly version: 1;
  readonly phase: "following" | "merged" | "closed";
  readonly head: string;
  /** When it was first seen there. */
  readonly headAt: number;
  /** Where the last look was, for polls. */
  readonly cursor: string | null;
  /** Number keys that are owed again and again. */
  readonly looks: number;
  readonly waits: number;
  readonly timers: number;
  readonly tasks: number;
  readonly timer: string | null;
  readonly looking: boolean;
  /** Asked for while a look was under way. */
  readonly lookAgain: boolean;
  readonly cycle: number;
  /** Cycles before a person decided anew: they count no more. */
  readonly forgiven: number;
  /** The rework that has not been pushed yet, or that waits for a person. */
  readonly working: {
    readonly cycle: number;
    readonly item: string;
    /** Somebody has taken it: nothing more goes along. */
    readonly begun?: true;
  } | null;
  readonly escalated: boolean;
  readonly deliveries: Readonly<Record<string, Delivery>>;
  /** What a person asked for, until a look has been taken. */
  readonly wanted: { readonly cycle: number | null; readonly feedback: string | null } | null;
  /** Review items of ours whose verdict was taken in. */
  readonly judged: readonly string[];
  /** The head that our reviewer passed. */
  readonly passed: string | null;
  /** The head that was tried, with what spoke for it. */
  readonly mergeTried: string | null;
  /** What the forge had against the last try. */
  readonly refused?: MergeRefusal | null;
  /** What kept it from being merged when it was last looked at; null: nothing. */
  readonly unmerged?: MergeObstacle | null;
  /** The head that the newest review item is for. */
  readonly reviewAsked?: string | null;
  /** How many reviews were asked for besides those that come by themselves. */
  readonly reviews?: number;
  /** Review items without a verdict of which a person was told. */
  readonly gaveUp?: readonly string[];
  readonly toldDefault: boolean;
  /** What was begun and has not settled, looks and waits left out. */
  readonly owed: readonly PrTask[];
  /** What could not be done, to be tried again. */
  readonly undone: readonly PrTask[];
  /** Looks in a row that failed. */
  readonly failures: number;
  /** Since when it is closed, while it is still looked at because somebody may open it again. */
  readonly closedAt?: number | null;
  /** How often somebody has. */
  readonly reopened?: number;
  /** What we have posted, as ids of remarks: never feedback, whatever its words become. */
  readonly posted?: readonly string[];
  /** The value of max_rework_cycles that could not be used, as it was told. */
  readonly toldIgnored?: string;
  /** What could not be fetched, as it was told; empty or absent: all of it could. */
  readonly toldFailed?: string;
}

export interface MergeRefusal {
  /** As in `mergeTried`: while nothing has changed, it stands. */
  readonly tried: string;
  readonly reason: string;
  readonly at: number;
  /** How often in a row. */
  readonly times: number;
}

export type MergeObstacle =
  | "not-fetched"
  | "needs-person"
  | "rework"
  | "feedback"
  | "untrusted-author"
  | "draft"
  | "conflict"
  | "checks-failed"
  | "checks-pending"
  | "changes-requested"
  | "review-due"
  | "stale-approval"
  | "no-approval"
  /** `merge: none`. */
  | "left-to-people"
  /** The forge has not worked out yet whether it can be. */
  | "unknown"
  | "checks-may-come";

export interface Delivery {
  /**
   * waiting: goes along with the next cycle · untrusted: listed for a person · delivered: an agent has it · answered ·
   * repeated: the same words again · void: nothing to be done (an approval, a check that passes by now).
   */
  readonly status: "waiting" | "untrusted" | "delivered" | "answered" | "repeated" | "void";
  readonly cycle?: number;
  readonly thread?: string;
  readonly digest?: string;
  /** A person let it through, in these words. */
  readonly admitted?: true;
  /** It is reason enough for a cycle of its own. */
  readonly cause?: true;
  /** Who, of untrusted ones. */
  readonly login?: string;
  /** In the ledger. */
  readonly finding?: string;
  /** A person's own (`pr rework --feedback`), which nobody at the forge is answered for. */
  readonly words?: string;
}

export type PrTask = Exclude<PrEffect, { readonly kind: "look" | "wait" | "timer" }>;

export interface PrLife {
  readonly state: PrState;
  readonly ledger: Ledger;
}

/** It is looked at, and goes on when there is reason to: it is open, or closed not so long ago. */
export function isFollowed({ phase, closedAt = null }: PrState): boolean {
  return phase === "following" || (phase === "closed" && closedAt !== null);
}

/**
 * Somebody who read `before` and asked for a look has got one. The look that was under way then may be all there is: one
 * that finds it merged or closed needs no other after it.
 */
export function isLookedAt(before: PrState | null, now: PrState): boolean {
  const { waits, looks, looking } = before ?? { waits: 0, looks: 0, looking: false };
  const heard = now.waits > waits;
  return heard && (now.looks > looks || looking) && !now.looking && !now.lookAgain;
}

export function newPullRequest(head: string): PrState {
  return {
    version: 1,
    phase: "following",
    head,
    headAt: 0,
    cursor: null,
    looks: 0,
    waits: 0,
    timers: 0,
    tasks: 0,
    timer: null,
    looking: false,
    lookAgain: false,
    cycle: 0,
    forgiven: 0,
    working: null,
    escalated: false,
    deliveries: {},
    wanted: null,
    judged: [],
    passed: null,
    mergeTried: null,
    toldDefault: false,
    owed: [],
    undone: [],
    failures: 0,
  };
}
