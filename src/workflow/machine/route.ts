import { contextOf, plainOf } from "../context.js";
import { evaluate } from "../expression/evaluate.js";
import type { Expression } from "../expression/expression.js";
import type { Stage, StageOutcome, Transition } from "../graph.js";
import { dropFindings } from "./findings.js";
import { isReview } from "./graph-index.js";
import { endBranch, forgetBlock, joinOf } from "./parallel.js";
import { type Choice, selectAfterFailure, selectWay } from "./select.js";
import { begunStages, noRounds, type Token } from "./state.js";
import type { Step } from "./step.js";

/** A visit has ended: where the token goes now. */
export function leave(step: Step, token: Token) {
  const stage = step.stage(token.stage);
  if (!stage) return step.halt({ status: "fail", stage: token.stage, reason: `there is no stage ${token.stage}` });
  const joined = stage.kind === "parallel" ? joinAfter(step, token) : null;
  if (joined !== null) return moveTo(step, token, { to: joined });
  // A person's answer says where it leads: transitions out of a gate are for the one that failed.
  if (token.to !== undefined) return moveTo(step, token, { to: token.to });
  const choice = choiceOf(step, token);
  if (hasFailed(token, stage)) return leaveFailed(step, token, { stage, choice });
  const way = selectWay(choice);
  if (way) return moveTo(step, token, { to: way.to.name, way });
  const reason = `no matching transition from stage ${stage.id}`;
  if (token.parent !== null) {
    const ended = { outcome: outcomeOf(token) };
    return endBranch(step, token, choice.ways.length === 0 ? ended : { outcome: "fail", reason });
  }
  step.halt({ status: "fail", stage: stage.id, reason: `${reason} (outcome ${outcomeOf(token)})` });
}

/** A failed stage that is no review goes on only where the workflow says what is to become of the failure. */
function leaveFailed(step: Step, token: Token, { stage, choice }: { readonly stage: Stage; readonly choice: Choice }) {
  const way = selectAfterFailure(choice, (id) => step.stage(id)?.kind === "decision");
  if (way) return moveTo(step, token, { to: way.to.name, way });
  const target = retryTarget(step, stage, token);
  if (target !== null) return moveTo(step, token, { to: target });
  const reason = `stage ${stage.id} failed: ${step.record(stage.id).reason ?? "it gave no reason"}`;
  if (token.parent !== null) return endBranch(step, token, { outcome: "fail", reason });
  step.setToken({ ...token, phase: "stuck" });
  step.halt({ status: "fail", stage: stage.id, reason });
}

/** Where a failure goes that no transition is for: the first target that does not lead this token out of or into a branch. */
export function retryTarget(step: Step, stage: Stage, token: Token): string | null {
  const { graph, stays } = step.index;
  const named = [stage.retryTarget, stage.fallbackRetryTarget, graph.retryTarget, graph.fallbackRetryTarget];
  const targets = named.flatMap((target) => (target !== null && step.stage(target.name) !== null ? [target.name] : []));
  return targets.find((target) => stays(token.stage, target)) ?? null;
}

export interface Move {
  readonly to: string;
  readonly way?: Transition | undefined;
}
export function moveTo(step: Step, token: Token, { to, way }: Move) {
  step.report({ type: "edge-taken", from: token.stage, to });
  forgetBlock(step, token);
  if (token.parent !== null && to === joinOf(step, token)) return endBranch(step, token, { outcome: outcomeOf(token) });
  const isAnew = way?.restart === true && token.parent === null;
  if (isAnew) startAnew(step);
  const { to: _to, broken: _broken, ...rest } = step.token(token.id) ?? token;
  step.setToken({
    ...rest,
    stage: to,
    phase: "ready",
    visit: 0,
    attempt: 1,
    run: null,
    edge: way ? { fidelity: way.fidelity, thread: way.thread } : null,
    ...(isAnew ? { last: null } : {}),
  });
}

export function outcomeOf({ last }: Token): StageOutcome {
  return last?.outcome ?? "success";
}

function hasFailed({ last }: Token, stage: Stage): boolean {
  return last?.stage === stage.id && last.outcome === "fail" && !isReview(stage);
}

/** The join of the block that this token has just come out of. */
function joinAfter(step: Step, { id, stage }: Token): string | null {
  return step.state.blocks.find((block) => block.token === id && block.stage === stage)?.join ?? null;
}

function choiceOf(step: Step, token: Token): Choice {
  const life = { state: step.state, ledger: step.ledger };
  const context = contextOf(life, step.index.graph, token.id);
  const view = {
    outcome: (stage: string) => step.record(stage).outcome ?? "",
    lastOutcome: outcomeOf(token),
    preferredLabel: token.last?.label ?? "",
    value: (key: string) => plainOf(context.get(key)),
    has: (key: string) => context.has(key),
  };
  return {
    ways: step.index.ways.get(token.stage) ?? [],
    holds: (when: Expression) => evaluate(when, view),
    preferredLabel: token.last?.label ?? null,
    nextIds: token.last?.next ?? [],
  };
}

/** Nothing of before stays but the goal and the inputs; visits are counted on, so that this ends too. */
function startAnew(step: Step): void {
  dropFindings(step);
  const stages = begunStages(step.state).map((id) => [id, { visits: step.record(id).visits }]);
  step.set({
    stages: Object.fromEntries(stages),
    passed: [],
    passedOrder: [],
    values: step.state.inputs,
    older: [],
    threads: {},
    rounds: noRounds,
  });
}
