import type { ParallelStage } from "../graph.js";
import type { Problems } from "../problems.js";
import type { GraphIndex } from "./graph-index.js";
import type { Rule } from "./rule.js";

export const checkParallel: Rule = ({ graph, stages }, problems) => {
  for (const stage of graph.stages) {
    if (stage.kind !== "parallel") continue;
    const { id, at, join, branches } = stage;
    if (branches.length === 0)
      problems.error({ at, rule: "parallel", message: `parallel "${id}" has no branches`, hint: 'add branch "a" "b"' });
    const names = new Set<string>();
    for (const branch of branches) {
      if (names.has(branch.name))
        problems.error({ at: branch.at, rule: "parallel", message: `branch "${branch.name}" is given twice` });
      names.add(branch.name);
    }
    const end = stages.get(join.name);
    if (end === undefined) continue;
    if (end.kind !== "join") {
      const message = `"${join.name}" is no join: its kind is ${end.kind}`;
      problems.error({ at: join.at, rule: "parallel", message, hint: 'name a stage of kind "join"' });
    } else if (end.policy === "quorum" && end.quorum > branches.length) {
      const message = `a quorum of ${end.quorum} cannot be met by ${branches.length} branches`;
      problems.error({ at: end.at, rule: "quorum", message });
    }
  }
};

/** A branch keeps to itself until its join: what it shares with another would run twice, or never end. */
export const checkBranches: Rule = (index, problems) => {
  const owners = ownersOfJoins(index);
  for (const { id, kind, at } of index.graph.stages) {
    const branches = index.branches.get(id) ?? [];
    const firsts = new Map<string, string>();
    for (const { parallel, first } of branches) {
      const other = firsts.get(parallel.id);
      firsts.set(parallel.id, first);
      if (other === undefined || other === first) continue;
      const message = `stage "${id}" is in two branches of "${parallel.id}": "${other}" and "${first}"`;
      problems.error({ at, rule: "branch", message, hint: "give each branch its own stages up to the join" });
      break;
    }
    const [branch] = branches;
    if (branch === undefined) continue;
    const where = `branch "${branch.first}" of "${branch.parallel.id}"`;
    const hint = `lead it to "${branch.parallel.join.name}"`;
    if (kind === "exit") problems.error({ at, rule: "branch", message: `${where} leads to the exit "${id}"`, hint });
    if (kind === "join" && isForeign(id, owners.get(id) ?? [], index)) {
      problems.error({ at, rule: "branch", message: `${where} leads to the join "${id}" of others`, hint });
    }
  }
  checkEntries(index, problems);
};

/** A join inside of a branch belongs to a parallel stage in that branch. */
function isForeign(id: string, owners: readonly ParallelStage[], { branches }: GraphIndex): boolean {
  const own = branches.get(id) ?? [];
  return !owners.some((owner) => {
    const around = branches.get(owner.id) ?? [];
    return own.every((branch) => around.some((other) => other.parallel === branch.parallel));
  });
}

function ownersOfJoins({ graph }: GraphIndex): Map<string, ParallelStage[]> {
  const owners = new Map<string, ParallelStage[]>();
  for (const stage of graph.stages) {
    if (stage.kind !== "parallel") continue;
    const own = owners.get(stage.join.name);
    if (own === undefined) owners.set(stage.join.name, [stage]);
    else own.push(stage);
  }
  return owners;
}

/** Only its parallel stage enters a branch; what other branches of it do has been told. */
function checkEntries({ graph, stages, branches }: GraphIndex, problems: Problems): void {
  for (const { from, to } of graph.transitions) {
    if (stages.get(to.name)?.kind === "exit") continue;
    const around = new Set((branches.get(from.name) ?? []).map(({ parallel }) => parallel.id));
    const entered = (branches.get(to.name) ?? []).find(
      ({ parallel }) => from.name !== parallel.id && !around.has(parallel.id),
    );
    if (entered === undefined) continue;
    const message = `"${from.name}" leads into branch "${entered.first}" of "${entered.parallel.id}" from outside`;
    problems.error({ at: to.at, rule: "branch", message, hint: `lead it to "${entered.parallel.id}"` });
  }
}

export const checkJoins: Rule = ({ graph }, problems) => {
  const used = new Set(graph.stages.flatMap((stage) => (stage.kind === "parallel" ? [stage.join.name] : [])));
  for (const { id, kind, at } of graph.stages)
    if (kind === "join" && !used.has(id)) {
      const message = `join "${id}" belongs to no parallel stage`;
      problems.error({ at, rule: "join", message, hint: `add join="${id}" to a stage of kind "parallel"` });
    }
};
