import { awayUntil } from "../../core/budget.js";
import type { LedgerChange } from "../../core/ledger/ledger.js";
import { waive } from "../../core/ledger/ledger.js";
import type { Stage } from "../graph.js";
import { begin } from "./begin.js";
import { afterCommand, keepWorkspace } from "./command.js";
import { noteFiles } from "./disturbed.js";
import type { WorkflowArrival, WorkflowEvent, WorkflowSignal } from "./events.js";
import { endExpired } from "./expire.js";
import { dropStale } from "./findings.js";
import { indexGraph } from "./graph-index.js";
import { answerGate, gateTimeout, tellQuestion } from "./human.js";
import { expireBranch, renewBranches, resumeBranches, startBranches } from "./parallel.js";
import type { WorkflowPolicy } from "./policy.js";
import { leave } from "./route.js";
import type { Owed, Token, WorkflowLife } from "./state.js";
import { Step, type WorkflowNext } from "./step.js";
import { afterTurn, learnSession, overBudget, resendTurn, takeChild, takeTurn } from "./turn.js";
import { endExecution, machineryFailure, type Verdict, verdict } from "./visit.js";
import { breakOff, finish, forgetCommands, isInFlight, stopSpared, windDown, windDownToken } from "./wind-down.js";

export { adoptGraph, continueFrom } from "./adopt.js";
export type { WorkflowPolicy } from "./policy.js";
export type { WorkflowLife } from "./state.js";
export { newWorkflow } from "./state.js";
export type { WorkflowNext } from "./step.js";

/** A workflow as a pure machine: what happened in, what is owed out. */
export function workflowMachine(policy: WorkflowPolicy): (life: WorkflowLife, event: WorkflowArrival) => WorkflowNext {
  const by = { policy, index: indexGraph(policy.graph) };
  return (life, event) => {
    const step = new Step(by, life, event.at);
    if (life.state.phase === "done" || !handle(step, event)) return { state: life, effects: [] };
    goOn(step);
    return step.next();
  };
}

/** Tokens move one after the other until each of them waits for something, or all is to end. */
function goOn(step: Step): void {
  while (!step.state.halt) {
    const token = step.state.tokens.find(({ phase }) => phase === "ready" || phase === "leaving");
    if (!token) return;
    if (token.phase === "ready") begin(step, token);
    else leave(step, token);
  }
  windDown(step);
  if (!isInFlight(step)) finish(step);
}

/** False: nobody waits for this, so nothing changes. */
function handle(step: Step, event: WorkflowEvent): boolean {
  if (event.type === "started") start(step, event.since);
  else if (event.type === "resumed") {
    const wasAway = leaveOut(step, event.since);
    if (!step.state.halt) return renewBranches(step) || wasAway;
    forgetCommands(step);
  } else {
    const owed = step.settle(event.key);
    if (!owed) return false;
    if (event.type === "signal") signalled(step, event.signal);
    else if (owed.kind === "wait") step.oweSignal();
    else settled(step, owed, event);
  }
  return true;
}

/** A new workflow, or one that goes on where an earlier machine ended without success. */
function start(step: Step, since: number | undefined) {
  const { graph } = step.policy;
  const { state, at } = step;
  if (state.startedAt > 0) leaveOut(step, since);
  step.set({ phase: "running", startedAt: state.startedAt || at });
  step.report({ type: "workflow-started", name: graph.name, goal: graph.goal });
  step.oweSignal();
  dropStale(step);
  if (state.tokens.length > 0) {
    for (const { id, phase } of state.tokens) if (phase === "forked") resumeBranches(step, id);
    return;
  }
  step.setToken({
    id: "main",
    parent: null,
    stage: graph.start.name,
    phase: "ready",
    visit: 0,
    attempt: 1,
    order: [at, 0],
    last: null,
    workspace: null,
    values: {},
    edge: null,
    run: null,
  });
}

/** False: no time has been lost. */
function leaveOut(step: Step, since: number | undefined): boolean {
  const awayMs = awayUntil(step.state, since, step.at);
  if (awayMs === (step.state.awayMs ?? 0)) return false;
  step.set({ awayMs });
  return true;
}

