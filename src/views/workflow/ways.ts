import type { Graph, Stage } from "../../workflow/graph.js";
import { toDotCondition } from "./condition-text.js";

/** A way from one stage to another, whatever it is written as. */
export interface Way {
  readonly from: string;
  readonly to: string;
  /** `retry`: only after a failure that nothing else leads away from. */
  readonly kind: "transition" | "option" | "branch" | "retry";
  /** When it is taken, for people; "" where there is nothing to say. */
  readonly text: string;
}

/** In the order of stages, then of the file; targets that do not exist are left out. */
export function waysOf(graph: Graph): Way[] {
  const ids = new Set(graph.stages.map(({ id }) => id));
  const transitions = new Map<string, Way[]>();
  for (const { from, to, when, label } of graph.transitions) {
    const condition = when === null ? "" : toDotCondition(when);
    const text = [label?.trim() ?? "", condition].filter((part) => part !== "").join(": ");
    const list = transitions.get(from.name) ?? [];
    list.push({ from: from.name, to: to.name, kind: "transition", text });
    transitions.set(from.name, list);
  }
  const onward = new Map(
    graph.stages.map((stage) => [stage.id, [...ownWays(stage), ...(transitions.get(stage.id) ?? [])]]),
  );
  for (const way of endsOfBranches(graph, onward)) onward.get(way.from)?.push(way);
  return graph.stages
    .flatMap((stage) => [...(onward.get(stage.id) ?? []), ...retryWays(stage)])
    .filter(({ to }) => ids.has(to));
}

const mostSearched = 1000;

/** A branch that nothing leads out of ends at its join. */
function endsOfBranches(graph: Graph, onward: ReadonlyMap<string, readonly Way[]>): Way[] {
  if (graph.stages.length > mostSearched) return [];
  const kinds = new Map(graph.stages.map((stage) => [stage.id, stage.kind]));
  const ends = new Map<string, Way>();
  for (const stage of graph.stages) {
    if (stage.kind !== "parallel") continue;
    const seen = new Set(stage.branches.map(({ name }) => name));
    for (const id of seen) {
      const kind = kinds.get(id);
      const ways = onward.get(id) ?? [];
      if (kind === "exit" || kind === "join") continue;
      for (const { to } of ways) seen.add(to);
      if (ways.length === 0 && !ends.has(id))
        ends.set(id, { from: id, to: stage.join.name, kind: "transition", text: "" });
    }
  }
  return [...ends.values()];
}

function ownWays(stage: Stage): Way[] {
  if (stage.kind === "human")
    return stage.options.map(({ key, label, to }) => ({
      from: stage.id,
      to: to.name,
      kind: "option",
      text: label === key ? key : `[${key}] ${label}`,
    }));
  if (stage.kind !== "parallel") return [];
  return stage.branches.map(({ name }) => ({ from: stage.id, to: name, kind: "branch", text: "" }));
}

function retryWays({ id, retryTarget, fallbackRetryTarget }: Stage): Way[] {
  const targets = [retryTarget, fallbackRetryTarget].flatMap((target) => (target === null ? [] : [target.name]));
  return [...new Set(targets)].map((to) => ({ from: id, to, kind: "retry", text: "on failure" }));
}

/** What a stage is, in one word. */
export function kindWord(stage: Stage): string {
  if (stage.kind === "llm" && stage.autoStatus) return "review";
  return stage.kind === "unknown" ? stage.type : stage.kind;
}
