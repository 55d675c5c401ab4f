import { indexGraph } from "../../workflow/check/graph-index.js";
import type { Graph } from "../../workflow/graph.js";

export interface PlannedStage {
  readonly id: string;
  readonly kind: string;
}

/**
 * Every stage that execution can reach, by transitions, options and branches, or where failures go; each after those that
 * lead to it, as far as loops allow, and where it ends last of all.
 */
export function planOf(graph: Graph): PlannedStage[] {
  const { stages, next } = indexGraph(graph);
  const seen = new Set([graph.start.name]);
  const enter = (id: string) => ({ id, left: [...next(id)] });
  const open = [enter(graph.start.name)];
  const ended: PlannedStage[] = [];
  for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
    // Who ends first is told last: so the last way goes first.
    const id = last.left.pop();
    if (id === undefined) {
      ended.push({ id: last.id, kind: stages.get(last.id)?.kind ?? "unknown" });
      open.pop();
    } else if (!seen.has(id)) {
      seen.add(id);
      open.push(enter(id));
    }
  }
  const isExit = ({ kind }: PlannedStage) => Number(kind === "exit");
  return ended.reverse().sort((one, other) => isExit(one) - isExit(other));
}
