import type { Finding, Rejection, Remark } from "../finding.js";
import type { ItemStatus } from "../ports/tracker.js";

/**
 * What the machines are told. `at` is stamped by the kernel: it is the machine's only clock. `ending`: the run was told to
 * end before this arrived, whether or not its signal could be recorded yet. `lateMs`: how long the step before it took to be
 * recorded, where that was a while.
 */
export type Stamped<E> = E & { readonly at: number; readonly ending?: EndingWord; readonly lateMs?: number };
export type EndingWord = "drain" | "abort" | "stop";

export interface Usage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number | null;
}

/** The worktree as a turn left it. */
export interface Snapshot {
  readonly head: string;
  readonly tree: string;
  /** Hash of the files as they are, uncommitted ones included; equals `tree` when clean. */
  readonly filesTree: string;
  /** Uncommitted paths (at most 50), and how many there are. */
  readonly dirty: readonly string[];
  readonly dirtyCount: number;
  /** Commits in base_sha..head, but for those that the target has. */
  readonly commits: number;
  /** Every path changed in them matches docs_patterns (false when nothing changed). */
  readonly docsOnly: boolean;
  /** The turn's `base` (review_base, the target's tip after a conflict) is an ancestor of head. */
  readonly containsBase: boolean;
  /** A sha named in an ALREADY_COMPLETE rationale is in the target; null when none is named. */
  readonly namedCommitInTarget: boolean | null;
  /** The newest commit of the target that head has in it, base_sha or newer; absent where reviews are not based on that. */
  readonly targetBase?: string;
  /** What was to be merged before, where head has it by now. */
  readonly merged?: string;
  /** Submodules whose new commit nobody else is known to have, and which it is (at most 50); absent: none. */
  readonly unpushed?: readonly string[];
}

export type MarkerName = "NO_CHANGE" | "OBSOLETE" | "ALREADY_COMPLETE" | "DOCS_ONLY";
export interface Marker {
  readonly name: MarkerName;
  readonly rationale: string;
}

export type TurnOutcome =
  | { readonly type: "ended" }
  /** `broke`: not the agent, but whoever was to follow it or look at its work, such as git in a damaged repository. */
  | { readonly type: "failed"; readonly reason: string; readonly broke?: true }
  | { readonly type: "timed-out" }
  | { readonly type: "idle" }
  | { readonly type: "lost" }
  /** Exit 75, or an adapter's word that trying again helps; `overloaded`: fewer at once would help too. */
  | { readonly type: "transient"; readonly reason: string; readonly overloaded?: true }
  /** A usage limit; `until` where the agent said when it resets. */
  | { readonly type: "limited"; readonly until: number | null; readonly reason: string }
  | { readonly type: "no-session" }
  /** The conversation no longer fits into the model's context. */
  | { readonly type: "overflow"; readonly reason: string }
  | { readonly type: "stopped" };

/** What a turn can be continued after. */
export type Interruption = Extract<TurnOutcome["type"], "idle" | "lost" | "stopped" | "transient" | "limited">;

/** What a reviewer's turn came to, already read: a verdict or a protocol failure. */
export type ReviewOutcome =
  | { readonly type: "verdict"; readonly verdict: "pass" | "fail"; readonly findings: readonly Remark[] }
  | { readonly type: "protocol"; readonly reason: string };

export interface TurnEnded {
  readonly type: "turn-ended";
  readonly key: string;
  readonly outcome: TurnOutcome;
  readonly sessionId: string | null;
  readonly usage: Usage | null;
  readonly seconds: number;
  /** For implementers and fixers, whenever the worktree could be read. */
  readonly snapshot: Snapshot | null;
  readonly marker: Marker | null;
  /** Findings that the agent thinks are wrong, at most 50. */
  readonly rejected?: readonly Rejection[];
  /** For reviewers whose turn ended. */
  readonly review: ReviewOutcome | null;
  /** For reviewers: what was changed in the tree while others read it too. */
  readonly disturbed?: readonly string[];
  /** It was stopped before it had a place, or a budget was used up by then: no program was started. */
  readonly unbegun?: true;
  /** When the turn's own clock runs out, for continues. */
  readonly until: number;
  /** For reviewers: the worktree was made anew, and setup has not run there. */
  readonly remade?: true;
  /** Tool calls that the guard refused, and why it refused the last one. */
  readonly refused?: { readonly count: number; readonly last: string };
  /** How the run's budget was used up, where it is by now. */
  readonly runBudget?: string;
  /** How many agents may work at once from now on, where an overload changed it. */
  readonly agentsAtOnce?: number;
  /** The turn was a workflow: what its stages found. Each of them told what it used, so that its usage is no news. */
  readonly workflow?: { readonly findings: readonly Finding[] };
}

export interface CommandEnded {
  readonly type: "command-ended";
  readonly key: string;
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  readonly stopped: boolean;
  readonly seconds: number;
  /** One line that says what failed. */
  readonly digest: string;
  /** Absolute path of the folder with the full output. */
  readonly outputPath: string;
  /** Both output tails, ready to be the body of a finding. */
  readonly tails: string;
  /** Tracked or unignored files it had changed, which were put back. */
  readonly discarded: readonly string[];
  /** The worktree was made anew, and setup has not run there. */
  readonly remade?: true;
}

export interface Proposed {
  readonly tip: string;
  readonly commit: string;
  readonly tree: string;
  readonly merged: boolean;
}