function signalled(step: Step, signal: WorkflowSignal) {
  step.oweSignal();
  switch (signal.name) {
    case "cancel":
      stopSpared(step);
      return step.halt({ status: "cancelled", stage: null, reason: "cancelled; it can be resumed" });
    case "budget":
      return overBudget(step, signal.reason);
    case "answer":
      return answerGate(step, signal);
    case "asked":
      return tellQuestion(step, signal);
    case "session":
      return learnSession(step, signal);
    case "waive": {
      const { finding, reason } = signal;
      const change: LedgerChange = waive(step.ledger, { ids: [finding], reason, at: step.at });
      return step.apply(change);
    }
  }
}

function settled(step: Step, owed: Owed, event: WorkflowEvent) {
  const token = owed.token === undefined ? null : step.token(owed.token);
  const stage = token && step.stage(token.stage);
  if (!token || !stage) return;
  if (owed.kind === "timer") return timerFired(step, owed, { token, stage });
  if (event.type === "child-ended") takeChild(step, event);
  noteFiles(step, token, stage, event);
  if (isBrokenOff(step, token, event)) {
    const now = event.type === "turn-ended" ? takeTurn(step, token, event) : token;
    if (token.expired && !step.state.halt) return endExpired(step, now, stage, event);
    const child = event.type === "child-ended" ? event.machine : undefined;
    return breakOff(step, child === undefined ? now : { ...now, broken: child });
  }
  executed(step, { token, stage }, event);
}

/** While all is ended, or the branch's time is up, only what came to its own end counts. */
function isBrokenOff({ state }: Step, { expired }: Token, event: WorkflowEvent): boolean {
  if (!state.halt && !expired) return false;
  if (event.type === "turn-ended") return event.outcome.type !== "ended";
  if (event.type === "command-ended") return event.stopped;
  if (event.type === "child-ended") return event.outcome === "cancelled" || event.budget === true;
  return event.type === "crashed";
}

interface At {
  readonly token: Token;
  readonly stage: Stage;
}
function timerFired(step: Step, { timer }: Owed, { token, stage }: At) {
  switch (timer) {
    case "backoff":
      step.setToken({ ...token, phase: "ready" });
      return;
    case "resend":
      return stage.kind === "llm" ? resendTurn(step, token, stage) : undefined;
    case "gate":
      return stage.kind === "human" ? gateTimeout(step, token, stage) : undefined;
    case "branch":
      return branchTimeout(step, token);
    case undefined:
      return;
  }
}

function branchTimeout(step: Step, token: Token): void {
  expireBranch(step, token);
  for (const one of step.state.tokens.filter(({ expired }) => expired)) windDownToken(step, one);
  for (const { id, phase, expired } of step.state.tokens) if (expired && phase === "forked") startBranches(step, id);
}

function executed(step: Step, { token, stage }: At, event: WorkflowEvent) {
  const end = (found: Verdict) => endExecution(step, step.token(token.id) ?? token, stage, found);
  switch (event.type) {
    case "turn-ended":
      return stage.kind === "llm" ? afterTurn(step, token, stage, event) : undefined;
    case "command-ended":
      return afterCommand(step, token, stage, event);
    case "child-ended":
      return end(childVerdict(event));
    case "worktree-ready":
    case "worktree-merged":
    case "worktree-removed":
      if ("workspace" in stage) keepWorkspace(step, token, stage.workspace, event);
      return end(verdict("success"));
    case "worktree-failed":
      return end(verdict("fail", event.reason));
    case "crashed":
      return end(machineryFailure(`${stage.id} could not be executed: ${event.message}`));
    default:
      return;
  }
}

function childVerdict({ outcome, reason, findings }: Extract<WorkflowEvent, { type: "child-ended" }>): Verdict {
  const found = outcome === "success" ? verdict("success") : verdict("fail", reason ?? outcome);
  return findings ? { ...found, findings } : found;
}
