import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { awayUntil } from "../../core/budget.js";
import type { Asker } from "../../core/ports/tracker.js";
import type { RunReport, RunStatus } from "../../core/report.js";
import { Driven } from "../../durable/fenced.js";
import { Refusal, UserError } from "../../lib/errors.js";
import { readJson, writeDurably } from "../../lib/files.js";
import type { Home } from "../../lib/home.js";
import { prepareShims } from "../../lib/process/start.js";
import type { Graph, LlmStage } from "../../workflow/graph.js";
import { adoptGraph, continueFrom } from "../../workflow/machine/adopt.js";
import { newWorkflow, type WorkflowLife, type WorkflowState } from "../../workflow/machine/state.js";
import {
  type Checkout,
  type StoredWorkflow,
  type WorkflowMachine,
  type WorkflowRun,
  workflowMachineId,
} from "./context.js";
import { driveWorkflow, graphOf, type WorkflowTransition } from "./drive.js";
import type { WorkflowSource } from "./load.js";
import { runBudget } from "./spending.js";

/** What a workflow run is made of; app.ts chooses. */
export interface WorkflowParts extends Omit<WorkflowRun, "runId"> {
  readonly runId: string;
  readonly source: WorkflowSource;
  /** null: the file's own. */
  readonly goal: string | null;
  /** Of the source, with the run's goal. */
  readonly graph: Graph;
  readonly checkout: Checkout;
  readonly startedAt: number;
  readonly start: { readonly target: string; readonly commit: string };
  /** Writes the run's record down before its machine starts; nothing for one that is taken up again. */
  readonly register: () => Promise<void>;
  readonly stored: (machine: string) => Promise<StoredWorkflow | null>;
  /** It was started before and goes on. */
  readonly resume: boolean;
  /** May leave before the run has begun. */
  readonly asker?: Asker | undefined;
}

type Counted = WorkflowParts & { readonly countedFrom: number };

/** A workflow run that has begun. Signals may come from any process; `kill` leaves it unfinished, as a crash would. */
export interface StartedWorkflow {
  readonly runId: string;
  readonly done: Promise<WorkflowEnd>;
  cancel(): Promise<void>;
  kill(): void;
}
export interface WorkflowEnd {
  readonly exitCode: number;
  readonly reason: string | null;
}

/** What a run is made of, and the goal it was given last; absent: as its options have it. */
export interface KeptWorkflow extends WorkflowSource {
  readonly goal?: string;
}

/** What a run is made of is kept with it. */
export async function writeSource(home: Home, runId: string, source: KeptWorkflow): Promise<void> {
  await writeDurably(sourceFile(home, runId), JSON.stringify(source));
}

function sourceFile(home: Home, runId: string): string {
  return join(home.run(runId), "workflow.json");
}

/** As the run was started with, or resumed with last; null: it is no workflow run, or its folder is gone. */
export async function readSource(home: Home, runId: string): Promise<KeptWorkflow | null> {
  const found = await readJson(sourceFile(home, runId));
  // Written by us, whole or not at all.
  return typeof found === "object" && found !== null && "text" in found ? (found as KeptWorkflow) : null;
}

/** Finds what is missing before any stage starts, then drives. */
export async function startWorkflow(given: WorkflowParts): Promise<StartedWorkflow> {
  const { home, runId, source, goal, graph, inbox } = given;
  const last = given.resume ? await lastLife(given) : null;
  const parts = { ...given, countedFrom: whenCounted(given, last) };
  const begun = last === null ? { life: 1, initial: newWorkflow() } : goOnFrom(parts, last);
  await checkStages(parts, source, graph);
  prepareShims(home.root);
  await mkdir(home.run(runId), { recursive: true, mode: 0o700 });
  await writeSource(home, runId, goal === null ? source : { ...source, goal });
  await parts.register();
  const machine: WorkflowMachine = { id: workflowMachineId(runId, begun.life), kind: "run", ledgerId: runId };
  // It was stopped and answered at once: whoever answered was told that it counts.
  if (begun.life > 1) await inbox.passAnswersOn(workflowMachineId(runId, begun.life - 1), machine.id);
  const killed = new AbortController();
  const driven = driveWorkflow(
    parts,
    {
      machine,
      graph,
      source,
      issueId: "",
      folder: home.attempt(runId, null, ""),
      checkout: parts.checkout,
      initial: begun.initial,
      told: (transition) => tellRun(parts, transition),
    },
    killed.signal,
  );
  const timed = new AbortController();
  void tellTime(parts, machine.id, timed.signal);
  return {
    runId,
    done: driven
      .finally(() => timed.abort())
      .catch((error: unknown) => {
        // Another process took it up in the same moment.
        throw error instanceof Driven ? isDriven(runId, error.driver.pid) : error;
      })
      .then(endOf),
    cancel: () => inbox.send(machine.id, { name: "cancel" }),
    kill: () => killed.abort(new Error("killed")),
  };
}

/** Where the run would have begun if it had been driven without a break: the time in which nobody was there is left out. */
function whenCounted({ startedAt, clock, drivenUntil }: WorkflowParts, last: LastLife | null): number {
  return last === null ? startedAt : startedAt + awayUntil(last.state, drivenUntil ?? undefined, clock.now());
}

