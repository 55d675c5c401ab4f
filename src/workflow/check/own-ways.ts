import type { Expression } from "../expression/expression.js";
import type { HumanStage, Transition } from "../graph.js";
import type { GraphIndex } from "./graph-index.js";
import type { Rule } from "./rule.js";

/**
 * Stages that say themselves where they lead. A parallel stage needs no transition. Out of a human stage one is for the
 * gate that nobody answered in time, and as after every failure it is taken with a condition that holds, or to a decision.
 */
export const checkOwnWays: Rule = (index, problems) => {
  for (const way of index.graph.transitions) {
    const stage = index.stages.get(way.from.name);
    if (stage?.kind === "parallel") {
      const message = `parallel stage "${stage.id}" leads to its branches, then to its join`;
      problems.error({ at: way.from.at, rule: "own-ways", message, hint: "lead on from the join" });
    }
    if (stage?.kind !== "human") continue;
    if (way.when === null && !leadsToDecision(way, index)) {
      const message = `human stage "${stage.id}" leads on by its options`;
      problems.error({ at: way.from.at, rule: "own-ways", message, hint: failureHint(stage, index) });
      continue;
    }
    const why = whyNever(way, stage);
    if (why === null) continue;
    const message = `the transition from "${stage.id}" to "${way.to.name}" is never taken: ${why.message}`;
    problems.warning({ at: way.at, rule: "no-effect", message, hint: why.hint });
  }
};

function leadsToDecision({ to }: Transition, { stages }: GraphIndex): boolean {
  return stages.get(to.name)?.kind === "decision";
}

function failureHint({ id }: HumanStage, { graph }: GraphIndex): string {
  if (graph.format === "dot") return 'leave plain out, or add condition="outcome=fail" for when nobody answers in time';
  return `write option "key" to="…" in the stage, or add when=#"outcome("${id}") == "fail""# for when nobody answers in time`;
}

function whyNever({ when }: Transition, stage: HumanStage): { readonly message: string; readonly hint: string } | null {
  if (when !== null && isFalseAfterFailure(when, stage.id))
    return { message: "an answer leads on by its option", hint: "a transition is for when nobody answers in time" };
  if (stage.timeoutMs === null) return { message: "the gate waits until it is answered", hint: 'add timeout="…"' };
  if (stage.default === null) return null;
  return { message: `"${stage.default.name}" is what silence means`, hint: "drop the default or the transition" };
}

/** Whether a condition cannot hold where this very stage has failed. */
function isFalseAfterFailure(when: Expression, id: string): boolean {
  switch (when.type) {
    case "literal":
      return when.value !== true;
    case "and":
      return isFalseAfterFailure(when.left, id) || isFalseAfterFailure(when.right, id);
    case "or":
      return isFalseAfterFailure(when.left, id) && isFalseAfterFailure(when.right, id);
    case "equal":
    case "not-equal": {
      const { left, right } = when;
      if (left.type !== "outcome" || (left.stage ?? id) !== id || right.type !== "literal") return false;
      return (right.value === "fail") === (when.type === "not-equal");
    }
    default:
      return false;
  }
}