export type LandOutcome =
  | ({ readonly type: "proposed" } & Proposed)
  | { readonly type: "conflict"; readonly tip: string; readonly files: readonly string[] }
  /**
   * The commit is on the landed line. `behind`: why the user's branch could not follow, and what to run. `proposed`: what
   * was proposed, where it landed at once.
   */
  | { readonly type: "landed"; readonly commit: string; readonly behind: string | null; readonly proposed?: Proposed }
  | { readonly type: "moved" }
  /** It cannot land before a person has acted, such as after the target was rewound: asked again until it can. */
  | { readonly type: "waits"; readonly reason: string }
  | { readonly type: "refused"; readonly reason: string }
  /** The issue was closed, blocked, deleted or taken away by someone else meanwhile. */
  | { readonly type: "closed"; readonly blocked?: true; readonly how?: "deleted" | "taken away" };

export type PushOutcome =
  | { readonly type: "pushed" }
  /** Somebody else has pushed to the branch; their tip is in the mirror. */
  | { readonly type: "moved"; readonly tip: string }
  /** By protection or a hook. */
  | { readonly type: "refused"; readonly reason: string }
  /** The pull request, or the issue itself, was ended by someone else meanwhile; nothing was pushed. */
  | { readonly type: "closed"; readonly reason: string }
  | { readonly type: "unreachable"; readonly reason: string };
export type OpenOutcome =
  | { readonly type: "opened"; readonly number: number; readonly url: string }
  | { readonly type: "refused"; readonly reason: string }
  | { readonly type: "unreachable"; readonly reason: string };

export type IssueEvent =
  | { readonly type: "started" }
  /** `since`: nobody is known to have been at work after that, until now. */
  | { readonly type: "resumed"; readonly since?: number }
  | { readonly type: "signal"; readonly key: string; readonly signal: IssueSignal }
  | {
      readonly type: "tracker-done";
      readonly key: string;
      readonly ok: true;
      readonly id?: string;
      /** Findings that another follow-up had already, with the id of that one. */
      readonly older?: Readonly<Record<string, string>>;
      readonly was?: ItemStatus;
      /** The failure that it was told was one too many: no run takes the issue until a person retries it. */
      readonly quarantined?: true;
    }
  | {
      readonly type: "tracker-done";
      readonly key: string;
      readonly ok: false;
      readonly reason: string;
      readonly lost: boolean;
      /** What somebody else has done with the issue meanwhile: there is nobody to tell. */
      readonly taken?: string;
    }
  | {
      readonly type: "worktree-ready";
      readonly key: string;
      readonly path: string;
      readonly branch: string;
      readonly baseSha: string;
      readonly head: string;
      readonly tree: string;
      readonly fresh: boolean;
      /**
       * Where its files came from. An earlier life left none: `anew`, and the target has moved on since; `elsewhere`, and it
       * was begun from another branch.
       */
      readonly from?: "worktree" | "branch" | "parked" | "new" | "anew" | "elsewhere";
      readonly targetTip: string;
      /** Where files went that were in its way. */
      readonly aside?: readonly string[];
      /** What an agent broke in it, and where it goes on from. */
      readonly lost?: string;
      /** Of a pull request's item: what the remote has of the branch. */
      readonly pushed?: string;
      /** Of a trigger of the run: where its review starts, by its baseline. */
      readonly reviewBase?: string;
      /** Of a trigger of the run: what another one had left in its worktree. */
      readonly parked?: ParkedAs;
    }
  /**
   * `parked`: of an operation that was begun and not ended, what the branch has not. `lost`: what an agent broke in it.
   * `remade`: it was made anew, and setup has not run there.
   */
  | {
      readonly type: "worktree-committed";
      readonly key: string;
      readonly snapshot: Snapshot;
      readonly parked?: ParkedAs;
      readonly lost?: string;
      readonly remade?: true;
    }
  | { readonly type: "worktree-seen"; readonly key: string; readonly snapshot: Snapshot }
  /** `parked`: what was nowhere else. */
  | { readonly type: "worktree-removed"; readonly key: string; readonly parked?: ParkedAs }
  /** `unreachable`: only because the remote gave no answer. */
  | { readonly type: "worktree-failed"; readonly key: string; readonly reason: string; readonly unreachable?: true }
  | TurnEnded
  | { readonly type: "stop-done"; readonly key: string }
  | CommandEnded
  | { readonly type: "land-ended"; readonly key: string; readonly outcome: LandOutcome }
  | { readonly type: "push-ended"; readonly key: string; readonly outcome: PushOutcome }
  | { readonly type: "pull-request-ended"; readonly key: string; readonly outcome: OpenOutcome }
  /** path null: it could not be written. */
  | { readonly type: "dossier-written"; readonly key: string; readonly path: string | null; readonly reason?: string }
  | { readonly type: "timer-fired"; readonly key: string }
  /** A performer broke: never a pass. */
  | {
      readonly type: "crashed";
      readonly key: string;
      readonly effect: string;
      readonly message: string;
      /** It needed the tracker, which gave no answer: nothing is said about the work. */
      readonly trackerAway?: boolean;
      /** It needed the issue, which is no longer there. */
      readonly issueGone?: boolean;
    };

/** Parked work, and the name by which it is had back. */
export interface ParkedAs {
  readonly ref: string;
  readonly as: string;
}

export type IssueSignal =
  | { readonly name: "drain" }
  | { readonly name: "abort" }
  | { readonly name: "stop" }
  | { readonly name: "budget"; readonly reason: string }
  | { readonly name: "waive"; readonly finding: string; readonly reason: string }
  /** A running turn has told its session. */
  | { readonly name: "session"; readonly turn: string; readonly id: string }
  | SlowTracker
  | CommandPlace;

/** An effect, which `key` names, waits long for an answer of the tracker. */
export interface SlowTracker {
  readonly name: "slow";
  readonly key: string;
  readonly call: string;
}

/** A command that is owed, which `key` names, waits for its turn with others of its name, or has it now. */
export interface CommandPlace {
  readonly name: "place";
  readonly key: string;
  readonly has: boolean;
}
