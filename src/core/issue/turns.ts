import { addUsage } from "../budget.js";
import { adoptFindings } from "../ledger/adopt-findings.js";
import { openFindings, reject } from "../ledger/ledger.js";
import { isOverBudget, usedUp } from "./budget.js";
import type { TurnEnded, TurnOutcome } from "./events.js";
import { triggerName } from "./policy.js";
import { requiredBase } from "./preconditions.js";
import { setsUpFirst } from "./set-up.js";
import { isReviewFinding, isReviewStage } from "./slots.js";
import type { TurnState } from "./state.js";
import type { Step } from "./step.js";
import { isLeftUnbegun } from "./unbegun.js";

/**
 * Turns of implementers and fixers: how they are owed, and which endings are not the turn's word but the world's
 * (back-off, usage limits, silence, crashes, a forgotten session). Those repeat the turn under its number, in a new folder.
 */
export type TurnPlan = Pick<TurnState, "role" | "stage" | "prompt" | "attempt" | "maxAttempts" | "session"> &
  Partial<Pick<TurnState, "earlier" | "only" | "judged">>;

const idleContinues = 2;
const lostContinues = 3;
const limitWaitMs = 15 * 60_000;
const limitWaits = 24;

export function oweTurn(step: Step, plan: TurnPlan): void {
  if (isOverBudget(step)) return;
  const turn: TurnState = {
    earlier: false,
    only: false,
    judged: false,
    ...plan,
    folder: "",
    next: "same",
    transient: 0,
    limited: 0,
    idle: 0,
    lost: 0,
    restarted: false,
  };
  step.set({ phase: plan.stage === triggerName(step.policy) ? "session-ending" : "implementing" });
  send(step, turn, null);
}

/** What a turn came to when it is not repeated. error null: it ended by itself. */
export interface TurnResult {
  readonly error: string | null;
  readonly message: string;
}

/** Takes in a turn's ending; null: the turn is repeated, or will be when a timer fires. */
export function settleTurn(step: Step, event: TurnEnded): TurnResult | null {
  const { turn } = step.state;
  if (!turn) return { error: "agent_failed", message: "a turn ended that was not owed" };
  spend(step, event);
  reportTurn(step, event, { role: turn.role });
  if (event.workflow) step.apply({ ledger: adoptFindings(step.ledger, event.workflow.findings), reports: [] });
  if (event.snapshot) step.look(event.snapshot);
  // A fixer is not told that it may object, and nobody answers it.
  if (event.rejected && turn.role !== "fixer") step.apply(reject(step.ledger, event.rejected));
  const session = event.sessionId ?? turn.session;
  keepSession(step, turn, session);
  if (step.state.halt) {
    if (event.unbegun) untell(step, turn);
    return { error: "halted", message: "" };
  }
  return afterOutcome(step, event, { ...turn, session });
}

/** A fixer that was told to start is told to end, once, whatever ended it. */
export function endFixer(step: Step, outcome: TurnOutcome["type"]): void {
  const { turn } = step.state;
  if (turn?.prompt !== "fixer") return;
  step.report({ type: "fixer-ended", stage: turn.stage, attempt: turn.attempt, outcome });
  step.set({ turn: null });
}

/** The timer of a back-off or a usage limit fired. */
export function resendTurn(step: Step): void {
  const { turn } = step.state;
  if (turn && !isOverBudget(step)) send(step, turn, null);
}

export function spend(step: Step, { usage, runBudget }: TurnEnded): void {
  if (runBudget !== undefined) step.set({ runBudget });
  if (usage) step.set({ usage: addUsage(step.state.usage, usage) });
}

interface Who {
  readonly role: string;
  readonly reviewer?: string;
}
export function reportTurn(step: Step, event: TurnEnded, who: Who): void {
  const { outcome, sessionId, agentsAtOnce } = event;
  const usage = event.workflow ? null : event.usage;
  const reason = "reason" in outcome ? { reason: outcome.reason } : {};
  step.report({ type: "turn-ended", outcome: outcome.type, session_id: sessionId, usage, ...who, ...reason });
  const { refused } = event;
  if (refused) {
    const calls = refused.count === 1 ? "a tool call" : `${refused.count} tool calls`;
    step.log("warn", `The guard refused ${calls} of the ${who.role}: ${refused.last}`);
  }
  if (agentsAtOnce === undefined) return;
  const why = outcome.type === "transient" ? "overloaded" : "going well again";
  step.log("info", `The model's servers are ${why}: at most ${agentsAtOnce} agents at once from now on`);
}

