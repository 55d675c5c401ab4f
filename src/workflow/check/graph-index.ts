import type { Graph, ParallelStage, Stage, StageKind, Transition } from "../graph.js";
import type { Named } from "../position.js";

/** The graph by name, made once: every rule is linear in its stages and transitions. */
export interface GraphIndex {
  readonly graph: Graph;
  /** Of two stages with one id, the first. */
  readonly stages: ReadonlyMap<string, Stage>;
  /** In the order of the file: most rules are about the few stages of one kind. */
  readonly ofKind: (kind: StageKind) => readonly Stage[];
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
  const kinds = new Map<StageKind, Stage[]>();
  for (const stage of graph.stages) {
    if (!stages.has(stage.id)) stages.set(stage.id, stage);
    const alike = kinds.get(stage.kind);
    if (alike === undefined) kinds.set(stage.kind, [stage]);
    else alike.push(stage);
  }
  const ofKind = (kind: StageKind) => kinds.get(kind) ?? [];
  const leaving = new Map<string, Transition[]>();
  for (const transition of graph.transitions) {
    const ways = leaving.get(transition.from.name);
    if (ways === undefined) leaving.set(transition.from.name, [transition]);
    else ways.push(transition);
  }
  const written = remember((id) => writtenWays(id, { stages, leaving }));
  const usual = (id: string) => joined(written(id), ownJoin(id, stages));
  const branches = findBranches({ stages, ofKind }, withRepairs(usual, graph, stages));
  const onward = remember((id) =>
    joined(joined(written(id), ownJoin(id, stages)), endsOfBranches(id, { stages, branches, written })),
  );
  const retries = namesOf([graph.retryTarget, graph.fallbackRetryTarget], stages);
  const next = (id: string) => joined(joined(onward(id), ownRetries(stages.get(id), stages)), retries);
  return { graph, stages, ofKind, leaving, onward, next, branches };
}

type Ways = (id: string) => readonly string[];
const none: readonly string[] = [];

/** Rules ask for the ways of a stage again and again. */
function remember(ways: Ways): Ways {
  const known = new Map<string, readonly string[]>();
  return (id) => {
    const before = known.get(id);
    if (before !== undefined) return before;
    const found = ways(id);
    known.set(id, found);
    return found;
  };
}

/** A list of its own only where both have something: most stages have nothing but their transitions. */
function joined(first: readonly string[], second: readonly string[]): readonly string[] {
  if (second.length === 0) return first;
  return first.length === 0 ? second : [...first, ...second];
}

/** Transitions, options and branches. */
function writtenWays(id: string, { stages, leaving }: Pick<GraphIndex, "stages" | "leaving">): string[] {
  const stage = stages.get(id);
  const ways = leaving.get(id)?.map(({ to }) => to.name) ?? [];
  if (stage?.kind === "human") ways.push(...stage.options.map(({ to }) => to.name));
  if (stage?.kind === "parallel") ways.push(...stage.branches.map((branch) => branch.name));
  return ways.every((name) => stages.has(name)) ? ways : ways.filter((name) => stages.has(name));
}

type Joining = Pick<GraphIndex, "stages" | "branches"> & { readonly written: Ways };

/** A branch that just ends goes on at its join. */
function endsOfBranches(id: string, { stages, branches, written }: Joining): readonly string[] {
  if (written(id).length > 0) return none;
  const joins = (branches.get(id) ?? []).map(({ parallel }) => parallel.join.name);
  return joins.filter((name) => stages.has(name));
}

/** A parallel stage goes on at its join. */
function ownJoin(id: string, stages: GraphIndex["stages"]): readonly string[] {
  const stage = stages.get(id);
  return stage?.kind === "parallel" && stages.has(stage.join.name) ? [stage.join.name] : none;
}

function ownRetries(stage: Stage | undefined, stages: GraphIndex["stages"]): readonly string[] {
  if (stage === undefined || (stage.retryTarget === null && stage.fallbackRetryTarget === null)) return none;
  return namesOf([stage.retryTarget, stage.fallbackRetryTarget], stages);
}

function namesOf(targets: readonly (Named | null)[], stages: GraphIndex["stages"]): string[] {
  return targets.flatMap((target) => (target === null || !stages.has(target.name) ? [] : [target.name]));
}

/** A stage that nothing but failures leads to belongs to the branch that they happen in. */
function withRepairs(usual: Ways, graph: Graph, stages: GraphIndex["stages"]): Ways {
  if (graph.stages.every((stage) => stage.retryTarget === null && stage.fallbackRetryTarget === null)) return usual;
  const reached = reach([graph.start.name], usual);
  return (id) =>
    joined(
      usual(id),
      ownRetries(stages.get(id), stages).filter((to) => !reached.has(to)),
    );
}

/** Whether a way from one stage to the other keeps to the branches it is in, or ends the innermost of them at its join. */
export function staysInBranch({ branches }: Pick<GraphIndex, "branches">, from: string, to: string): boolean {
  const [own, there] = [branches.get(from) ?? [], branches.get(to) ?? []];
  const left = own.filter(
    (branch) => !there.some(({ parallel, first }) => parallel === branch.parallel && first === branch.first),
  );
  if (own.length - left.length !== there.length) return false;
  return left.length === 0 || (left.length === 1 && left[0]?.parallel.join.name === to);
}

function findBranches({ stages, ofKind }: Pick<GraphIndex, "stages" | "ofKind">, ways: Ways): Map<string, Branch[]> {
  const found = new Map<string, Branch[]>();
  for (const stage of ofKind("parallel")) {
    if (stage.kind !== "parallel" || stages.get(stage.id) !== stage || !stages.has(stage.join.name)) continue;
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
