import { clip } from "../../core/clip.js";
import type { HumanOption, HumanStage } from "../graph.js";
import type { WorkflowSignal } from "./events.js";
import type { Token } from "./state.js";
import { newExecution, type Step } from "./step.js";
import { endVisit, verdict } from "./visit.js";

/**
 * Human gates. One waits as long as it takes, across restarts, and holds nothing meanwhile; when its time is up it takes
 * the default that it names, else it fails: silence is never an approval.
 */
export function beginGate(step: Step, token: Token, stage: HumanStage) {
  const { answer } = step.record(stage.id);
  const standing = stage.reReview ? undefined : stage.options.find(({ key }) => key === answer);
  if (standing) return take(step, token, { stage, option: standing, feedback: null });
  const until = stage.timeoutMs === null ? null : step.at + stage.timeoutMs;
  step.setToken({ ...token, phase: "asking", run: { ...newExecution(step.at, ""), until } });
  if (until !== null) step.oweTimer("gate", token.id, until);
  const options = stage.options.map(({ key }) => key).join(", ");
  step.report({ type: "waiting", for: `an answer to ${stage.id} (${options})`, until });
}

/** For whoever follows the run from elsewhere. What is answered meanwhile is no news. */
export function tellQuestion(step: Step, { name: _name, ...asked }: Extract<WorkflowSignal, { name: "asked" }>) {
  const token = step.state.tokens.find(
    ({ stage, visit, phase }) => stage === asked.stage && visit === asked.visit && phase === "asking",
  );
  const stage = step.stage(asked.stage);
  if (!token || stage?.kind !== "human") return;
  const options = stage.options.map(({ key, label }) => ({ key, label, feedback: needsFeedback(stage, key) }));
  const until = token.run?.until ?? null;
  step.report({ type: "question", ...asked, options, default: stage.default?.name ?? null, until });
}

function needsFeedback({ requireFeedbackOn }: HumanStage, option: string): boolean {
  return requireFeedbackOn.some(({ name }) => name === option);
}

/** What cannot be an answer is said and changes nothing: the gate stays open. */
export function answerGate(step: Step, answer: Extract<WorkflowSignal, { name: "answer" }>) {
  const isMeant = (visit: number) => answer.visit === undefined || answer.visit === visit;
  const token = step.state.tokens.find(
    (one) => one.stage === answer.stage && isAsking(step, one) && isMeant(one.visit),
  );
  const stage = step.stage(answer.stage);
  const said = `${clip(answer.option, 100)} for ${clip(answer.stage, 100)}, by ${clip(answer.by, 100)}`;
  if (!token || stage?.kind !== "human") return step.log("warn", `Nobody asked for this answer: ${said}`);
  const option = stage.options.find(({ key }) => key === answer.option);
  if (!option) return step.log("warn", `There is no such option: ${said}`);
  const feedback = answer.feedback === null || answer.feedback.trim() === "" ? null : answer.feedback;
  if (needsFeedback(stage, option.key) && feedback === null)
    return step.log("warn", `The answer needs feedback: ${said}`);
  step.log("info", `Answered: ${said}`);
  take(step, token, { stage, option, feedback });
}

/** While all is ended the question is dropped, but whoever answered it then did so in time. */
function isAsking({ state }: Step, { phase, visit }: Token): boolean {
  return phase === "asking" || (state.halt !== null && phase === "ready" && visit > 0);
}

export function gateTimeout(step: Step, token: Token, stage: HumanStage) {
  const option = stage.options.find(({ key }) => key === stage.default?.name);
  if (option) {
    step.log("warn", `Nobody answered ${stage.id} in time: ${option.key} is its default`);
    return take(step, token, { stage, option, feedback: null });
  }
  endVisit(step, withTime(step, token), stage, verdict("fail", "nobody answered in time"));
}

interface Taken {
  readonly stage: HumanStage;
  readonly option: HumanOption;
  readonly feedback: string | null;
}
function take(step: Step, token: Token, { stage, option, feedback }: Taken): void {
  for (const timer of step.owedBy(token.id)) if (timer.timer === "gate") step.cancel(timer.key);
  step.setRecord(stage.id, { ...step.record(stage.id), answer: option.key });
  step.write(token.id, {
    "human.gate.selected": option.key,
    "human.gate.label": option.label,
    "human.gate.feedback": feedback ?? "",
  });
  const now = step.token(token.id) ?? token;
  endVisit(step, withTime(step, now), stage, { ...verdict("success"), label: option.label });
  const left = step.token(token.id);
  if (left) step.setToken({ ...left, to: option.to.name });
}

/** A gate takes as long as it was open. */
function withTime(step: Step, token: Token): Token {
  const { run } = token;
  return run ? { ...token, run: { ...run, seconds: (step.at - run.startedAt) / 1000 } } : token;
}
