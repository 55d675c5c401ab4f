import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { countedFrom } from "../../core/budget.js";
import type { Finding, Ledger } from "../../core/finding.js";
import type { TurnEffect } from "../../core/issue/effects.js";
import type { TurnEnded, TurnOutcome } from "../../core/issue/events.js";
import type { Agent } from "../../core/ports/agent.js";
import { gitDirFor } from "../../git/checkout/checkout.js";
import { readOptional, writeDurably } from "../../lib/files.js";
import type { Graph, ModelChoice } from "../../workflow/graph.js";
import { adoptGraph, continueFrom } from "../../workflow/machine/adopt.js";
import { newWorkflow, type WorkflowState } from "../../workflow/machine/state.js";
import { attemptFolder, type IssueWorkflow, type LifeContext, takeSnapshot, worktreePath } from "../context.js";
import { expectNext } from "../expect-next.js";
import { settleTold } from "../perform/settle-told.js";
import { renderGoal } from "../prompt.js";
import { workflowSession } from "../resume.js";
import { partMachineId, type Question, type StoredWorkflow, type WorkflowRun } from "./context.js";
import { driveWorkflow, graphOf, type WorkflowTransition } from "./drive.js";
import type { WorkflowSource } from "./load.js";

/** `agent.workflow`: what implements issues in place of one session. */
export interface WorkflowOfIssues {
  readonly source: WorkflowSource;
  readonly agent: (choice: ModelChoice) => Promise<Agent>;
  readonly log: WorkflowRun["workflowLog"];
  /** A workflow of an earlier life, by its machine. */
  readonly stored: (machine: string) => Promise<StoredWorkflow | null>;
}

/**
 * An implementer's turn that is a workflow, in the issue's worktree and on the issue's ledger. To the issue it is a turn
 * like any other; the workflow's own journal says where it stands, so that a crash loses none of it. Its goal is the
 * issue with what is open of it and how it is judged, so that findings of gate and review reach its stages.
 */
export function implementBy(workflow: WorkflowOfIssues): IssueWorkflow {
  return {
    implement: (life, effect, signal) => implement({ workflow, life, signal }, effect),
  };
}

interface Implementing {
  readonly workflow: WorkflowOfIssues;
  readonly life: LifeContext;
  readonly signal: AbortSignal;
}

async function implement({ workflow, life, signal }: Implementing, effect: TurnEffect): Promise<TurnEnded> {
  const { run, machine, issueId } = life;
  const folder = attemptFolder(life, effect.folder);
  const goal = await goalOf(life, effect, folder);
  const graph = await graphOf(workflow.source, goal);
  const start = graph.stages.find(({ id }) => id === graph.start.name);
  // The place that was kept for a first turn is of no use to a stage that starts no agent.
  if (start?.kind !== "llm") run.slots.dropKept(issueId);
  const id = partMachineId(machine, effect.folder);
  const pending = new AbortController();
  life.pending.set(effect.folder, pending);
  pending.signal.addEventListener("abort", () => void run.inbox.send(id, { name: "cancel" }));
  const broken = await brokenOff(workflow, effect.session, graph);
  // It was stopped and answered at once: whoever answered was told that it counts.
  if (broken !== null) await run.inbox.passAnswersOn(broken.machine, id);
  const before = life.ledger();
  const path = worktreePath(life);
  try {
    const { state, ledger } = await driveWorkflow(
      workflowRun(life, workflow),
      {
        machine: { id, kind: "workflow", ledgerId: before.issueId },
        graph,
        source: workflow.source,
        issueId,
        folder,
        checkout: { path, gitDirs: [gitDirFor(run.mirror, path)] },
        budget: { spent: () => life.state().usage, startedAt: countedFrom(life.state()) },
        told: tellTitle(life.title),
        initial: broken?.state ?? newWorkflow({ "issue.id": issueId, "issue.title": life.title }),
      },
      signal,
    );
    signal.throwIfAborted();
    return await settle(life, effect, { machine: id, state, findings: changedFindings(before, ledger) });
  } finally {
    life.pending.delete(effect.folder);
    expectNext(life, effect);
  }
}

