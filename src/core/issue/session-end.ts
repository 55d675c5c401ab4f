import { folderName } from "../folder-name.js";
import type { FailureMode, Trigger } from "../settings.js";
import { isOverBudget, isSpent } from "./budget.js";
import type { CommandEnded, Snapshot, TurnEnded } from "./events.js";
import { closeOthers } from "./ledger-parts.js";
import { triggerName, triggerOf } from "./policy.js";
import { landsNothing } from "./preconditions.js";
import { isReviewerRunning, newSlot, startQueued, startSlots } from "./reviewers.js";
import { queuedCommand, rewindClock, runClock, setSessionEnd, stopClock } from "./session-end-clock.js";
import { judgeCommand } from "./session-end-command.js";
import { hasBegunReview, isJudged, reportConclusion } from "./session-end-result.js";
import { isSetUp, setsUpFirst } from "./set-up.js";
import { reviewSlots } from "./slots.js";
import type { Conclusion, SessionEndState } from "./state.js";
import type { Step } from "./step.js";
import { endFixer, oweTurn, settleTurn } from "./turns.js";
import { isOnBase } from "./unlanded.js";

/**
 * A trigger's commands in order up to the first failure that is not allowed, fixers in between where it remediates, then its own review. An
 * issue's session_end blocks only that issue and except for failure_mode abort never decides whether it succeeds; a
 * trigger of the run goes the same way in a life of its own.
 */
const bySigint: Conclusion = { result: "interrupted", reason: "SIGINT received" };

export function enterSessionEnd(step: Step) {
  const trigger = triggerOf(step.policy);
  if (!trigger) {
    step.report({ type: "session-end-skipped", reason: "not_configured" });
    return leave(step);
  }
  open(step, trigger);
  if (step.state.draining) return conclude(step, bySigint);
  execute(step, true);
}

/** The run takes on nothing more: a command that has not begun, because it waits for its turn, does not begin. */
export function drainSessionEnd(step: Step): void {
  const queued = queuedCommand(step.state);
  if (queued === null || step.state.halt !== null) return;
  step.cancel(queued);
  conclude(step, bySigint);
}

export function afterSessionEndCommand(step: Step, event: CommandEnded) {
  const { sessionEnd } = step.state;
  const trigger = triggerOf(step.policy);
  const command = trigger?.commands[sessionEnd?.results.length ?? 0];
  if (!sessionEnd || !trigger || !command) return step.fail("trigger_failed", "A command ended that is not known");
  if (sessionEnd.timedOut) return concludeTimeout(step);
  runClock(step);
  const failed = judgeCommand(step, event, command);
  if (step.state.draining) return conclude(step, bySigint);
  if (failed) return commandFailed(step, trigger);
  nextCommand(step, trigger);
}

/** One that ended by itself while the life is wound down: what it came to counts, and nothing follows from it. */
export function absorbSessionEndCommand(step: Step, event: CommandEnded): void {
  const { sessionEnd } = step.state;
  const command = triggerOf(step.policy)?.commands[sessionEnd?.results.length ?? 0];
  if (sessionEnd && !sessionEnd.timedOut && command) judgeCommand(step, event, command);
}

export function afterSessionEndTurn(step: Step, event: TurnEnded): void {
  const result = settleTurn(step, event);
  const { turn, sessionEnd } = step.state;
  if (!result || !turn || !sessionEnd) return;
  endFixer(step, event.outcome.type);
  if (step.state.halt) return;
  const message = `Fix ${triggerName(step.policy)} (${turn.attempt})`;
  step.owe({ kind: "worktree", key: `worktree:commit:${step.state.turns}`, op: "commit-all", message });
}

export function afterFixerCommit(step: Step, snapshot: Snapshot) {
  step.look(snapshot);
  const { marker, gate } = step.state;
  // Against what the gate saw: a fixer may have committed by itself.
  const holds = marker?.name === "DOCS_ONLY" ? snapshot.docsOnly : snapshot.tree === gate.tree;
  if (!holds) step.set({ marker: null });
  if (isSpent(step)) return;
  if (step.state.draining) return conclude(step, bySigint);
  const outcome = step.state.sessionEnd?.outcome;
  // Its commands are done: the fixer was sent by its review.
  if (outcome) startReview(step, outcome);
  else execute(step, true);
}

