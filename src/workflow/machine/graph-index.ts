import { indexGraph as indexForCheck, staysInBranch } from "../check/graph-index.js";
import type { Graph, Stage, Transition } from "../graph.js";

/** The graph by names, made once for a machine: a step's cost must not grow with the number of stages. */
export interface GraphIndex {
  readonly graph: Graph;
  readonly stages: ReadonlyMap<string, Stage>;
  /** By the stage they lead from, best first: higher priority, then the earlier in the file (DOT: the target's name). */
  readonly ways: ReadonlyMap<string, readonly Transition[]>;
  /** Whether execution that goes from one stage to the other stays in its branch, or ends it at the join. */
  readonly stays: (from: string, to: string) => boolean;
}

export function indexGraph(graph: Graph): GraphIndex {
  const ways = new Map<string, Transition[]>();
  for (const way of graph.transitions) {
    const known = ways.get(way.from.name);
    if (known) known.push(way);
    else ways.set(way.from.name, [way]);
  }
  const byName = (a: Transition, b: Transition) => Number(a.to.name > b.to.name) - Number(a.to.name < b.to.name);
  for (const list of ways.values()) {
    list.sort((a, b) => b.priority - a.priority || (graph.format === "dot" ? byName(a, b) : 0));
  }
  return { graph, stages: new Map(graph.stages.map((stage) => [stage.id, stage])), ways, stays: staysIn(graph) };
}

/** Asked after failures only, and of most graphs never. */
function staysIn(graph: Graph): GraphIndex["stays"] {
  if (graph.stages.every(({ kind }) => kind !== "parallel")) return () => true;
  let known: ReturnType<typeof indexForCheck> | null = null;
  return (from, to) => {
    known ??= indexForCheck(graph);
    return staysInBranch(known, from, to);
  };
}

/** Which stages are reviews: their reply is a verdict. */
export function isReview(stage: Stage): boolean {
  return stage.kind === "llm" && stage.autoStatus;
}

/** Stages whose failures are findings: reviews and tools. */
export function raisesFindings(stage: Stage): boolean {
  return isReview(stage) || stage.kind === "tool";
}

/** Stages that are given the findings, to mend what they are about. */
export function getsFindings(stage: Stage): boolean {
  return stage.kind === "llm" && !stage.autoStatus;
}
