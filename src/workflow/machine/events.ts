import type { Finding, Text, TextRef } from "../../core/finding.js";
import type { CommandEnded, Stamped, TurnOutcome, Usage } from "../../core/issue/events.js";
import type { StatusRead } from "../status.js";

export type { Stamped } from "../../core/issue/events.js";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export interface StageTurnEnded {
  readonly type: "turn-ended";
  readonly key: string;
  readonly outcome: TurnOutcome;
  readonly sessionId: string | null;
  readonly usage: Usage | null;
  readonly seconds: number;
  /** When the turn's own clock runs out, for continues. */
  readonly until: number;
  /** The last message; empty text: there was none. */
  readonly reply: Text;
  /** Where the whole reply is, however short. With it the state holds only the beginning of longer replies. */
  readonly replyFile?: TextRef;
  /** What a longer reply is compared by with an earlier one, of which `reply` has the beginning only. */
  readonly replyDigest?: string;
  /** What the reply or the result file says of the outcome; null: nothing. */
  readonly status: StatusRead | null;
  /** The turn left something in the tree: then a silent agent has done its work all the same. */
  readonly changed?: boolean;
  /** HEAD of the place it worked in. */
  readonly commit?: string | null;
  /** In a branch: the tracked files of the place, as words to compare; absent: not known. */
  readonly tree?: { readonly before: string; readonly after: string };
  readonly contextUpdates?: Readonly<Record<string, Json>>;
  /** Each value is appended to the list of that name. */
  readonly contextAppends?: Readonly<Record<string, Json>>;
  readonly refused?: { readonly count: number; readonly last: string };
  /** How the run's budget was used up, where it is by now. */
  readonly runBudget?: string;
  readonly agentsAtOnce?: number;
}

/** Why a tool failed, as a fixing agent wants to know it. */
export interface ToolFailure {
  readonly class: "exit" | "timeout" | "signal" | "not-found";
  /** One line. */
  readonly digest: string;
  /** At most 30 lines and 4096 characters each. */
  readonly stdoutTail: string;
  readonly stderrTail: string;
  readonly firstFailingCheck: string | null;
  readonly rerunCommand: string;
}

export interface StageCommandEnded extends CommandEnded {
  /** null: exit 0. */
  readonly failure: ToolFailure | null;
  /** What it printed. */
  readonly output: Text;
  readonly outputFile?: TextRef;
  readonly commit?: string | null;
  /** In a branch: the tracked files of the place when it had ended. */
  readonly tree?: { readonly after: string };
}

export type WorkflowEvent =
  /** `since`: nobody is known to have been at work after that, until now. */
  | { readonly type: "started"; readonly since?: number }
  | { readonly type: "resumed"; readonly since?: number }
  | StageTurnEnded
  | StageCommandEnded
  | {
      readonly type: "worktree-ready";
      readonly key: string;
      readonly path: string;
      readonly branch: string;
      readonly baseSha: string;
    }
  | { readonly type: "worktree-merged"; readonly key: string; readonly commit: string }
  | { readonly type: "worktree-removed"; readonly key: string }
  | { readonly type: "worktree-failed"; readonly key: string; readonly reason: string }
  | {
      readonly type: "child-ended";
      readonly key: string;
      readonly outcome: "success" | "fail" | "cancelled";
      readonly reason: string | null;
      /** Its own id, by which it can be gone on with. */
      readonly machine?: string;
      /** What its agents have told of their spending; absent: nothing. */
      readonly usage?: Usage | null;
      /** It ended because a budget is used up. */
      readonly budget?: true;
      /** What it leaves open, in the order of its execution; absent: not known. */
      readonly findings?: readonly ChildFinding[];
    }
  | { readonly type: "told"; readonly key: string }
  | { readonly type: "stop-done"; readonly key: string }
  | { readonly type: "timer-fired"; readonly key: string }
  | { readonly type: "signal"; readonly key: string; readonly signal: WorkflowSignal }
  /** A performer broke: never a pass. */
  | { readonly type: "crashed"; readonly key: string; readonly effect: string; readonly message: string };

/** A finding of a called workflow, under the child's own names. */
export type ChildFinding = Pick<
  Finding,
  "id" | "source" | "stage" | "outcome" | "commit" | "file" | "line_start" | "line_end" | "priority" | "title" | "body"
> &
  Pick<Finding, "raised_as">;

export type WorkflowArrival = Stamped<WorkflowEvent>;

export type WorkflowSignal =
  | {
      readonly name: "answer";
      readonly stage: string;
      /** Which time the gate was asked; absent: whichever is open. */
      readonly visit?: number;
      /** The option's key. */
      readonly option: string;
      readonly feedback: string | null;
      readonly by: string;
    }
  /** What a gate asks is written out: `details` is the beginning of it. */
  | {
      readonly name: "asked";
      readonly stage: string;
      readonly visit: number;
      readonly prompt: string;
      readonly details: string | null;
      readonly more: number;
      readonly gate: string;
    }
  | { readonly name: "cancel" }
  | { readonly name: "budget"; readonly reason: string }
  | { readonly name: "waive"; readonly finding: string; readonly reason: string }
  /** A running turn has told its session. */
  | { readonly name: "session"; readonly turn: string; readonly id: string };