export function afterSessionEndReviewer(step: Step) {
  const { sessionEnd } = step.state;
  if (!sessionEnd) return;
  if (sessionEnd.timedOut) return concludeTimeout(step);
  if (isReviewerRunning(step)) return;
  const { outcome, slots } = sessionEnd;
  settleReview(step, sessionEnd);
  if (isSpent(step) || (slots.some(({ status }) => status === "out") && isOverBudget(step)))
    return reportConclusion(step, spentConclusion(sessionEnd));
  const blocked = slots.some((slot) => slot.status === "fail");
  if (blocked && fixReview(step)) return;
  if (outcome?.passed && blocked && reviewMode(step) === "abort") return abort(step);
  if (!outcome?.passed) return conclude(step, { result: "fail", reason: outcome?.reason ?? "command_failed" });
  if (slots.every((slot) => slot.status === "pass")) return conclude(step, { result: "pass", reason: null });
  conclude(step, { result: "fail", reason: "code_review" });
}

/** How it stands when a budget ends the life: without the review that was asked for it has not passed. */
function spentConclusion({ outcome, slots }: Pick<SessionEndState, "outcome" | "slots">): Conclusion {
  const hasPassed = outcome?.passed === true && slots.every((slot) => slot.status === "pass");
  if (hasPassed) return { result: "pass", reason: null };
  return { result: "fail", reason: outcome?.reason ?? (hasBegunReview(slots) ? "code_review" : "budget") };
}

/** What blocking findings of its review lead to: at run level the review has a say of its own. */
function reviewMode({ policy }: Step): FailureMode {
  const trigger = triggerOf(policy);
  return (policy.trigger ? trigger?.code_review?.failure_mode : trigger?.failure_mode) ?? "continue";
}

/** At run level only: a fixer for the review's findings, then the review again. */
function fixReview(step: Step): boolean {
  const { sessionEnd, draining } = step.state;
  const max = triggerOf(step.policy)?.code_review?.max_retries ?? 0;
  if (!sessionEnd || !step.policy.trigger || reviewMode(step) !== "remediate" || draining) return false;
  const attempt = (sessionEnd.reviewFixers ?? 0) + 1;
  if (attempt > max) return false;
  setSessionEnd(step, { reviewFixers: attempt });
  sendFixer(step, attempt, max);
  return true;
}

const byReview = ["review", "protocol"] as const;

/** What its review said before and does not say now is settled, once every reviewer has given a verdict. */
function settleReview(step: Step, sessionEnd: SessionEndState): void {
  const { slots, reviewFixers = 0 } = sessionEnd;
  if (!isJudged(sessionEnd)) return;
  if (isOnBase(step)) step.set({ judgedBaseAt: step.at });
  closeOthers(step, triggerName(step.policy), {
    keep: slots.flatMap(({ found = [] }) => found),
    passed: slots.every(({ status }) => status === "pass"),
    visit: step.state.sessionEndRuns + reviewFixers,
    sources: byReview,
  });
}

/** What had to be set up before its commands or reviewers is. */
export function continueSessionEnd(step: Step) {
  const { sessionEnd, draining } = step.state;
  const trigger = triggerOf(step.policy);
  if (!sessionEnd || !trigger) return;
  runClock(step);
  if (sessionEnd.outcome) {
    startQueued(step);
    return afterSessionEndReviewer(step);
  }
  if (draining) return conclude(step, bySigint);
  nextCommand(step, trigger);
}

/** The overall timeout: whatever runs is ended, and what it had come to is dropped. */
export function sessionEndTimeout(step: Step): void {
  setSessionEnd(step, { timedOut: true, timer: null });
  for (const owed of step.state.owed) {
    if (owed.kind === "timer") step.cancel(owed.key);
    else if (owed.kind === "command") step.oweStop(owed, "kill");
    else if (owed.kind === "turn") step.oweStop(owed, "clean");
  }
  concludeTimeout(step);
}

