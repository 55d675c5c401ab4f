import type { EpicName, FollowUpText, Issue, ItemStatus, Scope } from "./tracker.js";

/** A row of the board. */
export interface WorkItem extends Issue {
  readonly projectId: string;
  readonly source: string;
  readonly claimedBy: string | null;
  readonly leaseUntil: number | null;
  readonly failureCount: number;
  readonly failureReason: string | null;
  readonly payload: unknown;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Ids are names of folders and branches too. */
export function isItemId(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text);
}

export interface NewWorkItem {
  readonly projectId: string;
  /** null: `<project>-<n>`. */
  readonly id: string | null;
  readonly title: string;
  readonly body: string;
  readonly type: "task" | "epic";
  readonly parent: string | null;
  readonly deps: readonly string[];
  readonly priority: number;
  readonly source: string;
  readonly createdAt: number | null;
}

export type AddResult = { readonly ok: true; readonly id: string } | { readonly ok: false; readonly reason: string };

/** The board: each call is one short transaction. Claims are compare-and-set. */
export interface WorkItems {
  add(item: NewWorkItem): Promise<AddResult>;
  get(projectId: string, id: string): Promise<WorkItem | null>;
  list(query: {
    readonly projectId: string | null;
    readonly statuses: readonly ItemStatus[] | null;
    readonly limit: number;
  }): Promise<WorkItem[]>;
  /** Best first by score (priority and age), then older first. Costs the same whatever the number of rows. */
  ready(query: {
    readonly projectId: string;
    readonly scope: Scope;
    readonly resume: boolean;
    readonly limit: number;
    readonly now: number;
  }): Promise<WorkItem[]>;
  /** The newest event of the board. */
  cursor(): Promise<number>;
  /** Waits for an event after it that may have made an item ready; rejects when aborted. */
  changed(projectId: string, cursor: number, signal: AbortSignal): Promise<void>;
  /** leaseUntil null: the claim lives as long as its holder, a run. */
  claim(
    projectId: string,
    id: string,
    claim: {
      readonly holder: string;
      readonly leaseUntil: number | null;
      readonly now: number;
      /** Also one that waits for a person or is quarantined. */
      readonly any?: boolean;
    },
  ): Promise<boolean>;
  /** False when `holder` (null: whoever) does not hold it. */
  release(projectId: string, id: string, holder: string | null): Promise<boolean>;
  /** What became of a claimed item. `failed` adds one to failureCount. False when `holder` no longer holds it. */
  settle(
    projectId: string,
    id: string,
    holder: string,
    to: {
      readonly status: "completed" | "failed" | "waiting_for_response";
      readonly reason: string | null;
      readonly commit: string | null;
    },
  ): Promise<boolean>;
  /** Epics that have children, none of them open, and that nobody else holds. */
  dueEpics(query: {
    readonly projectId: string;
    readonly scope: Scope;
    readonly holder: string;
    readonly now: number;
  }): Promise<EpicName[]>;
  childrenOf(projectId: string, epic: string): Promise<WorkItem[]>;
  claimEpic(projectId: string, epic: string, holder: string): Promise<boolean>;
  /** False: a child is open, or it is somebody else's; the holder that did it is told so again. */
  completeEpic(
    projectId: string,
    epic: string,
    by: { readonly holder: string; readonly note: string },
  ): Promise<boolean>;
  appendFollowUp(projectId: string, source: string, text: FollowUpText): Promise<string>;
}
