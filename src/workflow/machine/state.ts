import type { Ledger, Text } from "../../core/finding.js";
import type { Interruption, Usage } from "../../core/issue/events.js";
import type { Fidelity, StageOutcome } from "../graph.js";
import type { WorkflowEffect } from "./effects.js";
import type { Json } from "./events.js";

/**
 * A workflow as its row keeps it. It grows with the stages that have run and the names in its context, never with visits:
 * findings are the ledger's, texts are files. The graph is not in it: it is the run's, frozen, and comes with the policy.
 */
export interface WorkflowState {
  readonly version: 1;
  readonly phase: "new" | "running" | "done";
  readonly startedAt: number;
  /** How long nobody was at work on it since, because the process had ended or it was not resumed yet. */
  readonly awayMs?: number;
  /** Where execution is: `main`, and one for each branch of a parallel stage that is at work. */
  readonly tokens: readonly Token[];
  readonly blocks: readonly ParallelBlock[];
  /** Stages that have run and have more to tell than those below. */
  readonly stages: Readonly<Record<string, StageRecord>>;
  /** Stages that were visited once and succeeded: the name is all there is to know, and there may be thousands. */
  readonly passed: readonly string[];
  /** Their places in the order of execution, one for each. */
  readonly passedOrder?: readonly string[];
  readonly values: Values;
  /** Values that are not among the newest, oldest first; none of them is twice in here (values.ts). */
  readonly older?: readonly Values[];
  /** What it was started with; a new start within the graph comes back to it. */
  /** Findings of attempts that were no success, in a called workflow that is tried again: they count no more. */
  readonly stale?: readonly string[];
  readonly inputs: Values;
  /** Sessions that stages of full fidelity go on in, by thread. */
  readonly threads: Readonly<Record<string, Thread>>;
  readonly workspaces: Readonly<Record<string, Workspace>>;
  /** How often a goal gate that was not met sent execution back. */
  readonly goalRetries: number;
  readonly rounds: Rounds;
  readonly owed: readonly Owed[];
  readonly folders: number;
  readonly timers: number;
  readonly signals: number;
  readonly usage: { readonly tokens: number; readonly usd: number };
  /** The same, by kind; null: no agent has told any. */
  readonly used: Usage | null;
  /** Why everything is wound down; the first reason stands. */
  readonly halt: Ending | null;
  readonly ending: Ending | null;
}

/** The machine's value: the row and, beside it, the ledger (kept as rows of its own). */
export interface WorkflowLife {
  readonly state: WorkflowState;
  readonly ledger: Ledger;
}

/** Rounds of findings: from one stage that is given them to the next, if something was judged in between. */
export interface Rounds {
  /** The fewest stages that had any. */
  readonly best: number | null;
  /** Rounds in a row that had no fewer. */
  readonly stale: number;
  readonly judged: boolean;
}
export const noRounds: Rounds = { best: null, stale: 0, judged: false };

export interface Ending {
  readonly status: "success" | "fail" | "cancelled";
  /** null only with success. */
  readonly reason: string | null;
  /** The stage that it is about. */
  readonly stage: string | null;
  /** A budget was used up: nothing failed. */
  readonly budget?: true;
}

/** A place in the graph that execution is at. */
export interface Token {
  /** `main`, or `<the forking token>/<parallel stage>:<branch>`. */
  readonly id: string;
  readonly parent: string | null;
  readonly stage: string;
  /**
   * `ready`: to be begun. `asking`: a human gate. `forked`: its branches are at work. `leaving`: the visit has ended, the
   * way on is to be chosen. `stuck`: the visit failed and no way leads on.
   */
  readonly phase: "ready" | "running" | "backing-off" | "asking" | "forked" | "leaving" | "stuck";
  /** 0 while it is not begun; else a `ready` one is executed again as the same visit. */
  readonly visit: number;
  readonly attempt: number;
  /** Position of this visit in the order of execution, outer positions first; the first is when the workflow started. */
  readonly order: readonly number[];
  /** The stage that ended last here; decisions and starts leave it as it is. */
  readonly last: LastStage | null;
  /** Where a person's answer leads to. */
  readonly to?: string;
  /** The workspace it works in. */
  readonly workspace: string | null;
  /** What its branch has put into the context so far; the main token writes into `values` itself. */
  readonly values: Values;
  /** What the edge that led here says. */
  readonly edge: { readonly fidelity: Fidelity | null; readonly thread: string | null } | null;
  /** The execution under way. */
  readonly run: Execution | null;
  /** The called workflow that was broken off here: the visit goes on with it. */
  readonly broken?: string;
  /** Ends what runs here: the branch's time is up. */
  readonly expired?: true;
}

export interface LastStage {
  readonly stage: string;
  readonly outcome: StageOutcome;
  readonly label: string | null;
  readonly next: readonly string[];
}

/** One visit being executed: repeats that the world made necessary, and what was used so far. */
export interface Execution {
  readonly startedAt: number;
  readonly folder: string;
  readonly session: string | null;
  readonly next: "same" | "continue";
  /** Why it is continued. */
  readonly interrupted?: Interruption;
  readonly repeats: number;
  readonly transient: number;
  readonly limited: number;
  readonly idle: number;
  readonly lost: number;
  readonly restarted: boolean;
  readonly seconds: number;
  readonly usage: Usage | null;
  /** When a human gate's time is up. */
  readonly until?: number | null;
  /** What a review said in an earlier attempt of the same visit: all there is to go by should no later one say anything. */
  readonly said?: Text;
}

