import { workflowLogOf } from "../../src/app/journal.js";
import { emptyLedger } from "../../src/core/ledger/ledger.js";
import type { RunReport } from "../../src/core/report.js";
import { drive } from "../../src/durable/drive.js";
import type { Perform } from "../../src/durable/types.js";
import { ratchetHome } from "../../src/lib/home.js";
import { parseWorkflow } from "../../src/run/workflow/load.js";
import { openStore } from "../../src/store/store.js";
import { check } from "../../src/workflow/check/check.js";
import type { Graph } from "../../src/workflow/graph.js";
import type { WorkflowEffect } from "../../src/workflow/machine/effects.js";
import type { StageTurnEnded, WorkflowEvent } from "../../src/workflow/machine/events.js";
import { workflowMachine } from "../../src/workflow/machine/machine.js";
import { newWorkflow, type WorkflowLife } from "../../src/workflow/machine/state.js";

/** What a turn of the benchmark settles with, at once. */
type Reply = Pick<StageTurnEnded, "reply" | "replyFile" | "status">;
type Answer = (effect: Extract<WorkflowEffect, { readonly kind: "turn" }>) => Reply;

interface Driven {
  readonly graph: Graph;
  readonly runId: string;
  readonly answer?: Answer;
  /** After each commit, with the state it recorded; true: that was enough. */
  readonly onCommit?: (life: WorkflowLife) => boolean;
}

/** For benchmarks: workflows on the real machine, kernel and store, with performers that do nothing. */
export async function openEngine(folder: string) {
  const store = await openStore({ home: ratchetHome({ RATCHET_HOME: folder }) });
  return {
    drive: (driven: Driven): Promise<WorkflowLife> => {
      const log = workflowLogOf(store, { runId: driven.runId, projectId: "bench" });
      return driveAt(log({ id: `workflow:${driven.runId}:1`, kind: "workflow", ledgerId: driven.runId }), driven);
    },
    close: () => store.close(),
  };
}

type WorkflowLog = ReturnType<ReturnType<typeof workflowLogOf>>;

async function driveAt(log: WorkflowLog, { graph, runId, answer = done, onCommit }: Driven): Promise<WorkflowLife> {
  const stop = new AbortController();
  return await drive<WorkflowLife, WorkflowEvent, WorkflowEffect, RunReport>({
    log,
    initial: { state: newWorkflow(), ledger: emptyLedger(runId) },
    transition: workflowMachine({
      graph,
      runId,
      machine: `workflow:${runId}:1`,
      issueId: null,
      settings: { convergence: { same_failure: 0, rounds_without_fewer_findings: 0 }, backoff_seconds: [] },
      promptPath: (name) => `${name}/prompt.md`,
    }),
    perform: performer(answer),
    crashed: (_effect, error) => {
      throw error;
    },
    now: Date.now,
    stop: stop.signal,
    onCommit: (life) => {
      if (onCommit?.(life)) stop.abort();
    },
  });
}

function done(): Reply {
  return { reply: { text: "done" }, status: null };
}

function performer(answer: Answer): Perform<WorkflowEvent, WorkflowEffect> {
  return async (effect, { signal }) => {
    if (effect.kind !== "turn") return await aborted(signal);
    const spent = { sessionId: null, usage: null, seconds: 0, until: 0, commit: null };
    return {
      event: { type: "turn-ended", key: effect.key, outcome: { type: "ended" }, ...spent, ...answer(effect) },
    };
  };
}

/** Nobody signals: waiting ends with the workflow. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
}

/** Parsed and checked, without a mistake. */
export async function readGraph(text: string, file: string): Promise<Graph> {
  const { graph, diagnostics } = await parseWorkflow(text, file);
  if (graph === null) throw new Error(JSON.stringify(diagnostics[0]));
  const found = check(graph, { readable: () => "missing", workflowExists: () => false });
  const wrong = [...diagnostics, ...found].find(({ severity }) => severity === "error");
  if (wrong) throw new Error(JSON.stringify(wrong));
  return graph;
}
