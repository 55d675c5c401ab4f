import type { ParallelStage } from "../graph.js";
import type { Named } from "../position.js";
import type { Problems } from "../problems.js";
import { type GraphIndex, staysInBranch } from "./graph-index.js";
import type { Rule } from "./rule.js";

export const checkParallel: Rule = ({ ofKind, stages }, problems) => {
  for (const stage of ofKind("parallel")) {
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
    const branches = index.branches.get(id);
    if (branches === undefined) continue;
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

function ownersOfJoins({ ofKind }: GraphIndex): Map<string, ParallelStage[]> {
  const owners = new Map<string, ParallelStage[]>();
  for (const stage of ofKind("parallel")) {
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
    const inside = branches.get(to.name);
    if (inside === undefined || stages.get(to.name)?.kind === "exit") continue;
    const around = new Set((branches.get(from.name) ?? []).map(({ parallel }) => parallel.id));
    const entered = inside.find(({ parallel }) => from.name !== parallel.id && !around.has(parallel.id));
    if (entered === undefined) continue;
    const message = `"${from.name}" leads into branch "${entered.first}" of "${entered.parallel.id}" from outside`;
    problems.error({ at: to.at, rule: "branch", message, hint: `lead it to "${entered.parallel.id}"` });
  }
}

/** What fails in a branch goes on in it, or ends it. An exit that a goal gate is unmet at is outside of every branch. */
export const checkRetryTargets: Rule = (index, problems) => {
  const { graph, branches } = index;
  if (branches.size === 0) return;
  for (const target of [graph.retryTarget, graph.fallbackRetryTarget])
    if (target !== null) refuseEntry(target, index, problems);
  for (const { id, retryTarget, fallbackRetryTarget, goalGate } of graph.stages)
    for (const target of [retryTarget, fallbackRetryTarget]) {
      if (target === null || !index.stages.has(target.name) || staysInBranch(index, id, target.name)) continue;
      const [around] = branches.get(id) ?? [];
      if (around === undefined) refuseEntry(target, index, problems);
      else if (!goalGate || branches.has(target.name)) {
        const { first, parallel } = around;
        const message = `retry target "${target.name}" of "${id}" leads out of branch "${first}" of "${parallel.id}"`;
        const hint = `name a stage of that branch, or its join "${parallel.join.name}"`;
        problems.error({ at: target.at, rule: "branch", message, hint });
      }
    }
};

function refuseEntry({ name, at }: Named, { branches }: GraphIndex, problems: Problems): void {
  const [entered] = branches.get(name) ?? [];
  if (entered === undefined) return;
  const { first, parallel } = entered;
  const message = `retry target "${name}" leads into branch "${first}" of "${parallel.id}" from outside`;
  problems.error({ at, rule: "branch", message, hint: `name "${parallel.id}"` });
}

export const checkJoins: Rule = ({ ofKind }, problems) => {
  const used = new Set(ofKind("parallel").map((stage) => (stage.kind === "parallel" ? stage.join.name : "")));
  for (const { id, at } of ofKind("join"))
    if (!used.has(id)) {
      const message = `join "${id}" belongs to no parallel stage`;
      problems.error({ at, rule: "join", message, hint: `add join="${id}" to a stage of kind "parallel"` });
    }
};
