import { isDeepStrictEqual } from "node:util";
import type { IssueEvent, Stamped } from "../core/issue/events.js";
import { type IssueLife, issueMachine, newIssue } from "../core/issue/machine.js";
import { type CommonPolicy, lifePolicy } from "../core/issue/policy.js";
import { emptyLedger } from "../core/ledger/ledger.js";
import type { IssueStart, RunEvent, RunOptions } from "../core/run/effects.js";
import { newRun, type RunState, runMachine } from "../core/run/machine.js";
import { runPolicy } from "../core/run/policy.js";
import { issueMachineId, runMachineId } from "./context.js";

/** A finished run as the store has it. */
export interface RecordedRun {
  readonly policy: CommonPolicy;
  readonly options: RunOptions;
  /** The arrivals of a machine, oldest first. */
  readonly journal: (machine: string) => Promise<readonly unknown[]>;
  /** A machine's stored state; null: there is no such machine. */
  readonly state: (machine: string) => Promise<unknown>;
}

export interface JournalCheck {
  /** How many machines were folded. */
  readonly machines: number;
  /** Those whose journal does not give the stored row. */
  readonly different: readonly string[];
}

/**
 * A machine's row is the truth and its journal the history: within one version folding the one gives the other. Lives
 * that began with an earlier life's findings are left out, because the ledger they began with is not kept.
 */
export async function checkJournal(run: RecordedRun): Promise<JournalCheck> {
  const id = runMachineId(run.policy.runId);
  const arrivals = (await run.journal(id)) as readonly Stamped<RunEvent>[];
  const folded = foldRun(run, arrivals);
  const different = (await isStored(run, id, folded)) ? [] : [id];
  const starts = arrivals.flatMap((one) => (one.type === "picked" ? [one.start] : [])).filter(isFirstLife);
  for (const start of starts) {
    const machine = issueMachineId(run.policy.runId, start.issueId, start.life);
    const events = (await run.journal(machine)) as readonly Stamped<IssueEvent>[];
    const { state } = foldLife(run, start, events);
    if (!(await isStored(run, machine, state))) different.push(machine);
  }
  return { machines: 1 + starts.length, different };
}

function isFirstLife({ life, resume }: IssueStart): boolean {
  return life === 1 && resume === null;
}

function foldRun({ policy, options }: RecordedRun, arrivals: readonly Stamped<RunEvent>[]): RunState {
  const transition = runMachine(runPolicy(policy.settings, options));
  return arrivals.reduce((state, arrival) => transition(state, arrival).state, newRun());
}

function foldLife({ policy }: RecordedRun, start: IssueStart, arrivals: readonly Stamped<IssueEvent>[]): IssueLife {
  // Where prompts are told to be is said in reports, not in the state.
  const own = { promptPath: (folder: string) => folder, trigger: undefined, item: start.item };
  const transition = issueMachine(lifePolicy(policy, own));
  const initial: IssueLife = { state: newIssue(start), ledger: emptyLedger(start.issueId) };
  return arrivals.reduce((life, arrival) => transition(life, arrival).state, initial);
}

async function isStored(run: RecordedRun, machine: string, folded: unknown): Promise<boolean> {
  return isDeepStrictEqual(JSON.parse(JSON.stringify(folded)), await run.state(machine));
}
