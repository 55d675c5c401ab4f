import type { Priority } from "../finding.js";

/** An issue as a tracker tells it. */
export interface Issue {
  readonly id: string;
  readonly title: string;
  readonly body: string;
  readonly type: "task" | "epic";
  readonly parent: string | null;
  readonly deps: readonly string[];
  readonly priority: Priority;
  readonly status: ItemStatus;
  /** The issue whose non-blocking findings it collects; never taken by the run that made it. */
  readonly followUpOf?: string | null;
  /** When it was last changed, where the tracker knows. */
  readonly changedAt?: number;
}
export type ItemStatus =
  | "available"
  | "claimed"
  | "completed"
  | "blocked"
  | "waiting_for_response"
  | "failed"
  | "quarantined";

export type Scope =
  | { readonly type: "all" }
  | { readonly type: "epic"; readonly epic: string }
  | { readonly type: "ids"; readonly ids: readonly string[] }
  | { readonly type: "orphans" };

/** `any`: one that waits for a person or is quarantined, too; a person has asked for it. */
interface ClaimHow {
  readonly any: boolean;
}

export interface FinishedEpic {
  readonly id: string;
  /** It is in no other epic. */
  readonly isTop: boolean;
}

/** Where issues come from and where their fate is told. A failing call throws ExternalError: it is never "no work". */
export interface Tracker {
  readonly kind: "local" | "beads" | "github";
  /** Issues that may start now, best first: open, not an epic, every dependency completed. With `resume`, failed and released ones too, first. */
  ready(query: { readonly scope: Scope; readonly resume: boolean; readonly limit: number }): Promise<Issue[]>;
  get(id: string): Promise<Issue | null>;
  /** Where its history is now, for trackers that can tell of changes; asked before `ready`. */
  cursor?(): Promise<number>;
  /** Waits until something may have become ready since; rejects when aborted. */
  changed?(cursor: number, signal: AbortSignal): Promise<void>;
  /** Compare-and-set: false when someone else holds it or it is no longer open. The same holder asking again gets true. */
  claim(id: string, holder: string, how?: ClaimHow): Promise<boolean>;
  complete(id: string, holder: string, done: { readonly commit: string | null; readonly note: string }): Promise<void>;
  fail(id: string, holder: string, reason: string): Promise<void>;
  release(id: string, holder: string): Promise<void>;
  escalate(id: string, holder: string, reason: string): Promise<void>;
  /**
   * Completes the epic above `child` when it has no open child any more. null: there is none, more is to be done, or
   * somebody else completed it; the holder that did is told so whenever it asks. Absent: the tracker sees to its epics itself.
   */
  finishEpic?(child: string, holder: string): Promise<FinishedEpic | null>;
  /** One follow-up issue per source issue: made, or appended to. Returns its id. */
  followUp(source: string, text: { readonly title: string; readonly body: string }): Promise<string>;
}
