import type { ExitStage, Stage } from "../graph.js";
import { endBranch } from "./parallel.js";
import { moveTo, outcomeOf, retryTarget } from "./route.js";
import type { Token } from "./state.js";
import type { Step } from "./step.js";
import { endVisit, verdict } from "./visit.js";

/** How often goal gates that were not met may send execution back. */
const goalRetries = 10;

/**
 * The exit. It is a success only when every goal gate that was visited has been met; one that was not goes back to its
 * retry target, a bounded number of times, or fails the workflow by name.
 */
export function reachExit(step: Step, token: Token, stage: ExitStage) {
  if (token.parent !== null) {
    endVisit(step, token, stage, verdict("success"));
    return endBranch(step, token, { outcome: outcomeOf(token) });
  }
  const unmet = step.index.graph.stages.find((one) => one.goalGate && isUnmet(step, one));
  if (!unmet) {
    endVisit(step, token, stage, verdict("success"));
    return step.halt({ status: "success", stage: stage.id, reason: null });
  }
  const { reason, outcome } = step.record(unmet.id);
  const why = `goal gate ${unmet.id} is not met: ${reason ?? outcome}`;
  const target = retryTarget(step, unmet, token);
  endVisit(step, token, stage, verdict("fail", why));
  const left = step.token(token.id) ?? token;
  if (target !== null && step.state.goalRetries < goalRetries) {
    step.set({ goalRetries: step.state.goalRetries + 1 });
    step.log("warn", `${why}; back to ${target}`);
    return moveTo(step, left, { to: target });
  }
  step.setToken({ ...left, phase: "stuck" });
  const tried = target === null ? "no retry target is named" : `${goalRetries} retries were made`;
  step.halt({ status: "fail", stage: unmet.id, reason: `${why} (${tried})` });
}

function isUnmet(step: Step, { id }: Stage): boolean {
  const { outcome } = step.record(id);
  return outcome !== undefined && outcome !== "success" && outcome !== "partial_success";
}
