import type { TimerEffect, WaitEffect } from "../issue/effects.js";
import type { MergeMethod } from "../ports/forge.js";

/**
 * What a pull request's machine can owe. It never works on code itself: rework and reviews are items of the board that
 * runs work off. What it owes is looking, telling, and putting items there.
 */
export type PrEffect =
  /** The forge and the board as they are now; settles with `looked`. */
  | { readonly kind: "look"; readonly key: string }
  | CycleEffect
  | JoinEffect
  /** Marks the implementation for a person, once, and tells the tracker. */
  | { readonly kind: "escalate"; readonly key: string; readonly reason: string; readonly maxCycles: number }
  /** A remark of the board about the pull request: comments that could not be fetched, a default that was taken. */
  | { readonly kind: "note"; readonly key: string; readonly note: PrNote }
  | PostEffect
  /** Merges at exactly this head; the item `pr_merge` tells of it. */
  | { readonly kind: "merge"; readonly key: string; readonly method: MergeMethod; readonly head: string }
  /** The pull request has ended: its items are settled, the issue is told, the worktree goes (closed: parked). */
  | {
      readonly kind: "finish";
      readonly key: string;
      readonly how: "merged" | "closed";
      readonly head: string;
      readonly commit: string | null;
    }
  /** Closed and opened again: the issue waits in it anew, with an item for its next review. */
  | { readonly kind: "reopen"; readonly key: string; readonly cycle: number; readonly times: number }
  /** An item for one more review of ours; `predecessor`: the one without a verdict that ends by it. */
  | {
      readonly kind: "review";
      readonly key: string;
      readonly cycle: number;
      readonly times: number;
      readonly predecessor: string | null;
    }
  | TimerEffect
  | WaitEffect;

/** One rework item for the cycle, and the open review item completed, in one transaction. */
export interface CycleEffect {
  readonly kind: "cycle";
  readonly key: string;
  readonly cycle: number;
  readonly maxCycles: number;
  /** merge_fix: a conflict with the base is all there is. */
  readonly source: "rework" | "merge_fix";
  /** What goes along: ids of remarks, checks and findings. */
  readonly parts: readonly string[];
  /** The file that holds their texts. */
  readonly look: string;
  /** A person's own words (`pr rework --feedback`). */
  readonly feedback: string | null;
  /** What it is about, in a line. */
  readonly reason?: string;
  /** Which of maxCycles it is: those that a person has forgiven are not counted. */
  readonly counted?: number;
  /** The review item that ends by it; null: none is open. */
  readonly predecessor: string | null;
}

/** More for a cycle whose item nobody has begun yet, in one transaction with the proof that nobody has. */
export interface JoinEffect {
  readonly kind: "join";
  readonly key: string;
  /** Names the addition, so that it is made once. */
  readonly join: string;
  readonly cycle: number;
  readonly item: string;
  readonly parts: readonly string[];
  readonly look: string;
  readonly feedback: string | null;
}

export type PostEffect =
  /** In the thread, with the commit that addressed it. */
  | {
      readonly kind: "post";
      readonly key: string;
      readonly op: "reply";
      readonly thread: string;
      readonly cycle: number;
      readonly commit: string;
    }
  /** One comment for what has no thread: summaries, comments, checks. */
  | {
      readonly kind: "post";
      readonly key: string;
      readonly op: "summary";
      readonly cycle: number;
      readonly commit: string;
      readonly parts: readonly string[];
    }
  /** Our reviewer's verdict, with its findings on their lines. */
  | {
      readonly kind: "post";
      readonly key: string;
      readonly op: "review";
      readonly item: string;
      readonly commit: string;
      readonly verdict: "pass" | "fail";
    }
  /** Why a person is needed, with the dossier. */
  | { readonly kind: "post"; readonly key: string; readonly op: "escalation"; readonly reason: string };

export type PrNote =
  | { readonly type: "comments_fetch"; readonly result: "timeout" | "error"; readonly part: string }
  | { readonly type: "log"; readonly level: "info" | "warn"; readonly text: string };
