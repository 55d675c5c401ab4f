import type { TimerEffect, WaitEffect } from "../issue/effects.js";
import type { SlowTracker } from "../issue/events.js";
import type { PullRequestItem, RunTriggerName } from "../issue/policy.js";
import type { EpicName, Scope } from "../ports/tracker.js";
import type { IssueStatus, Undelivered } from "../record.js";
import type { Seen, SessionEndResult } from "../report.js";

/** What a life is started with. `resume`: what an earlier life of the issue left. */
export interface IssueStart {
  readonly issueId: string;
  readonly title: string;
  readonly life: number;
  readonly resume: ResumeFrom | null;
  /** The epic that it is in. */
  readonly parent?: string | null;
  /** The issue is a follow-up made by Ratchet: it makes no follow-up of its own. */
  readonly followUp?: boolean;
  /** Its last life in this run did not succeed, and it was made available again since. */
  readonly again?: boolean;
  /** That life was stopped, so it did not fail. */
  readonly stopped?: boolean;
  /** Not an issue, but an item of a pull request. */
  readonly item?: PullRequestItem;
  /** Attempt folders that earlier lives in this run have used. */
  readonly folders?: number;
  /** What an earlier life's reviews began at, where that is no longer the issue's base. */
  readonly reviewBase?: string;
  /** What an earlier life was to merge and had not: somebody may have since. */
  readonly unmerged?: string;
  /** Of a life that is no resume: what blocked in the last review of an earlier one and is still open. */
  readonly blocking?: readonly string[];
  /** Of a life that is no resume, as `ResumeFrom` has it. */
  readonly seen?: Seen;
  /** An earlier life did the work, and only pushing it is left. */
  readonly deliver?: Deliver;
}
export interface Deliver extends Undelivered {
  /** How its gate passed. */
  readonly evidence: Readonly<Record<string, boolean>>;
}
export interface ResumeFrom {
  readonly runId: string;
  readonly sessionId: string | null;
  /** Whose session was left, where it is none of today's agent. */
  readonly sessionOf?: string;
  /** Findings (ids in the issue's ledger) that its last failed review left; empty: none. */
  readonly blocking: readonly string[];
  readonly baseSha: string | null;
  /** What the last failed gate or blocking round saw; null: none did. */
  readonly seen: Seen | null;
  readonly reviewBase?: string;
  readonly unmerged?: string;
  readonly deliver?: Deliver;
}

/** What the life of a trigger is started with. */
export interface TriggerStart {
  readonly name: RunTriggerName;
  /** Of all triggers that the run has fired. */
  readonly number: number;
  /** Attempt folders of the run that are used already. */
  readonly folders: number;
  readonly startCommit: string;
  /** The run's budget is used up: no turn starts. */
  readonly budget?: string;
  /** The epic that is verified. */
  readonly epic?: string;
}

export interface EpicLook {
  /** One that is due is only told, because it is to be verified first. */
  readonly verify?: boolean;
  /** One that failed is told too. `so-far`: all of its open children have ended badly; `at-last`: whatever is still open. */
  readonly failing?: "so-far" | "at-last";
  /** Only where one of these is in it: what has failed in this run. Absent: the child itself has. */
  readonly failed?: readonly string[];
}

/** What the life of a trigger of the run came to. */
export interface TriggerResult {
  readonly result: "pass" | "fail";
  readonly reason: string | null;
  /** What kept it from its end, such as why its repair was not landed; absent: the reason says it all. */
  readonly message?: string;
  readonly commands: SessionEndResult["commands"];
  readonly code_review_result: SessionEndResult["code_review_result"];
  /** Its failure_mode says that the whole run aborts. */
  readonly abort: boolean;
  /** The issue that a failed verification has made. */
  readonly followUp?: string;
}

export type RunEffect =
  /** Registers the run: fetches the mirror and fixes the target's tip. */
  | { readonly kind: "prepare"; readonly key: string }
  /** The next issue that may start, once a slot is free for its first turn. */
  | {
      readonly kind: "pick";
      readonly key: string;
      /** In flight, or lost to somebody else; what this run has finished its history knows. */
      readonly not: readonly string[];
      /** Where there is none, epics that are due are looked for. */
      readonly epics?: true;
    }
  /** Until there is something to start that was not there at `cursor`, or with `epics` an epic that is due. */
  | {
      readonly kind: "board";
      readonly key: string;
      readonly cursor: number | null;
      /** As a pick's. */
      readonly not?: readonly string[];
      readonly epics?: true;
    }
  /** Drives an issue's life to its end. */
  | { readonly kind: "child"; readonly key: string; readonly start: IssueStart }
  /** Leads the life of a trigger of the run to its end. */
  | { readonly kind: "trigger"; readonly key: string; readonly start: TriggerStart }
  /** What the end of an issue, or of another epic, means for the epic above; it is completed when it is due. */
  | ({ readonly kind: "epic"; readonly key: string; readonly child: string } & EpicLook)
  /** Completes this epic, unless it is not due any more. */
  | { readonly kind: "epic"; readonly key: string; readonly epic: string }
  /** Whether this epic, which was verified in vain, is still open. */
  | { readonly kind: "epic"; readonly key: string; readonly verified: string }
  /** Epics in the run's scope that are due, whoever completed their children. */
  | { readonly kind: "epics"; readonly key: string }
  /** Puts a signal into the inbox of a child. */
  | {
      readonly kind: "tell";
      readonly key: string;
      readonly issueId: string;
      readonly life: number;
      readonly signal: "drain" | "abort" | "stop" | "budget";
      /** With budget: how it was used up. */
      readonly reason?: string;
      /** Not an issue's life, but the one of this trigger; `life` is its number. */
      readonly trigger?: RunTriggerName;
    }
  /** Brings the user's branch along where a landing could not. */
  | { readonly kind: "follow"; readonly key: string }
  /** Why these issues, which were named, have not begun. */
  | { readonly kind: "named"; readonly key: string; readonly ids: readonly string[] }
  | WaitEffect
  | TimerEffect;

