import type { BoardEvent } from "../board/board-event.js";
import type { PayloadComment, PayloadPatch, WorkPayload } from "../board/payload.js";
import type { EpicName, FollowUpText, FollowUpTold, Issue, ItemStatus, Scope } from "./tracker.js";

/** A row of the board. */
export interface WorkItem extends Issue {
  readonly projectId: string;
  readonly source: string;
  readonly claimedBy: string | null;
  readonly leaseUntil: number | null;
  readonly failureCount: number;
  readonly failureReason: string | null;
  readonly payload: WorkPayload | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Ids are names of folders and branches too. */
export function isItemId(text: string, longest = 64): boolean {
  return text.length <= longest && /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(text);
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
  /** Its source must be the item's. */
  readonly payload?: WorkPayload | null;
  /** Default: available. One that waits for people is taken by no run. */
  readonly status?: "available" | "waiting_for_response";
}

/** An item whose id says what it is for, so that it is made once. */
export interface NamedWorkItem extends NewWorkItem {
  readonly id: string;
}

/** `isNew` false: it was there already, whatever has become of it; nothing was changed or told again. */
export type AddOnceResult =
  | { readonly ok: true; readonly id: string; readonly isNew: boolean }
  | { readonly ok: false; readonly reason: string };

/** Told in the transaction that makes the change, and only when it is made. */
export interface ToldWith {
  readonly itemId: string;
  readonly event: BoardEvent;
}

export interface MoreRework {
  /** Says whether it has been added. */
  readonly name: string;
  readonly feedback: readonly string[];
  readonly comments: readonly PayloadComment[];
  readonly told: readonly ToldWith[];
}

export type AddResult =
  | { readonly ok: true; readonly id: string }
  /** `hint`: what to do instead, where there is more to say than the reason. */
  | { readonly ok: false; readonly reason: string; readonly hint?: string };

/** The board: each call is one short transaction. Claims are compare-and-set. */
export interface WorkItems {
  add(item: NewWorkItem): Promise<AddResult>;
  /** The same id asked again, or the same rework of a pull request, is the item that is there. */
  addOnce(item: NamedWorkItem, told?: readonly ToldWith[]): Promise<AddOnceResult>;
  /**
   * Completes an item and adds the one after it, in one transaction. Asked again it changes nothing; refused when
   * `holder` (null: whoever) does not hold the first.
   */
  succeed(
    projectId: string,
    id: string,
    next: {
      readonly holder: string | null;
      readonly note: string | null;
      readonly commit: string | null;
      readonly successor: NamedWorkItem;
      readonly told?: readonly ToldWith[];
    },
  ): Promise<AddOnceResult>;
  /**
   * Adds to a rework that nobody has begun; a merge_fix becomes one by it. Asked again under the same name it changes
   * nothing. False: somebody has begun it, or there is no such item.
   */
  joinRework(projectId: string, id: string, more: MoreRework): Promise<boolean>;
  /** Sets these keys, leaves the others. False: there is no such item, or it cannot have such a payload. */
  setPayload(projectId: string, id: string, patch: PayloadPatch): Promise<boolean>;
  /**
   * Marks an item for a person: human_review_required, escalation_reason, escalated_at, and the event; one that was in
   * the queue waits for an answer. False: it was marked already, and nothing was told.
   */
  escalate(
    projectId: string,
    id: string,
    escalation: { readonly reason: string; readonly event: BoardEvent },
  ): Promise<boolean>;
  /** False: there is no such item. */
  appendEvent(projectId: string, id: string, event: BoardEvent): Promise<boolean>;
  /** The rework item of a pull request's cycle. */
  rework(projectId: string, prNumber: number, cycle: number): Promise<WorkItem | null>;
  /** All items of a pull request in the order they were made, the implementation among them. */
  ofPullRequest(projectId: string, prNumber: number): Promise<WorkItem[]>;
  /** Issues that wait in a pull request, oldest first. */
  inPullRequests(projectId: string): Promise<WorkItem[]>;
  /** What was said when the item was completed; null: it is not. */
  completion(
    projectId: string,
    id: string,
  ): Promise<{ readonly commit: string | null; readonly note: string | null } | null>;
  /** Items that wait for a person by `escalate`, oldest first; null: of every project. */
  escalated(projectId: string | null, limit: number): Promise<WorkItem[]>;
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
    /** Only items of these sources; `issues`: all but those that pull requests make. */
    readonly sources?: readonly string[] | "issues";
  }): Promise<WorkItem[]>;
  /** Somebody has said retry, and nobody has had it since. */
  isRetried(projectId: string, id: string): Promise<boolean>;
  /** Somebody has stopped it by its name since the run began; nobody has said retry or taken it since. */
  isStopped(projectId: string, id: string, runId: string): Promise<boolean>;
  /** It was begun afresh, and what was put aside of it may still be taken up: nobody has noted that it is settled. */
  isToSettle(projectId: string, id: string): Promise<boolean>;
  noteSettled(projectId: string, id: string): Promise<void>;
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
  /** False when `holder` (null: whoever) does not hold it. `to`: what it is then, available unless given. */
  release(projectId: string, id: string, holder: string | null, to?: ItemStatus): Promise<boolean>;
  /** What became of an item. `failed` adds one to failureCount. False when `holder` (null: whoever) no longer holds it. */
  settle(
    projectId: string,
    id: string,
    holder: string | null,
    to: {
      readonly status: "completed" | "failed" | "waiting_for_response";
      readonly reason: string | null;
      readonly commit: string | null;
      /** Of what failed: the third failure quarantines it, those of resumes left out. */
      readonly mayQuarantine?: true;
      /** It was a resume that failed. */
      readonly resumed?: true;
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
  appendFollowUp(projectId: string, source: string, text: FollowUpText): Promise<FollowUpTold>;
}
