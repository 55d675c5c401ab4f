import { join } from "node:path";
import type { Spent } from "../../core/budget.js";
import type { Ledger } from "../../core/finding.js";
import type { Usage } from "../../core/issue/events.js";
import type { Agent } from "../../core/ports/agent.js";
import type { RunReport } from "../../core/report.js";
import type { Log } from "../../durable/types.js";
import { workspaceBranches } from "../../git/landing/other-issues.js";
import type { Mirror } from "../../git/mirror/mirror.js";
import { safeName } from "../../lib/home.js";
import type { Graph, ModelChoice } from "../../workflow/graph.js";
import type { StageChildEffect, WorkflowEffect } from "../../workflow/machine/effects.js";
import type { WorkflowEvent } from "../../workflow/machine/events.js";
import type { WorkflowLife, WorkflowState } from "../../workflow/machine/state.js";
import type { RunContext } from "../context.js";
import type { WorkflowSource } from "./load.js";

/** What all workflows of a run share: a part of what an issue's run has, and what stages need besides. */
export type WorkflowRun = Pick<
  RunContext,
  | "runId"
  | "projectId"
  | "repoPath"
  | "settings"
  | "home"
  | "env"
  | "clock"
  | "redact"
  | "templates"
  | "projectText"
  | "inbox"
  | "slots"
  | "meter"
  | "drivenUntil"
  | "identity"
> & {
  /** Where the run is a workflow: its minutes are counted from then. */
  readonly countedFrom?: number;
  /** Opened when a workspace is made: most workflows have none. */
  readonly mirror: () => Promise<Mirror>;
  /** Who does the stages of a choice. */
  readonly agent: (choice: ModelChoice) => Promise<Agent>;
  readonly workflowLog: (machine: WorkflowMachine) => Log<WorkflowLife, WorkflowEvent, WorkflowEffect, RunReport>;
  readonly ledger: (issueId: string) => Promise<Ledger>;
  /** How a workflow of this run stands; null: it has not begun. Absent: nothing is ever gone on with. */
  readonly stored?: (machine: string) => Promise<StoredWorkflow | null>;
  /** Asks whoever is there; null: nobody who would know. Aborted when it is answered otherwise. */
  readonly ask: (question: Question, signal: AbortSignal) => Promise<Answer | null>;
};

/** What a human gate wants to know, as a file beside the run tells it to whoever may answer. */
export interface Question {
  readonly machine: string;
  readonly stage: string;
  readonly visit: number;
  readonly workflow: string;
  /** Whose workflow it is; null: the run's own. */
  readonly issueId: string | null;
  /** The stages that called the workflow, outermost first; absent in what an older version wrote. */
  readonly calls?: readonly string[];
  /** Its name for `ratchet answer`. */
  readonly gate: string;
  readonly prompt: string;
  /** What the answer is about; null: nothing. */
  readonly details: string | null;
  readonly options: readonly { readonly key: string; readonly label: string; readonly feedback: boolean }[];
  /** The option that is taken when time runs out, and when. */
  readonly default: string | null;
  readonly until: number | null;
  /** The workflow was ended while it asked: the machine is the one that a resume goes on in, and an answer waits for it. */
  readonly kept?: true;
}
export interface Answer {
  readonly option: string;
  readonly feedback: string | null;
  readonly by: string;
}

/** A machine's stored state, and whether it has ended. */
export interface StoredWorkflow {
  readonly state: WorkflowState;
  readonly done: boolean;
  /** Another living process that drives it; null: none does. */
  readonly driver: number | null;
}

/** A workflow's row in the journal. */
export interface WorkflowMachine {
  readonly id: string;
  /** `run`: the run is this workflow. `workflow`: it is a part of something else. */
  readonly kind: "run" | "workflow";
  /** Whose findings they are: an issue's, or the run's. */
  readonly ledgerId: string;
}

/** What the performers of one workflow need besides: what it is, where it works, and how it stands now. */
export interface WorkflowContext {
  readonly run: WorkflowRun;
  readonly machine: WorkflowMachine;
  readonly graph: Graph;
  readonly source: WorkflowSource;
  /** Empty: it is no issue's. */
  readonly issueId: string;
  /** The stages that called it, outermost first. */
  readonly calls: readonly string[];
  /** The folder of its attempts. */
  readonly folder: string;
  /** The checkout its stages work in, unless a workspace stage made another. */
  readonly checkout: Checkout;
  /** What the issue and the workflows that call this one have used beside it; absent: it is no issue's. */
  readonly budget?: { readonly spent: () => Spent; readonly startedAt: number };
  readonly life: () => WorkflowLife;
  /** Drives a workflow that a stage calls. */
  readonly driveChild: (effect: StageChildEffect, stop: AbortSignal) => Promise<WorkflowLife>;
  /** Turns waiting for a place, by folder, so that a stop reaches them. */
  readonly pending: Map<string, AbortController>;
  /** What turns have used so far, by key; those that are no longer owed are counted. */
  readonly live: Map<string, Usage>;
}

export interface Checkout {
  readonly path: string;
  /** Git folders outside of it that its commits go to. */
  readonly gitDirs: readonly string[];
}

export function stageFolder({ folder }: Pick<WorkflowContext, "folder">, name: string): string {
  return join(folder, name);
}

/** A workflow run's own machine; each resume of one that had ended is a further life. */
export function workflowMachineId(runId: string, life: number): string {
  return `workflow:${runId}:${life}`;
}

/** Where a resume goes on with a machine of a workflow run, or a part of it; null: it is an issue's. */
export function resumedMachineId(machine: string): string | null {
  const [, run, life, part = ""] = /^(workflow:[^/]*:)(\d+)(\/.*)?$/s.exec(machine) ?? [];
  return run === undefined ? null : `${run}${Number(life) + 1}${part}`;
}

/** A part of another machine. */
export function partMachineId(machine: string, part: string): string {
  return `${machine}/${part}`;
}

/** No issue's folder begins with "_"; several runs may use the same name. */
export function workspaceNames(runId: string, name: string): { readonly worktree: string; readonly branch: string } {
  const own = `${runId}-${safeName(name)}`;
  return { worktree: `_workspace-${own}`, branch: `${workspaceBranches}${own}` };
}