/** A running turn has told its session: known at once, so that no crash forgets it. */
export function learnSession(step: Step, told: { readonly turn: string; readonly id: string }): void {
  const { turn, owed } = step.state;
  const { id } = told;
  const isOwed = owed.some(({ key, slot }) => key === told.turn && slot === undefined);
  if (!turn || !isOwed || turn.session === id) return;
  step.set({ turn: { ...turn, session: id } });
  keepSession(step, turn, id);
  step.report({ type: "session-known", session_id: id, role: turn.role });
}

/** The carried findings that are still open: what the review_followup of a resume lists. */
export function carriedFindings(step: Step): string[] {
  const { carried } = step.state;
  const blocking = step.policy.settings.per_issue_review.finding_threshold;
  const filter = carried === "open" ? { blocking } : { ids: carried };
  const open = openFindings(step.ledger, { stages: isReviewStage, sources: ["review"], ...filter });
  return open.map((finding) => finding.id);
}

/** A new session gets the implementer's prompt, which is followed by what the gate and others have found, too. */
function namedFindings(step: Step, { prompt }: TurnState): string[] {
  const carried = carriedFindings(step);
  if (prompt === "review_followup") return carried;
  const others = openFindings(step.ledger, { defects: true }).filter((finding) => !isReviewFinding(finding));
  return [...carried, ...others.map(({ id }) => id)];
}

const brokeWords = "The turn could not be brought to its end";

function afterOutcome(step: Step, event: TurnEnded, turn: TurnState): TurnResult | null {
  const { outcome } = event;
  if (event.unbegun && takeBack(step, turn)) return null;
  switch (outcome.type) {
    case "ended":
      return { error: null, message: "" };
    case "failed":
      return {
        error: "agent_failed",
        message: `${outcome.broke ? brokeWords : "The agent failed"}: ${outcome.reason}`,
      };
    case "timed-out":
      return { error: "turn_timeout", message: "The turn ran out of time" };
    case "idle":
      if (turn.idle >= idleContinues) return { error: "idle_timeout", message: "The agent stayed silent" };
      return goOn(step, { ...turn, idle: turn.idle + 1, interrupted: outcome.type }, event.until);
    case "lost":
    case "stopped":
      if (turn.lost >= lostContinues) return { error: "agent_lost", message: "The agent's process was lost" };
      return goOn(step, { ...turn, lost: turn.lost + 1, interrupted: outcome.type }, null);
    case "transient":
      return backOff(step, turn, outcome.reason);
    case "limited":
      return waitForLimit(step, turn, outcome);
    case "no-session":
      return afterNoSession(step, turn);
    case "overflow":
      return afterOverflow(step, turn, outcome.reason);
  }
}

/** A budget was used up before it began, or the run was told to end before the first did: the life ends as if it had never been owed. */
function takeBack(step: Step, turn: TurnState): boolean {
  const { turns } = step.state;
  step.set({ turns: turns - 1 });
  if (usedUp(step) !== null) return isOverBudget(step);
  if (isLeftUnbegun(step)) {
    sayUntold(step, turn);
    return true;
  }
  step.set({ turns });
  return false;
}

/** A life that is halted ends in any case; what it was to send first does not make it a begun one. */
function untell(step: Step, turn: TurnState): void {
  step.set({ turns: step.state.turns - 1 });
  sayUntold(step, turn);
}

function sayUntold(step: Step, { folder }: TurnState): void {
  step.log("warn", `The prompt of ${folder} was not sent after all: the run was told to end`);
}

/** Without a session id there is nothing to continue: the same prompt again. */
function goOn(step: Step, turn: TurnState, until: number | null): null {
  if (!isOverBudget(step)) send(step, { ...turn, next: "continue" }, until);
  return null;
}

function backOff(step: Step, turn: TurnState, reason: string): TurnResult | null {
  const seconds = step.policy.settings.agent.backoff_seconds[turn.transient];
  if (seconds === undefined) {
    if (fallBack(step, { ...turn, interrupted: "transient" }, reason)) return null;
    return { error: "transient_exhausted", message: `The agent could not be reached: ${reason}` };
  }
  const until = step.at + seconds * 1000;
  step.set({ turn: { ...turn, transient: turn.transient + 1 } });
  step.oweTimer("backoff", until);
  step.report({ type: "waiting", for: `trying again: ${reason}`, until });
  return null;
}

