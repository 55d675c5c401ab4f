import type { RunReport } from "../../core/report.js";
import { drive } from "../../durable/drive.js";
import type { Drive, KernelEvent, Transition } from "../../durable/types.js";
import { Bug, messageOf } from "../../lib/errors.js";
import { safeName } from "../../lib/home.js";
import type { Graph } from "../../workflow/graph.js";
import { adoptGraph, continueFrom } from "../../workflow/machine/adopt.js";
import { findStale } from "../../workflow/machine/child-findings.js";
import type { StageChildEffect, WorkflowEffect } from "../../workflow/machine/effects.js";
import type { WorkflowEvent } from "../../workflow/machine/events.js";
import { workflowMachine } from "../../workflow/machine/machine.js";
import { newWorkflow, type WorkflowLife, type WorkflowState } from "../../workflow/machine/state.js";
import { partMachineId, stageFolder, type WorkflowContext, type WorkflowMachine, type WorkflowRun } from "./context.js";
import { expandText } from "./expansion.js";
import { parseWorkflow, type WorkflowSource } from "./load.js";
import { workflowPerformer } from "./perform.js";
import { placeOf } from "./place.js";
import { Questions } from "./questions.js";
import { spentBy } from "./spending.js";

export type WorkflowTransition = Transition<WorkflowLife, WorkflowEvent | KernelEvent, WorkflowEffect, RunReport>;

/** What a workflow starts with, or goes on with. */
export interface WorkflowStart
  extends Pick<WorkflowContext, "graph" | "source" | "issueId" | "folder" | "checkout" | "budget"> {
  readonly machine: WorkflowMachine;
  readonly initial: WorkflowState;
  /** Of a workflow that a stage calls. */
  readonly calls?: readonly string[];
  /** What else a step tells, for whoever starts it. */
  readonly told?: (transition: WorkflowTransition) => WorkflowTransition;
}

/** Drives a workflow to its end, from wherever its journal stands. */
export async function driveWorkflow(run: WorkflowRun, start: WorkflowStart, stop: AbortSignal): Promise<WorkflowLife> {
  const { machine, initial, calls = [], told = (transition) => transition, ...what } = start;
  let current: WorkflowLife = { state: initial, ledger: await run.ledger(machine.ledgerId) };
  const context: WorkflowContext = {
    ...what,
    run,
    machine,
    calls,
    life: () => current,
    driveChild: (effect, signal) => driveChild(context, effect, signal),
    pending: new Map(),
    live: new Map(),
  };
  const questions = new Questions(context);
  const { convergence, agent } = run.settings;
  const transition = workflowMachine({
    graph: what.graph,
    runId: run.runId,
    machine: machine.id,
    issueId: what.issueId === "" ? null : what.issueId,
    calls,
    settings: { convergence, backoff_seconds: agent.backoff_seconds },
    promptPath: (folder) => `${stageFolder(context, folder)}/prompt.md`,
  });
  const machineOf: Drive<WorkflowLife, WorkflowEvent, WorkflowEffect, RunReport> = {
    log: run.workflowLog(machine),
    initial: current,
    transition: told(transition),
    perform: workflowPerformer(context),
    crashed: (effect, error) => ({
      type: "crashed",
      key: effect.key,
      effect: effect.kind,
      message: messageOf(error),
    }),
    now: () => run.clock.now(),
    drivenUntil: run.drivenUntil,
    stop,
    onCommit: (life) => {
      current = life;
      const startsAgents = life.state.owed.some(({ kind }) => kind === "turn" || kind === "child");
      if (!startsAgents) run.slots.dropKept(what.issueId);
      if (life.state.halt !== null) dropWaiting(context);
      questions.look();
    },
  };
  try {
    return await drive(machineOf);
  } finally {
    await questions.close();
  }
}

/** What ends begins no turn any more, also where its place would be long in coming. */
function dropWaiting({ life, pending }: WorkflowContext): void {
  for (const { kind, folder } of life().state.owed) {
    if (kind === "turn") pending.get(folder ?? "")?.abort(new Error("the workflow ends"));
  }
}

/** Drives the workflow that a stage calls. Its findings are its own; those that stay open are told to its caller. */
async function driveChild(parent: WorkflowContext, effect: StageChildEffect, stop: AbortSignal): Promise<WorkflowLife> {
  const source = parent.source.children[effect.ref];
  if (source === undefined) throw new Error(`the workflow ${effect.ref} of stage ${effect.stage} was not found`);
  const { goal = null, ...inputs } = await inputsOf(parent, effect);
  const graph = await graphOf(source, goal);
  const ledgerId = `${parent.machine.ledgerId}/${effect.stage}`;
  return await driveWorkflow(
    parent.run,
    {
      machine: { id: partMachineId(parent.machine.id, effect.child), kind: "workflow", ledgerId },
      graph: { ...graph, goal: graph.goal ?? parent.graph.goal },
      source,
      issueId: parent.issueId,
      calls: [...parent.calls, effect.stage],
      folder: stageFolder(parent, effect.folder ?? safeName(effect.child)),
      checkout: await placeOf(parent, effect.workspace),
      ...(parent.budget ? { budget: { ...parent.budget, spent: () => spentBy(parent) } } : {}),
      initial: (await brokenOff(parent, effect, graph)) ?? {
        ...newWorkflow(inputs),
        ...(await staleOf(parent, effect, ledgerId)),
      },
    },
    stop,
  );
}

/** The called workflow as it was broken off; null: it begins anew. */
async function brokenOff(parent: WorkflowContext, effect: StageChildEffect, graph: Graph) {
  const before = effect.continues === undefined ? null : await parent.run.stored?.(effect.continues);
  if (!before?.done || before.state.ending?.status === "success") return null;
  const adopted = adoptGraph(before.state, graph);
  if ("error" in adopted) return null;
  // Its caller was told what it had used.
  return { ...continueFrom(adopted.state), usage: { tokens: 0, usd: 0 }, used: null };
}

/** What earlier attempts of the same visit found. */
async function staleOf(
  { run, life }: WorkflowContext,
  { attempt, stage }: StageChildEffect,
  ledgerId: string,
): Promise<Pick<WorkflowState, "stale">> {
  if (attempt < 2) return {};
  const ids = findStale(await run.ledger(ledgerId), { ledger: life().ledger, runId: run.runId, stage });
  return ids.length === 0 ? {} : { stale: ids };
}

async function inputsOf(parent: WorkflowContext, effect: StageChildEffect): Promise<Record<string, string>> {
  const stage = parent.graph.stages.find(({ id }) => id === effect.stage);
  const inputs: Record<string, string> = {};
  for (const { key, value } of stage?.kind === "workflow" ? stage.inputs : []) {
    inputs[key] = await expandText(parent, value, effect.token);
  }
  return inputs;
}

/** The graph of a source that was checked when it was kept. `goal` stands before the file's own. */
export async function graphOf(source: WorkflowSource, goal: string | null): Promise<Graph> {
  const { graph } = await parseWorkflow(source.text, source.file);
  if (graph === null) throw new Bug(`${source.file} was kept and cannot be read`);
  return goal === null ? graph : { ...graph, goal };
}
