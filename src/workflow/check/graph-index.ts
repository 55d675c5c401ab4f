import type { Graph, ParallelStage, Stage, Transition } from "../graph.js";

/** The graph by name, made once: every rule is linear in its stages and transitions. */
export interface GraphIndex {
  readonly graph: Graph;
  /** Of two stages with one id, the first. */
  readonly stages: ReadonlyMap<string, Stage>;
  readonly leaving: ReadonlyMap<string, readonly Transition[]>;
  /** Where a stage can lead to: by transitions, options, branches, at the end of a branch to the join. Only what exists. */
  readonly onward: (id: string) => readonly string[];
  /** The same, and where failures go. */
  readonly next: (id: string) => readonly string[];
  /** The branches a stage is in. */
  readonly branches: ReadonlyMap<string, readonly Branch[]>;
}
export interface Branch {
  readonly parallel: ParallelStage;
  readonly first: string;
}

export function indexGraph(graph: Graph): GraphIndex {
  const stages = new Map<string, Stage>();
  for (const stage of graph.stages) if (!stages.has(stage.id)) stages.set(stage.id, stage);
  const leaving = new Map<string, Transition[]>();
  for (const transition of graph.transitions) {
    const ways = leaving.get(transition.from.name);
    if (ways === undefined) leaving.set(transition.from.name, [transition]);
    else ways.push(transition);
  }
  const written = (id: string) => writtenWays(id, { stages, leaving });
  const branches = findBranches(stages, (id) => [...written(id), ...ownJoin(id, stages)]);
  const onward = (id: string) => [
    ...written(id),
    ...ownJoin(id, stages),
    ...endsOfBranches(id, { stages, branches, written }),
  ];
  const next = (id: string) => [...onward(id), ...retryTargets(stages.get(id), graph).filter((to) => stages.has(to))];
  return { graph, stages, leaving, onward, next, branches };
}

type Ways = (id: string) => readonly string[];

/** Transitions, options and branches. */
function writtenWays(id: string, { stages, leaving }: Pick<GraphIndex, "stages" | "leaving">): string[] {
  const stage = stages.get(id);
  const ways = (leaving.get(id) ?? []).map(({ to }) => to.name);
  if (stage?.kind === "human") ways.push(...stage.options.map(({ to }) => to.name));
  if (stage?.kind === "parallel") ways.push(...stage.branches.map((branch) => branch.name));
  return ways.filter((name) => stages.has(name));
}

type Joining = Pick<GraphIndex, "stages" | "branches"> & { readonly written: Ways };

/** A branch that just ends goes on at its join. */
function endsOfBranches(id: string, { stages, branches, written }: Joining): string[] {
  if (written(id).length > 0) return [];
  const joins = (branches.get(id) ?? []).map(({ parallel }) => parallel.join.name);
  return joins.filter((name) => stages.has(name));
}

/** A parallel stage goes on at its join. */
function ownJoin(id: string, stages: GraphIndex["stages"]): string[] {
  const stage = stages.get(id);
  return stage?.kind === "parallel" && stages.has(stage.join.name) ? [stage.join.name] : [];
}

function retryTargets(stage: Stage | undefined, graph: Graph): string[] {
  if (stage === undefined) return [];
  const targets = [stage.retryTarget, stage.fallbackRetryTarget, graph.retryTarget, graph.fallbackRetryTarget];
  return targets.flatMap((target) => (target === null ? [] : [target.name]));
}

function findBranches(stages: GraphIndex["stages"], ways: Ways): Map<string, Branch[]> {
  const found = new Map<string, Branch[]>();
  for (const stage of stages.values()) {
    if (stage.kind !== "parallel" || !stages.has(stage.join.name)) continue;
    for (const { name } of stage.branches) {
      if (!stages.has(name)) continue;
      for (const id of reach([name], ways, stage.join.name)) {
        const own = found.get(id);
        if (own === undefined) found.set(id, [{ parallel: stage, first: name }]);
        else own.push({ parallel: stage, first: name });
      }
    }
  }
  return found;
}

/** Everything that can be reached, the beginnings included; not through or into `end`. */
export function reach(from: readonly string[], next: Ways, end?: string): Set<string> {
  const seen = new Set(from.filter((id) => id !== end));
  for (const id of seen) for (const to of next(id)) if (to !== end) seen.add(to);
  return seen;
}