function waitForLimit(
  step: Step,
  turn: TurnState,
  outcome: Extract<TurnOutcome, { type: "limited" }>,
): TurnResult | null {
  const met = { ...turn, interrupted: outcome.type };
  if (fallBack(step, met, `usage limit: ${outcome.reason}`)) return null;
  const until = limitEnd(step, turn.limited, outcome.until);
  if (until === null) return { error: "transient_exhausted", message: `Usage limit: ${outcome.reason}` };
  step.set({ turn: { ...met, limited: turn.limited + 1, next: "continue" } });
  step.oweTimer("limit", until);
  step.report({ type: "waiting", for: `usage limit: ${outcome.reason}`, until });
  return null;
}

/** The given end; else the back-off list, then every 15 minutes up to 6 hours; null: waited long enough. */
export function limitEnd(step: Step, waits: number, until: number | null): number | null {
  const list = step.policy.settings.agent.backoff_seconds;
  if (waits >= list.length + limitWaits) return null;
  if (until !== null && until > step.at) return until;
  const seconds = list[waits];
  return step.at + (seconds === undefined ? limitWaitMs : seconds * 1000);
}

/** agent.fallback takes over for the rest of the life. Another program knows nothing of the session. */
function fallBack(step: Step, turn: TurnState, reason: string): boolean {
  const { fallback, type } = step.policy.settings.agent;
  if (fallback === null || step.state.fallback) return false;
  const { model } = fallback;
  step.set({ fallback: true });
  step.report({ type: "agent-changed", agent: fallback.type, model, reason });
  const anew = { ...turn, transient: 0, limited: 0 };
  if (fallback.type === type) goOn(step, anew, null);
  else restart(step, anew);
  return true;
}

function restart(step: Step, turn: TurnState): void {
  keepSession(step, turn, null);
  if (!isOverBudget(step)) send(step, { ...turn, session: null, earlier: false, next: "same" }, null);
}

function afterOverflow(step: Step, turn: TurnState, reason: string): TurnResult | null {
  if (turn.restarted) return { error: "context_overflow", message: `The conversation does not fit: ${reason}` };
  step.log("warn", "The session is full: the same prompt goes into a new one");
  restart(step, { ...turn, restarted: true });
  return null;
}

function afterNoSession(step: Step, turn: TurnState): TurnResult | null {
  const gone = "The agent no longer knows the session";
  const { sent = turn.session } = turn;
  if (sent === null) return { error: "agent_failed", message: `${gone} although none was asked for` };
  if (turn.restarted || (turn.earlier && step.policy.options.strict)) {
    return { error: "session_not_found", message: `${gone} ${sent}` };
  }
  step.log("warn", `Session ${sent} is gone: the same prompt goes into a new one`);
  restart(step, { ...turn, restarted: true });
  return null;
}

function keepSession(step: Step, turn: TurnState, session: string | null): void {
  const { review } = step.state;
  if (turn.role === "implementer") step.set({ session });
  else if (turn.stage === "per_issue_review" && review.fixer) step.set({ review: { ...review, fixer: { session } } });
}

function send(step: Step, turn: TurnState, until: number | null) {
  if (setsUpFirst(step)) return step.set({ turn });
  const { state } = step;
  const continues = turn.next === "continue" && turn.session !== null;
  const prompt = continues ? "continue" : turn.prompt;
  const folder = step.newFolder(prompt);
  const turns = state.turns + 1;
  step.set({ turns, turn: { ...turn, folder, sent: turn.session } });
  step.owe({
    kind: "turn",
    key: `turn:${prompt}:${turns}`,
    folder,
    role: turn.role,
    prompt,
    stage: turn.stage,
    slot: null,
    attempt: turn.attempt,
    maxAttempts: turn.maxAttempts,
    session: turn.session,
    ...(state.fallback ? { fallback: true } : {}),
    base: requiredBase(state),
    head: state.work?.head ?? state.baseSha,
    only: turn.only ? namedFindings(step, turn) : null,
    continues: continues ? turn.folder : null,
    ...(continues && turn.interrupted ? { interrupted: turn.interrupted } : {}),
    until,
  });
  const { attempt, maxAttempts, role } = turn;
  const { workflow } = step.policy.settings.agent;
  step.report({
    type: "prompt-sent",
    kind: prompt,
    attempt,
    max_attempts: maxAttempts,
    path: step.policy.promptPath(folder),
    role,
    ...(workflow !== null && role === "implementer" ? { workflow } : {}),
  });
}