/**
 * Where an earlier life's workflow was stopped or failed: a resume goes on there. null: it begins anew. What it cost then was
 * that life's.
 */
async function brokenOff({ stored }: WorkflowOfIssues, session: string | null, graph: Graph) {
  const machine = session?.startsWith(workflowSession) ? session.slice(workflowSession.length) : null;
  const before = machine === null ? null : await stored(machine);
  if (machine === null || !before?.done || before.state.ending?.status === "success") return null;
  const adopted = adoptGraph(before.state, graph);
  if ("error" in adopted) return null;
  return { machine, state: { ...continueFrom(adopted.state), usage: { tokens: 0, usd: 0 }, used: null } };
}

function workflowRun({ run }: LifeContext, { agent, log }: WorkflowOfIssues): WorkflowRun {
  return {
    ...run,
    mirror: async () => run.mirror,
    agent,
    workflowLog: log,
    ledger: run.history.ledger,
    // Whoever sits in front of a run sees many issues: a question is told with them and answered by name.
    ask: async (question) => {
      await run.inbox.send(question.machine, askedSignal(question));
      return null;
    },
  };
}

/** More of what is asked about is not told as an event; the question itself has all of it. */
const toldCharacters = 8_000;

function askedSignal({ stage, visit, prompt, details, gate }: Question) {
  const told = details === null ? null : details.slice(0, toldCharacters);
  const more = (details?.length ?? 0) - (told?.length ?? 0);
  return { name: "asked", stage, visit, prompt: prompt.slice(0, toldCharacters), details: told, more, gate };
}

/** The goal is long: whoever follows the run is told what it is about. */
function tellTitle(goal: string): (transition: WorkflowTransition) => WorkflowTransition {
  return (transition) => (current, event) => {
    const next = transition(current, event);
    const reports = next.reports?.map((one) => (one.type === "workflow-started" ? { ...one, goal } : one));
    return { ...next, reports: reports ?? [] };
  };
}

/** Written down once: a workflow that goes on after a crash has the goal it started with. */
async function goalOf(life: LifeContext, effect: TurnEffect, folder: string): Promise<string> {
  const file = join(folder, "prompt.md");
  const known = await readOptional(file);
  if (known !== null) return known;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const goal = await renderGoal(life, effect, folder);
  await writeDurably(file, goal);
  return goal;
}

/** Of what is settled the beginning will do: the whole of it is in its row. */
const settledCharacters = 500;

function changedFindings(before: Ledger, after: Ledger): Finding[] {
  const known = new Map(before.findings.map((finding) => [finding.id, JSON.stringify(finding)]));
  const changed = after.findings.filter((finding) => known.get(finding.id) !== JSON.stringify(finding));
  return changed.map((finding) => {
    const { text } = finding.body;
    if (finding.status === "open" || text.length <= settledCharacters) return finding;
    return { ...finding, body: { ...finding.body, text: text.slice(0, settledCharacters) } };
  });
}

interface Ended {
  readonly machine: string;
  readonly state: WorkflowState;
  readonly findings: readonly Finding[];
}

async function settle(life: LifeContext, effect: TurnEffect, { machine, state, findings }: Ended): Promise<TurnEnded> {
  const { clock, meter } = life.run;
  const now = clock.now();
  const over = meter.over();
  const told: TurnEnded = {
    type: "turn-ended",
    key: effect.key,
    outcome: outcomeOf(state),
    sessionId: workflowSession + machine,
    usage: state.used,
    seconds: Math.max(0, (now - state.startedAt) / 1000),
    until: now,
    snapshot: null,
    marker: null,
    review: null,
    workflow: { findings },
    ...(over === null ? {} : { runBudget: over }),
  };
  return await settleTold(told, async () => ({ ...told, snapshot: await takeSnapshot(life, effect.base) }));
}

function outcomeOf({ ending }: WorkflowState): TurnOutcome {
  if (ending === null || ending.status === "cancelled") return { type: "stopped" };
  // Nothing failed: whether another turn may begin is for the issue to say, which has counted what this one used.
  if (ending.budget) return { type: "stopped" };
  if (ending.status === "success") return { type: "ended" };
  return { type: "failed", reason: `the workflow failed: ${ending.reason ?? "no reason was given"}` };
}
