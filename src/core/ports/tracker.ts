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
  /** The issue whose non-blocking findings it collects, or "" where it does not say; never taken by the run that made it. */
  readonly followUpOf?: string | null;
  /** Somebody has had it, where the tracker knows. */
  readonly begun?: boolean;
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

/** What only a person's word takes an item out of. */
export type GivenBack = Extract<ItemStatus, "failed" | "waiting_for_response" | "quarantined">;

export type Scope =
  | { readonly type: "all" }
  | { readonly type: "epic"; readonly epic: string }
  | { readonly type: "ids"; readonly ids: readonly string[] }
  | { readonly type: "orphans" };

/** `any`: one that waits for a person or is quarantined, too; a person has asked for it. */
interface ClaimHow {
  readonly any: boolean;
}

export interface EpicName {
  readonly id: string;
  /** It is in no other epic. */
  readonly isTop: boolean;
}

/**
 * Epics are never run. One is due when it has children, none of them is open, and neither is anything that it depends
 * on: then it is completed, after a verification where there is a reviewer. Claims keep two runs from verifying the same one.
 */
export interface Epics {
  /** Due, in the scope, and held by nobody else who lives. */
  due(query: { readonly scope: Scope; readonly holder: string }): Promise<EpicName[]>;
  children(epic: string): Promise<Issue[]>;
  /** false: it is not due any more, or somebody else's. The same holder asking again gets true. */
  claim(epic: string, holder: string): Promise<boolean>;
  /** false: it is not due any more, or somebody else's. The holder that completed it is told so whenever it asks. */
  complete(epic: string, holder: string, note: string): Promise<boolean>;
  release(epic: string, holder: string): Promise<void>;
}

export interface FollowUpText {
  readonly title: string;
  readonly body: string;
  /** The source is an epic, and this must be done before it is: a child of it, ahead of the usual rank. */
  readonly inEpic?: boolean;
}

/** Where a text is now. */
export interface FollowUpTold {
  /** The follow-up that was made, or that has it. */
  readonly id: string;
  /** Findings of it that another open follow-up had already, with the id of that one. */
  readonly older: Readonly<Record<string, string>>;
}

/** What a tracker knows of an open issue besides the issue itself, for whoever asks why it is not running. */
export interface Standing {
  /** Whose claim it is; null: nobody's, as far as runs go. `isOver`: a run of this machine that has ended. */
  readonly claim: { readonly holder: string; readonly isOver: boolean } | null;
  /** Why no run takes it, and what a person can do there. */
  readonly obstacle: { readonly reason: string; readonly next: string } | null;
}

/** Who waits for answers from outside, for a while: a tracker's, or a program's that is tested. */
export interface Asker {
  /** Aborted: what is being asked ends at once, and nothing more is asked. */
  readonly signal: AbortSignal;
  /** A single one has taken longer than a few seconds, and goes on. */
  readonly onSlow: (call: string) => void;
}

/** Where issues come from and where their fate is told. A failing call throws ExternalError: it is never "no work". */
export interface Tracker {
  readonly kind: "local" | "beads" | "github";
  /** What people call, too, to change something there; absent: no program. */
  readonly program?: "bd" | "br";
  /**
   * The same tracker, as somebody asks it who may leave. A call that ends with the signal has failed, and whether it was
   * done nobody knows. Absent: its answers are here already.
   */
  askedBy?(asker: Asker): Tracker;
  /** Issues that may start now, best first: open, not an epic, every dependency completed. With `resume`, failed and released ones too, first. */
  ready(query: { readonly scope: Scope; readonly resume: boolean; readonly limit: number }): Promise<Issue[]>;
  get(id: string): Promise<Issue | null>;
  /** Absent: the issue says it all. */
  standing?(id: string): Promise<Standing>;
  /** Where its history is now, for trackers that can tell of changes; asked before `ready`. */
  cursor?(): Promise<number>;
  /** Waits until something may have become ready since; rejects when aborted. */
  changed?(cursor: number, signal: AbortSignal): Promise<void>;
  /** Compare-and-set: false when someone else holds it or it is no longer open. The same holder asking again gets true. */
  claim(id: string, holder: string, how?: ClaimHow): Promise<boolean>;
  /**
   * The claim goes on to another holder, without a moment in which the issue is free; asking again changes nothing. Throws
   * where neither holds it. Absent: the board is the tracker, and says itself what waits in a pull request.
   */
  pass?(id: string, claim: { readonly from: string; readonly to: string }): Promise<void>;
  complete(id: string, holder: string, done: { readonly commit: string | null; readonly note: string }): Promise<void>;
  /** `resumed`: it was a resume that failed, which alone takes nothing out of the queue. */
  fail(id: string, holder: string, reason: string, how?: { readonly resumed: boolean }): Promise<void>;
  /** `claimed`: the tracker has said yes to the claim, and nobody has seen since under which name it keeps it. */
  release(id: string, holder: string, how?: { readonly claimed: boolean }): Promise<void>;
  /** It is again what it was before the claim, failures not counted. Absent: telling its end again says the same there. */
  giveBack?(id: string, holder: string, was: GivenBack): Promise<void>;
  escalate(id: string, holder: string, reason: string): Promise<void>;
  /** Absent: the tracker has no epics. */
  readonly epics?: Epics;
  /** One follow-up issue per source issue: made, or appended to. */
  followUp(source: string, text: FollowUpText): Promise<FollowUpTold>;
}
