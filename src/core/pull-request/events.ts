import type { Text } from "../finding.js";
import type { MergeOutcome } from "../ports/forge.js";
import type { ItemStatus } from "../ports/tracker.js";

/** The forge and the board, seen at one moment. */
export interface Looked {
  readonly type: "looked";
  readonly key: string;
  readonly pullRequest: SeenPullRequest;
  readonly remarks: readonly SeenRemark[];
  readonly checks: readonly SeenCheck[];
  /** Parts that could not be fetched: what they hold stays undelivered. */
  readonly failed: readonly {
    readonly part: "reviews" | "inline" | "comments" | "checks";
    readonly result: "timeout" | "error";
    readonly reason: string;
  }[];
  /** From here on, whether anything has changed can be asked for. */
  readonly cursor: string;
  /** The file with the texts of all of it. */
  readonly path: string;
  /** The items of this pull request, the implementation left out. */
  readonly items: readonly SeenItem[];
  /** The implementation waits for a person. */
  readonly escalated: boolean;
  readonly limit: CycleLimit;
}
export interface SeenPullRequest {
  readonly state: "open" | "closed" | "merged";
  readonly head: string;
  readonly base: string;
  readonly mergeable: boolean | null;
  readonly mergeCommit: string | null;
  readonly author: string | null;
  readonly association: string;
  /** Ratchet opened it. */
  readonly own: boolean;
  readonly draft: boolean;
}
/** One thing that somebody said. */
export interface SeenRemark {
  /** `inline:<id>`, `review:<id>`, `comment:<id>`. */
  readonly id: string;
  readonly kind: "inline" | "review" | "comment";
  /** Of inline remarks. */
  readonly thread: string | null;
  readonly login: string | null;
  readonly association: string;
  /** Ratchet wrote it: never feedback. */
  readonly own: boolean;
  readonly verdict: "approved" | "changes_requested" | "commented" | "dismissed" | null;
  readonly commit: string | null;
  readonly at: string;
  /** Of who said what where: a bot's repeated words are one remark. */
  readonly digest: string;
  readonly path: string;
  readonly line: number | null;
  /** Absent: known already, or without a text. */
  readonly body?: Text;
}
export interface SeenCheck {
  readonly id: string;
  readonly name: string;
  readonly commit: string;
  readonly status: "pending" | "success" | "failure" | "neutral";
  readonly required: boolean;
  /** Of a failing one: its summary and the end of its log. */
  readonly body?: Text;
}
export interface SeenItem {
  readonly id: string;
  readonly source: "code_review" | "rework" | "merge_fix" | "pr_merge";
  /** 0: the first review. */
  readonly cycle: number;
  readonly status: ItemStatus;
  /** Of a rework: what it pushed. Of a review: what it judged. */
  readonly commit: string | null;
  readonly reason: string | null;
  /** Of our reviewer's item that has ended. */
  readonly verdict?: { readonly verdict: "pass" | "fail"; readonly findings: readonly OwnFinding[] };
}
export interface OwnFinding {
  readonly file: string;
  readonly line_start: number;
  readonly line_end: number;
  readonly priority: number | null;
  readonly title: string;
  readonly body: Text;
  readonly reviewer: string;
  /** Its reviewer's threshold says that it blocks. */
  readonly blocks: boolean;
}
export interface CycleLimit {
  readonly max: number;
  readonly from: "project" | "item" | "default";
  /** A value that could not be used, in words. */
  readonly ignored: string | null;
}

export type PrSignal =
  /** Somebody wants it looked at now: a webhook, `pr sync`, an item that ended. */
  | {
      readonly name: "look";
      /** A person asked for it: what was refused is tried again at once. */
      readonly byHand?: true;
    }
  /** A person lets an untrusted remark through. */
  | { readonly name: "admit"; readonly id: string }
  /** A person wants a cycle; null: the next one, or the one that is under way. */
  | { readonly name: "rework"; readonly cycle: number | null; readonly feedback: string | null };

export type PrEvent =
  | { readonly type: "started" }
  | { readonly type: "resumed" }
  | Looked
  /** The forge could not be asked; it is asked again later. */
  | { readonly type: "look-failed"; readonly key: string; readonly reason: string }
  | { readonly type: "cycle-made"; readonly key: string; readonly item: string }
  /** taken: the item has it; else somebody had begun. */
  | { readonly type: "joined"; readonly key: string; readonly taken: boolean }
  | { readonly type: "escalation-told"; readonly key: string }
  | { readonly type: "noted"; readonly key: string }
  | { readonly type: "posted"; readonly key: string; readonly id: string | null; readonly refused?: boolean }
  | { readonly type: "post-failed"; readonly key: string; readonly reason: string; readonly retryable: boolean }
  | { readonly type: "merge-ended"; readonly key: string; readonly outcome: MergeOutcome }
  | { readonly type: "finished"; readonly key: string }
  | { readonly type: "timer-fired"; readonly key: string }
  | { readonly type: "signal"; readonly key: string; readonly signal: PrSignal }
  | { readonly type: "crashed"; readonly key: string; readonly effect: string; readonly message: string };
