import { nearest } from "../../core/suggest.js";
import { outcomes } from "../defaults.js";
import type { Expression } from "../expression/expression.js";
import type { Named } from "../position.js";
import type { Problems } from "../problems.js";
import type { GraphIndex } from "./graph-index.js";
import { type Rule, suggestStage } from "./rule.js";

export const checkDuplicates: Rule = ({ graph, stages }, problems) => {
  for (const stage of graph.stages) {
    const first = stages.get(stage.id);
    if (first === undefined || first === stage) continue;
    const hint = `the first is in line ${first.at.line}`;
    problems.error({ at: stage.at, rule: "duplicate-id", message: `there are two stages "${stage.id}"`, hint });
  }
};

/** Both ends are stages. */
export const checkTransitions: Rule = (index, problems) => {
  for (const { from, to } of index.graph.transitions) {
    mustExist(from, { index, problems, role: "transition from" });
    mustExist(to, { index, problems, role: "transition to" });
  }
};

/** Every other name of a stage. */
export const checkNames: Rule = (index, problems) => {
  const { graph } = index;
  const check = (named: Named | null, role: string) => {
    if (named !== null) mustExist(named, { index, problems, role });
  };
  check(graph.retryTarget, "retry target");
  check(graph.fallbackRetryTarget, "fallback retry target");
  for (const stage of graph.stages) {
    check(stage.retryTarget, "retry target");
    check(stage.fallbackRetryTarget, "fallback retry target");
    if (stage.kind === "human") for (const { key, to } of stage.options) check(to, `option "${key}" to`);
    if (stage.kind === "parallel") {
      for (const branch of stage.branches) check(branch, "branch");
      check(stage.join, "join");
    }
  }
  for (const { when } of graph.transitions)
    visit(when, (part) => {
      if (part.type === "outcome" && part.stage !== null) check({ name: part.stage, at: part.at }, "condition on");
    });
};

/** A word that no stage ever ends with is a condition that never holds, or always does. */
export const checkOutcomes: Rule = ({ graph }, problems) => {
  for (const { when } of graph.transitions) visit(when, (part) => checkOutcome(part, problems));
};

function checkOutcome(part: Expression, problems: Problems): void {
  if (part.type !== "equal" && part.type !== "not-equal") return;
  const isLeft = part.left.type === "outcome";
  const outcome = isLeft ? part.left : part.right;
  const other = isLeft ? part.right : part.left;
  if (outcome.type !== "outcome" || outcome.stage === null || other.type !== "literal") return;
  const word = String(other.value);
  if (word === "" || outcomes.some((known) => known === word)) return;
  const near = nearest(word, outcomes);
  const hint =
    near === null ? `it is one of ${outcomes.join(", ")}, or "" before it has run` : `did you mean "${near}"?`;
  problems.warning({ at: outcome.at, rule: "unknown-outcome", message: `no stage ever ends with "${word}"`, hint });
}

interface Reference {
  readonly index: GraphIndex;
  readonly problems: Problems;
  readonly role: string;
}

/** An empty name is one that is missing in the file, and told as such. */
function mustExist({ name, at }: Named, { index, problems, role }: Reference): void {
  if (name === "" || index.stages.has(name) || problems.isFull()) return;
  problems.error({
    at,
    rule: "unknown-stage",
    message: `${role} "${name}": there is no such stage`,
    ...suggestStage(name, index),
  });
}

/** Every part of an expression, the whole first. */
function visit(expression: Expression | null, see: (part: Expression) => void): void {
  if (expression === null) return;
  see(expression);
  if (expression.type === "not") visit(expression.operand, see);
  else if ("left" in expression) {
    visit(expression.left, see);
    visit(expression.right, see);
  }
}