/** Nothing is left of what ran: it has ended, and so has the ending of its whole tree. */
function concludeTimeout(step: Step): void {
  const busy = step.state.owed.some(({ kind }) => kind === "command" || kind === "turn" || kind === "stop");
  if (!busy) conclude(step, { result: "timeout", reason: `${triggerName(step.policy)}_timeout` });
}

export function afterSessionEndStop(step: Step): void {
  if (step.state.sessionEnd?.timedOut) concludeTimeout(step);
}

/**
 * Ratchet died: an execution whose command ran is closed, and a new one starts at the first command. Fixers and
 * reviewers are attached to again, with their time given back, because nobody knows how long Ratchet was away.
 */
export function resumeSessionEnd(step: Step): boolean {
  const { sessionEnd, owed } = step.state;
  if (!sessionEnd) return false;
  const command = owed.find(({ kind, key }) => kind === "command" && !isSetUp(key));
  if (command) restart(step, command.key, sessionEnd);
  else if (sessionEnd.timer) rewindClock(step);
  else return false;
  return true;
}

function restart(step: Step, command: string, { timedOut, fixers, execution }: SessionEndState) {
  const trigger = triggerOf(step.policy);
  step.cancel(command);
  if (timedOut) return concludeTimeout(step);
  if (!trigger) return;
  reportConclusion(step, { result: "interrupted", reason: "process_crash" });
  open(step, trigger);
  setSessionEnd(step, { fixers, execution });
  if (step.state.draining) return conclude(step, bySigint);
  execute(step, false);
}

function open(step: Step, trigger: Trigger): void {
  if (!step.policy.trigger) step.report({ type: "session-end-started" });
  step.set({
    sessionEnd: {
      startedAt: step.at,
      execution: 0,
      fixers: 0,
      folder: "",
      results: [],
      root: "",
      outcome: null,
      timer: null,
      timerUntil: 0,
      remainingMs: trigger.timeout * 1000,
      timedOut: false,
      slots: [],
    },
  });
}

function execute(step: Step, counted: boolean): void {
  const trigger = triggerOf(step.policy);
  const { sessionEnd, sessionEndRuns } = step.state;
  if (!trigger || !sessionEnd) return;
  step.set({ sessionEndRuns: sessionEndRuns + (counted ? 1 : 0) });
  const folder = step.newFolder(triggerName(step.policy));
  runClock(step);
  const execution = sessionEnd.execution + (counted ? 1 : 0);
  setSessionEnd(step, { folder, execution, results: [] });
  nextCommand(step, trigger, !counted);
}

function nextCommand(step: Step, trigger: Trigger, cutShort = false) {
  const { sessionEnd, work } = step.state;
  if (!sessionEnd) return;
  const index = sessionEnd.results.length;
  const command = trigger.commands[index];
  if (!command) return commandsDone(step, trigger, { passed: true, reason: null });
  if (setsUpFirst(step)) return;
  const same = trigger.commands.slice(0, index).filter((other) => other.ref === command.ref).length;
  const name = same === 0 ? command.ref : `${command.ref}-${same + 1}`;
  step.owe({
    kind: "command",
    key: `${triggerName(step.policy)}:${sessionEnd.folder.split("-")[0]}:${name}`,
    folder: `${sessionEnd.folder}/${folderName(name)}`,
    stage: triggerName(step.policy),
    name: command.ref,
    command: command.command,
    timeoutSeconds: command.timeout,
    exclusive: step.policy.settings.commands[command.ref]?.exclusive ?? false,
    place: "issue",
    commit: work?.head ?? null,
    ...(cutShort ? { cutShort } : {}),
  });
}

function commandFailed(step: Step, trigger: Trigger) {
  const { sessionEnd } = step.state;
  if (!sessionEnd) return;
  if (trigger.failure_mode === "abort") return abort(step);
  if (trigger.failure_mode === "continue" || step.policy.options.only) {
    return commandsDone(step, trigger, { passed: false, reason: "command_failed" });
  }
  if (sessionEnd.fixers >= trigger.max_retries || fixInVain(step)) {
    return commandsDone(step, trigger, { passed: false, reason: "max_retries_exhausted" });
  }
  setSessionEnd(step, { fixers: sessionEnd.fixers + 1 });
  sendFixer(step, sessionEnd.fixers + 1, trigger.max_retries);
}

