import type { Owed, Token } from "./state.js";
import { type Step, usedOnly } from "./step.js";

/**
 * Ending what is under way. Turns, commands and children are told and stay owed until they settle; timers and questions
 * are dropped. A token whose execution was broken off is ready to do it again, as the same visit. A budget that is used up
 * ends no turn that runs, here or in a child: an agent that can be stopped in the middle is, by what it reports itself.
 */
export function windDown(step: Step): void {
  const spares = step.state.halt?.budget === true && step.state.owed.some(isAgents);
  for (const token of step.state.tokens) {
    if (token.phase === "asking") tellUnanswered(step, token);
    windDownToken(step, token, spares);
  }
}

function isAgents({ kind }: Owed): boolean {
  return kind === "turn" || kind === "child";
}

/** Whoever stops a workflow does not wait for the turns that a budget has spared. */
export function stopSpared(step: Step): void {
  if (step.state.halt) for (const token of step.state.tokens) windDownToken(step, token);
}

/** Whoever ends a workflow need not know that it asked something. */
function tellUnanswered(step: Step, { stage: id }: Token): void {
  const stage = step.stage(id);
  if (stage?.kind !== "human") return;
  const options = stage.options.map(({ key }) => key).join(", ");
  step.log("warn", `${id} has not been answered (${options}): it is asked again when the workflow goes on`);
}

export function windDownToken(step: Step, token: Token, sparesAgents = false): void {
  for (const owed of step.owedBy(token.id)) {
    if (sparesAgents && owed.kind === "child") step.oweEnd(owed);
    else if (sparesAgents && (owed.kind === "turn" || owed.timer === "branch")) continue;
    else if (owed.kind === "timer") step.cancel(owed.key);
    else if (owed.kind !== "worktree") step.oweStop(owed);
  }
  if (token.phase === "asking" || token.phase === "backing-off") breakOff(step, token);
}

export function breakOff(step: Step, token: Token): void {
  step.setToken({ ...token, phase: "ready", run: usedOnly(token.run) });
}

/** After a crash a command would be run again only to be stopped. */
export function forgetCommands(step: Step): void {
  for (const { key, kind, token: id } of step.state.owed) {
    if (kind !== "command") continue;
    step.cancel(key);
    const token = id === undefined ? null : step.token(id);
    if (token) breakOff(step, token);
  }
}

export function isInFlight({ state }: Step): boolean {
  return state.owed.some(({ kind }) => kind !== "wait" && kind !== "stop" && kind !== "tell");
}

export function finish(step: Step): void {
  const { halt } = step.state;
  if (!halt) return;
  for (const { key } of step.state.owed) step.cancel(key);
  step.set({ phase: "done", ending: halt });
  const { name } = step.index.graph;
  step.report({ type: "workflow-finished", name, status: halt.status, reason: halt.reason, stage: halt.stage });
}