export type RunEvent =
  | { readonly type: "started" }
  /** `since`: nobody is known to have been at work after that, until now. */
  | { readonly type: "resumed"; readonly since?: number }
  | {
      readonly type: "prepared";
      readonly key: string;
      readonly target: string;
      readonly tip: string;
      readonly projectId: string;
      readonly repoPath: string;
    }
  | {
      readonly type: "picked";
      readonly key: string;
      readonly start: IssueStart;
      /** What the tracker has been told that an earlier run could not tell it, a sentence each. */
      readonly told?: readonly string[];
    }
  /** Nothing may start now; asked again when a life ends. */
  | {
      readonly type: "none-left";
      readonly key: string;
      readonly told?: readonly string[];
      /** The run's budget is used up. */
      readonly budget?: string;
      /** Where the board's history was when it was asked. */
      readonly cursor?: number;
      /** The tracker tells of changes by itself: whoever waits for the board misses nothing. */
      readonly hears?: true;
      /** Epics, where they were looked for: as of `cursor` or later. */
      readonly due?: readonly EpicName[];
    }
  /** `due`: epics, where they were looked for. */
  | { readonly type: "board-changed"; readonly key: string; readonly due?: readonly EpicName[] }
  | {
      readonly type: "child-ended";
      readonly key: string;
      readonly issueId: string;
      readonly status: IssueStatus | "not-claimed";
      readonly commit: string | null;
      readonly trackerOwed: boolean;
      /** Its failure_mode says that the whole run aborts. */
      readonly abort: boolean;
      /** It landed, and the user's branch has not followed. */
      readonly behind?: true;
    }
  | ({
      readonly type: "trigger-ended";
      readonly key: string;
      readonly trackerOwed: boolean;
      /** Attempt folders of the run in use by now. */
      readonly folders: number;
      /** As above. */
      readonly behind?: true;
    } & TriggerResult)
  /**
   * `due`: it is to be verified; `failed`: nothing of it can go on; `unfinished`: the run has nothing left to do, and `open`
   * can still go on without it; `unmerged`: its work is not in the target yet, `why` says what; `done`: whoever it was that
   * completed it; none of them: it was completed. null: there is more to do.
   */
  | {
      readonly type: "epic-checked";
      readonly key: string;
      readonly epic: EpicName | null;
      readonly how?: "due" | "failed" | "unfinished" | "unmerged" | "done";
      readonly why?: string;
      readonly open?: readonly string[];
    }
  | { readonly type: "epics-seen"; readonly key: string; readonly due: readonly EpicName[] }
  /** `behind`: why the user's branch still has not followed, and what to run. */
  | { readonly type: "followed"; readonly key: string; readonly target: string; readonly behind: string | null }
  /** Those that nobody has done and no other run works on; null: nothing is against it. */
  | {
      readonly type: "named-seen";
      readonly key: string;
      readonly left: readonly { readonly issueId: string; readonly reason: string | null }[];
    }
  | { readonly type: "told"; readonly key: string }
  | { readonly type: "signal"; readonly key: string; readonly signal: RunSignal }
  | { readonly type: "timer-fired"; readonly key: string }
  /** A performer broke. `external`: something outside (tracker, disk) is unreachable: exit 3. */
  | {
      readonly type: "crashed";
      readonly key: string;
      readonly effect: string;
      readonly message: string;
      readonly external: boolean;
    };

export type RunSignal =
  | { readonly name: "drain" }
  | { readonly name: "stop" }
  /** It was begun to watch; whoever goes on with it wants it to end when nothing is left. */
  | { readonly name: "unwatch" }
  /** The lives of the run have used up its budget. */
  | { readonly name: "budget"; readonly reason: string }
  | SlowTracker;

/** What the user asked of this run. */
export interface RunOptions {
  readonly scope: Scope;
  /** Failed, stopped and claimed-but-idle issues first, each from where its last life stopped. */
  readonly resume: boolean;
  /** With resume: an issue whose session cannot be restored fails. */
  readonly strict: boolean;
  /** With resume: new sessions. */
  readonly fresh: boolean;
  readonly maxIssues: number | null;
  /** When nothing is left it waits for new work instead of ending. */
  readonly watch?: boolean;
  /** Issues that it does not take: follow-ups of the runs that were driven to their end before it. */
  readonly leave?: readonly string[];
  /**
   * No agent starts. `check`: gate and review of what a person left in the worktree, then on as usual. `land`: the gate
   * alone, then landing, whatever finalize.mode says; reviews are the person's who asks for it. `push`: what passed
   * everything and could not be pushed.
   */
  readonly only?: "check" | "land" | "push";
  /** The run is this workflow, and takes no issue. `file`: as it was found; the run has a copy of it. */
  readonly workflow?: { readonly name: string; readonly file: string; readonly goal: string | null };
}