export interface ParallelBlock {
  /** The token that forked. */
  readonly token: string;
  readonly stage: string;
  readonly visit: number;
  readonly join: string;
  readonly order: readonly number[];
  /** In the order of the graph. */
  readonly branches: readonly Branch[];
  /** The tracked files of the place, when the last of its stages ended; absent: not known. */
  readonly tree?: string;
  /** How often reviews that were disturbed have been asked again, one after the other. */
  readonly alone?: number;
  /** Its join failed and ended the workflow: a resume forks anew for the branches that failed, the others keep their outcome. */
  readonly again?: true;
}
export interface Branch {
  readonly stage: string;
  readonly status: "queued" | "running" | "done";
  readonly outcome: StageOutcome | null;
  readonly reason?: string;
  /** What it has put into the context, once it is done; merged in the order of branches. */
  readonly values?: Values;
  /** By each review of it the files that its last word is about; null: they changed meanwhile. */
  readonly seen?: Readonly<Record<string, string | null>>;
  /** It has stages that are there to change files. */
  readonly writes?: true;
}

export interface StageRecord {
  /** Of the last visit that ended; absent while the first is under way. */
  readonly outcome?: StageOutcome;
  readonly visits: number;
  /** How many of these were asked for because files had changed under the one before: no way led there. */
  readonly askedAgain?: number;
  readonly reason?: string;
  /** Failures of the same kind in a row. */
  readonly same?: { readonly digest: string; readonly count: number };
  /** A human gate's last answer. */
  readonly answer?: string;
  /** Where the visit that ended last is in the order of execution: a token's order without its start, with dots. */
  readonly order?: string;
}

export function recordOf({ stages, passed, passedOrder = [] }: WorkflowState, id: string): StageRecord {
  const known = Object.hasOwn(stages, id) ? stages[id] : undefined;
  if (known) return known;
  const place = passed.indexOf(id);
  if (place < 0) return { visits: 0 };
  const order = passedOrder[place];
  return { outcome: "success", visits: 1, ...(order === undefined ? {} : { order }) };
}
/** Every stage that has begun. */
export function begunStages({ stages, passed }: WorkflowState): string[] {
  return [...passed, ...Object.keys(stages)];
}

interface EndedStage {
  readonly id: string;
  readonly outcome: StageOutcome;
  /** The visit that came to this outcome: one that is under way has none yet. */
  readonly visit: number;
}
/** Every stage that a visit of has ended, in the order of execution; branches by their place, whoever was first. */
export function endedStages(state: WorkflowState): EndedStage[] {
  const underWay = new Set(state.tokens.flatMap((token) => (isUnderWay(token) ? [token.stage] : [])));
  const ended = begunStages(state).flatMap((id) => {
    const { outcome, visits, order = "" } = recordOf(state, id);
    const visit = underWay.has(id) ? visits - 1 : visits;
    return outcome === undefined
      ? []
      : [{ id, outcome, visit, order: order === "" ? [] : order.split(".").map(Number) }];
  });
  ended.sort((a, b) => compareOrder(a.order, b.order));
  return ended.map(({ id, outcome, visit }) => ({ id, outcome, visit }));
}

function isUnderWay({ visit, phase }: Token): boolean {
  return visit > 0 && phase !== "leaving" && phase !== "stuck";
}

/** Of two places in the order of execution, outer positions first. */
export function compareOrder(a: readonly number[], b: readonly number[]): number {
  for (let at = 0; at < Math.max(a.length, b.length); at += 1) {
    const difference = (a[at] ?? -1) - (b[at] ?? -1);
    if (difference !== 0) return difference;
  }
  return 0;
}

export type ContextValue =
  | { readonly json: Json }
  | {
      readonly text: Text;
      /** Line ends at its end do not belong to the value; its file has them. */
      readonly trimmed?: true;
    };
/** A short text is itself: there may be thousands. */
export type Values = Readonly<Record<string, ContextValue | string>>;

export interface Thread {
  readonly session: string;
  readonly provider: string | null;
}
export interface Workspace {
  readonly path: string;
  readonly branch: string;
  readonly baseSha: string;
}

/** An effect that is owed, as far as the machine must know it to route its result or to end it. */
export interface Owed {
  readonly key: string;
  readonly kind: WorkflowEffect["kind"];
  readonly folder?: string;
  readonly child?: string;
  /** The token that waits for it. */
  readonly token?: string;
  /** A timer's meaning. */
  readonly timer?: "backoff" | "resend" | "gate" | "branch";
  /** A stop has been owed for it. */
  readonly told?: true;
  /** Of a called workflow: it has been told that a budget is used up. */
  readonly ending?: true;
}

export function newWorkflow(given: Readonly<Record<string, string>> = {}): WorkflowState {
  const inputs = { ...given };
  return {
    version: 1,
    phase: "new",
    startedAt: 0,
    tokens: [],
    blocks: [],
    stages: {},
    passed: [],
    values: inputs,
    inputs,
    threads: {},
    workspaces: {},
    goalRetries: 0,
    rounds: noRounds,
    owed: [],
    folders: 0,
    timers: 0,
    signals: 0,
    usage: { tokens: 0, usd: 0 },
    used: null,
    halt: null,
    ending: null,
  };
}