/** `budgets.run.minutes`, resumes included. */
async function tellTime({ clock, settings, countedFrom, inbox }: Counted, machine: string, signal: AbortSignal) {
  const { minutes } = settings.budgets.run;
  if (minutes === null) return;
  try {
    await clock.sleep(countedFrom + minutes * 60_000, signal);
  } catch (error) {
    if (signal.aborted) return;
    throw error;
  }
  if (!signal.aborted) await inbox.send(machine, { name: "budget", reason: `${minutes} of ${minutes} minutes` });
}

const exits = { success: 0, fail: 1, cancelled: 130 } as const;

function endOf({ state: { ending } }: WorkflowLife): WorkflowEnd {
  return ending === null ? { exitCode: 130, reason: null } : { exitCode: exits[ending.status], reason: ending.reason };
}

const statuses = { success: "succeeded", fail: "failed", cancelled: "interrupted" } as const satisfies Record<
  string,
  RunStatus
>;

/** The run is the workflow: it starts with its first step and ends with its last. */
function tellRun(parts: WorkflowParts, transition: WorkflowTransition): WorkflowTransition {
  const { projectId: project_id, repoPath: repo_path, start, resume, startedAt } = parts;
  const started: RunReport = {
    type: "run-started",
    project_id,
    target_branch: start.target,
    run_start_commit: start.commit,
    repo_path,
    ...(resume ? { started_at: new Date(startedAt).toISOString() } : {}),
  };
  return (life, event) => {
    const next = transition(life, event);
    const { ending } = next.state.state;
    const reports = [...(event.type === "started" ? [started] : []), ...(next.reports ?? [])];
    if (ending === null || life.state.ending !== null) return { ...next, reports };
    const finished: RunReport = {
      type: "run-finished",
      status: statuses[ending.status],
      exit_code: exits[ending.status],
      success_count: 0,
      total_count: 0,
    };
    return { ...next, reports: [...reports, finished] };
  };
}

interface LastLife extends StoredWorkflow {
  readonly life: number;
}

/** null: it has not begun. */
async function lastLife({ runId, stored }: WorkflowParts): Promise<LastLife | null> {
  for (let last: LastLife | null = null; ; ) {
    const life: number = (last?.life ?? 0) + 1;
    const found = await stored(workflowMachineId(runId, life));
    if (found === null) return last;
    last = { ...found, life };
  }
}

/**
 * Where a run goes on: in the life that was interrupted, or in a new one that begins where an ended one stopped. The
 * file may have changed since: what was done stays done, as long as the stages it stands on are there.
 */
function goOnFrom(parts: Counted, last: LastLife): { readonly life: number; readonly initial: WorkflowState } {
  const { runId, graph } = parts;
  const { life } = last;
  if (!last.done && last.driver !== null) throw isDriven(runId, last.driver);
  const adopted = adoptGraph(last.state, graph);
  if ("error" in adopted) {
    throw new UserError(`run ${runId} cannot go on with this file: ${adopted.error}`, {
      hint: "put the stage back, or start a new run",
      code: "workflow-changed",
    });
  }
  if (!last.done) return { life, initial: last.state };
  if (last.state.ending?.status === "success") {
    throw new Refusal(`run ${runId} has succeeded: there is nothing to resume`, { code: "wrong-status" });
  }
  refuseOverBudget(parts);
  return { life: life + 1, initial: continueFrom(adopted.state) };
}

/** The budget is the run's, whoever resumes it how often. One that is unfinished comes to its end by itself. */
function refuseOverBudget(parts: Counted): void {
  const over = runBudget(parts);
  if (over === null) return;
  throw new Refusal(`run ${parts.runId} has used up its budget: ${over}`, {
    code: "budget",
    hint: "raise budgets.run in ratchet.yaml and resume it again: what is written there now counts",
  });
}

function isDriven(runId: string, pid: number): Refusal {
  return new Refusal(`run ${runId} is still at work: process ${pid} drives it`, {
    code: "driven",
    hint: `ratchet status shows it, ratchet stop ${runId} ends it`,
  });
}

/** Every agent that a stage may need is there, and asks the guard before its tools run. */
export async function checkStages(
  parts: Pick<WorkflowParts, "agent" | "repoPath" | "asker">,
  source: WorkflowSource,
  graph: Graph,
): Promise<void> {
  const foreign = graph.stages.find((stage) => stage.kind === "unknown");
  if (foreign?.kind === "unknown") {
    const hint = "other runners may know it; give it a type or shape of Ratchet's";
    throw new UserError(`stage ${foreign.id} is of an unknown kind: ${foreign.type}`, {
      hint,
      code: "workflow-invalid",
    });
  }
  const seen = new Set<string>();
  for (const stage of await llmStages(source, graph)) {
    const { provider } = stage.model;
    if (seen.has(provider ?? "")) continue;
    seen.add(provider ?? "");
    const agent = await parts.agent(stage.model).catch((error: unknown) => {
      if (!(error instanceof UserError)) throw error;
      throw new UserError(`stage ${stage.id}: ${error.message}`, {
        code: error.code,
        ...(error.hint === null ? {} : { hint: error.hint }),
      });
    });
    const missing =
      (await agent.check(parts.repoPath)) ?? (await agent.proveGuard?.(parts.repoPath, parts.asker)) ?? null;
    if (missing) throw new UserError(missing.message, { hint: missing.hint, code: "program-missing" });
  }
}

async function llmStages(source: WorkflowSource, graph: Graph): Promise<LlmStage[]> {
  const own = graph.stages.filter((stage) => stage.kind === "llm");
  const called = await Promise.all(
    Object.values(source.children).map(async (child) => await llmStages(child, await graphOf(child, null))),
  );
  return [...own, ...called.flat()];
}
