import type { PublicEvent } from "../../core/report.js";
import type { Diagnostic } from "../../workflow/diagnostic.js";
import { handlerTypes } from "../../workflow/dot/kinds.js";
import type { Graph } from "../../workflow/graph.js";
import { type Attribute, edgesOf, stageAttributes } from "./to-dot.js";

/** What `bin/conformance` prints: names and shapes of Attractor's public test bench. */
export function parsedJson(graph: Graph) {
  return {
    name: graph.name,
    goal: graph.goal,
    label: graph.label,
    start: graph.start.name,
    nodes: graph.stages.map((stage) => ({ id: stage.id, kind: stage.kind, ...given(stageAttributes(stage)) })),
    edges: edgesOf(graph).map(({ from, to, attributes }) => ({ from, to, ...given(attributes) })),
  };
}

function given(attributes: readonly Attribute[]): Record<string, string | number | boolean> {
  return Object.fromEntries(attributes.flatMap(([key, value]) => (value === null ? [] : [[key, value]])));
}

export function diagnosticsJson(diagnostics: readonly Diagnostic[]) {
  return { diagnostics };
}

/** Names only what ran. */
export function runJson(
  events: readonly PublicEvent[],
  { exitCode, reason }: { readonly exitCode: number; readonly reason: string | null },
) {
  const ended = events.flatMap((event) => (event.type === "stage-ended" ? [event] : []));
  return {
    status: exitCode === 0 ? "success" : "fail",
    reason,
    completed_nodes: ended.map(({ stage }) => stage),
    stages: ended.map(({ stage, visit, outcome, attempts, seconds, reason: why }) => ({
      id: stage,
      visit,
      outcome,
      attempts,
      seconds,
      reason: why,
    })),
  };
}

export function handlersJson(): readonly string[] {
  return handlerTypes;
}