/**
 * What fixers mend here and break in the gate, its follow-up mends there and breaks here: no counter of either would ever
 * end that. After as many times no more are sent, and session_end has failed.
 */
function fixInVain(step: Step): boolean {
  const { fixersRefused = 0 } = step.state;
  if (fixersRefused < step.policy.settings.convergence.same_failure) return false;
  step.log("warn", `The gate has refused what fixers of session_end did ${fixersRefused} times: no more are sent`);
  return true;
}

function sendFixer(step: Step, attempt: number, max: number) {
  const { sessionEnd } = step.state;
  if (!sessionEnd) return;
  if (isOverBudget(step)) {
    const ofCommand: Conclusion = { result: "fail", reason: "command_failed" };
    return reportConclusion(step, sessionEnd.outcome ? spentConclusion(sessionEnd) : ofCommand);
  }
  stopClock(step);
  const stage = triggerName(step.policy);
  step.report({ type: "fixer-started", stage, attempt, max_attempts: max });
  oweTurn(step, { role: "fixer", stage, prompt: "fixer", session: null, attempt, maxAttempts: max });
}

function commandsDone(step: Step, trigger: Trigger, outcome: NonNullable<SessionEndState["outcome"]>) {
  setSessionEnd(step, { outcome });
  const before = { keep: [], visit: step.state.sessionEndRuns };
  const stage = triggerName(step.policy);
  // Each command has closed its own: what is left was found by some that it no longer has.
  if (outcome.passed) closeOthers(step, stage, { ...before, passed: true, sources: ["command"] });
  if (!trigger.code_review?.enabled)
    closeOthers(step, stage, { ...before, passed: false, sources: byReview, reason: "no longer checked" });
  if (!trigger.code_review?.enabled || !isReviewable(step))
    return conclude(step, { result: outcome.passed ? "pass" : "fail", reason: outcome.reason });
  startReview(step, outcome);
}

/** At run level from the baseline to the tip, whoever landed it; of an issue its own commits. */
function isReviewable({ state, policy }: Step): boolean {
  // Its children may have been completed without a commit: it is judged all the same.
  if (policy.trigger === "epic_verification") return true;
  if (policy.trigger) return state.work !== null && state.work.head !== state.reviewBase;
  return !landsNothing(state) && (state.work?.commits ?? 0) > 0;
}

function startReview(step: Step, outcome: NonNullable<SessionEndState["outcome"]>) {
  const slots = reviewSlots(step.policy.settings).map((slot) => newSlot(slot.name, false));
  setSessionEnd(step, { slots });
  if (isOverBudget(step)) return reportConclusion(step, spentConclusion({ outcome, slots }));
  runClock(step);
  startSlots(
    step,
    slots.map((slot) => slot.name),
  );
}

function abort(step: Step): void {
  reportConclusion(step, { result: "fail", reason: "failure_mode_abort" });
  step.set({ abortRun: true });
  step.fail("failure_mode_abort", `${triggerName(step.policy)} failed and its failure_mode is abort`);
}

function conclude(step: Step, conclusion: Conclusion): void {
  reportConclusion(step, conclusion);
  leave(step);
}

/** A fixer's commits have not seen the gate yet. A trigger of the run has nothing else to land. */
function leave(step: Step) {
  const { work, gate, baseSha } = step.state;
  if (step.policy.trigger && (work === null || work.head === baseSha)) {
    return step.end({ status: "success", message: "Nothing to land", error: null, commit: null });
  }
  if (work && work.tree !== gate.tree) {
    step.set({ gate: { ...gate, next: "reviewing" } });
    // What a fixer has left is known by its number alone, and the commands after it may have put it back.
    const isLeft = work.dirtyCount > 0 || work.unpushedCount !== undefined;
    if (!isLeft || step.dirty.length > 0 || step.unpushed.length > 0) return step.go("gating");
    return step.owe({ kind: "worktree", key: `worktree:look:${step.state.turns}`, op: "look" });
  }
  step.go("reviewing");
}
