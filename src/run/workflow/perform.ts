import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Finding } from "../../core/finding.js";
import type { Perform, Settled } from "../../durable/types.js";
import { stageFindings } from "../../workflow/context.js";
import type { StageChildEffect, WorkflowEffect } from "../../workflow/machine/effects.js";
import type { ChildFinding, WorkflowEvent } from "../../workflow/machine/events.js";
import { endLeftoverCommands } from "../leftovers.js";
import { stopFolder } from "../perform/stop.js";
import { performWait } from "../perform/wait.js";
import { performStageCommand } from "./command.js";
import { partMachineId, stageFolder, type WorkflowContext } from "./context.js";
import { parseWorkflowSignal } from "./signals.js";
import { performStageTimer } from "./timer.js";
import { performStageTurn } from "./turn.js";
import { performStageWorktree } from "./worktree.js";

type Performer<K extends WorkflowEffect["kind"]> = (
  context: WorkflowContext,
  effect: Extract<WorkflowEffect, { readonly kind: K }>,
  signal: AbortSignal,
) => Promise<Settled<WorkflowEvent>>;

/** One performer per effect kind: the compiler finds the missing one. */
const performers: { readonly [K in WorkflowEffect["kind"]]: Performer<K> } = {
  turn: performStageTurn,
  command: performStageCommand,
  worktree: performStageWorktree,
  child: performChild,
  tell: async ({ run, machine }, effect) => {
    await run.inbox.send(partMachineId(machine.id, effect.child), { name: effect.signal, reason: effect.reason });
    return { event: { type: "told", key: effect.key } };
  },
  stop: async (context, effect, signal) => {
    const folder = stageFolder(context, effect.folder);
    await stopFolder({ folder, how: effect.how, clock: context.run.clock }, signal);
    context.pending.get(effect.folder)?.abort(new Error("stopped before it started"));
    return { event: { type: "stop-done", key: effect.key } };
  },
  timer: performStageTimer,
  wait: ({ run, machine }, effect, signal) =>
    performWait({ inbox: run.inbox, machine: machine.id, parse: parseWorkflowSignal }, effect, signal),
};

export function workflowPerformer(context: WorkflowContext): Perform<WorkflowEvent, WorkflowEffect> {
  let alone: Promise<void> | null = null;
  return async (effect, { signal }) => {
    alone ??= endLeftovers(context.folder);
    await alone;
    const perform = performers[effect.kind] as (
      context: WorkflowContext,
      effect: WorkflowEffect,
      signal: AbortSignal,
    ) => Promise<Settled<WorkflowEvent>>;
    return await perform(context, effect, signal);
  };
}

/** By its own journal: one that has ended settles at once. */
async function performChild(
  context: WorkflowContext,
  effect: StageChildEffect,
  signal: AbortSignal,
): Promise<Settled<WorkflowEvent>> {
  const life = await context.driveChild(effect, signal);
  signal.throwIfAborted();
  const { used: usage, ending } = life.state;
  const { status, reason, budget } = ending ?? { status: "cancelled" as const, reason: null };
  const findings = stageFindings(life).slice(-mostFindings).map(toChildFinding);
  const machine = partMachineId(context.machine.id, effect.child);
  const ended = { type: "child-ended", key: effect.key, outcome: status, reason, findings, machine, usage } as const;
  return { event: budget ? { ...ended, budget } : ended };
}

/** More of them would make the caller's journal large and tell an agent nothing. */
const mostFindings = 100;

function toChildFinding(finding: Finding): ChildFinding {
  const { id, source, stage, outcome, commit, file, line_start, line_end, priority, title, body, raised_as } = finding;
  const told = { id, source, stage, outcome, commit, file, line_start, line_end, priority, title, body };
  return raised_as === undefined ? told : { ...told, raised_as };
}

/** More cannot have been under way at once; looking at all that ever ran would take longer with every stage. */
const newest = 64;

async function endLeftovers(folder: string): Promise<void> {
  const names = (existsSync(folder) ? readdirSync(folder) : []).filter((name) => /^\d+-/.test(name));
  const last = names.sort((a, b) => Number.parseInt(b, 10) - Number.parseInt(a, 10)).slice(0, newest);
  await Promise.all(last.map((name) => endLeftoverCommands(join(folder, name))));
}
