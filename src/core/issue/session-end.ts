import { openFindings, raise } from "../ledger/ledger.js";
import type { SessionEndResult } from "../report.js";
import type { Trigger } from "../settings.js";
import type { CommandEnded, Snapshot, TurnEnded } from "./events.js";
import { closeOthers, commandRemark, isPass, visitOf } from "./ledger-parts.js";
import { landsNothing } from "./preconditions.js";
import { isReviewerRunning, newSlot, startSlots } from "./reviewers.js";
import { reviewSlots } from "./slots.js";
import type { SessionEndState } from "./state.js";
import type { Step } from "./step.js";
import { isOverBudget, oweTurn, settleTurn } from "./turns.js";

/**
 * session_end: its commands in order up to the first failure, fixers in between where it remediates, then its own
 * review once. It blocks only its own issue, and except for failure_mode abort it never decides whether that succeeds.
 */
export interface Conclusion {
  readonly result: "pass" | "fail" | "timeout" | "interrupted";
  readonly reason: string | null;
}
const bySigint: Conclusion = { result: "interrupted", reason: "SIGINT received" };
const byTimeout: Conclusion = { result: "timeout", reason: "session_end_timeout" };

export function enterSessionEnd(step: Step) {
  const trigger = step.policy.settings.validation_triggers.session_end;
  if (!trigger) {
    step.report({ type: "session-end-skipped", reason: "not_configured" });
    return leave(step);
  }
  open(step, trigger);
  if (step.state.draining) return conclude(step, bySigint);
  execute(step, true);
}

export function afterSessionEndCommand(step: Step, event: CommandEnded) {
  const { sessionEnd } = step.state;
  const trigger = step.policy.settings.validation_triggers.session_end;
  const command = trigger?.commands[sessionEnd?.results.length ?? 0];
  if (!sessionEnd || !trigger || !command) return step.fail("session_end_failed", "A command ended that is not known");
  if (sessionEnd.timedOut) return concludeTimeout(step);
  recordCommand(step, event);
  if (!isPass(event)) raiseFailure(step, event, { name: command.ref, command: command.command });
  if (step.state.draining) return conclude(step, bySigint);
  if (!isPass(event)) return commandFailed(step, trigger);
  nextCommand(step, trigger);
}

/** Keeps the result of a command that ended by itself; used alone when the life is being wound down. */
export function recordCommand(step: Step, event: CommandEnded): void {
  const { sessionEnd } = step.state;
  if (!sessionEnd || event.stopped) return;
  const { root } = sessionEnd;
  const at = event.outputPath.lastIndexOf(`/${sessionEnd.folder}/`);
  const found = root === "" && at > 0 ? event.outputPath.slice(0, at + 1) : root;
  const output =
    found !== "" && event.outputPath.startsWith(found) ? event.outputPath.slice(found.length) : event.outputPath;
  const { exitCode: exit, timedOut, seconds } = event;
  setSessionEnd(step, { root: found, results: [...sessionEnd.results, { exit, timedOut, seconds, output }] });
}

export function afterSessionEndTurn(step: Step, event: TurnEnded): void {
  const result = settleTurn(step, event);
  const { turn, sessionEnd } = step.state;
  if (!result || !turn || !sessionEnd || step.state.halt) return;
  step.report({ type: "fixer-ended", stage: "session_end", attempt: turn.attempt, outcome: event.outcome.type });
  step.set({ turn: null });
  const message = `Fix session_end (${sessionEnd.fixers})`;
  step.owe({ kind: "worktree", key: `worktree:commit:${step.state.turns}`, op: "commit-all", message });
}

export function afterFixerCommit(step: Step, snapshot: Snapshot) {
  const before = step.state.work?.head;
  step.look(snapshot);
  const { marker } = step.state;
  const holds = marker?.name === "DOCS_ONLY" ? snapshot.docsOnly : snapshot.head === before;
  if (!holds) step.set({ marker: null });
  if (step.state.draining) return conclude(step, bySigint);
  execute(step, true);
}

export function afterSessionEndReviewer(step: Step) {
  const { sessionEnd } = step.state;
  if (!sessionEnd) return;
  if (sessionEnd.timedOut) return concludeTimeout(step);
  if (isReviewerRunning(step)) return;
  const { outcome, slots } = sessionEnd;
  if (!outcome?.passed) return conclude(step, { result: "fail", reason: outcome?.reason ?? "command_failed" });
  if (slots.every((slot) => slot.status === "pass")) return conclude(step, { result: "pass", reason: null });
  const aborts = step.policy.settings.validation_triggers.session_end?.failure_mode === "abort";
  const blocked = slots.some((slot) => slot.status === "fail");
  if (aborts && blocked) return abort(step);
  conclude(step, { result: "fail", reason: "code_review" });
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

function concludeTimeout(step: Step): void {
  if (!step.state.owed.some((owed) => owed.kind === "command" || owed.kind === "turn")) conclude(step, byTimeout);
}

/**
 * Ratchet died: an execution whose command ran is closed, and a new one starts at the first command. Fixers and
 * reviewers are attached to again, with their time given back, because nobody knows how long Ratchet was away.
 */
export function resumeSessionEnd(step: Step): boolean {
  const { sessionEnd, owed } = step.state;
  if (!sessionEnd) return false;
  const command = owed.find((one) => one.kind === "command");
  if (command) restart(step, command.key, sessionEnd);
  else if (sessionEnd.timer) renewTimer(step, sessionEnd.timer, sessionEnd);
  else return false;
  return true;
}

function restart(step: Step, command: string, { timedOut, fixers, execution }: SessionEndState) {
  const trigger = step.policy.settings.validation_triggers.session_end;
  step.cancel(command);
  if (timedOut) return concludeTimeout(step);
  if (!trigger) return;
  reportConclusion(step, { result: "interrupted", reason: "process_crash" });
  open(step, trigger);
  setSessionEnd(step, { fixers, execution });
  if (step.state.draining) return conclude(step, bySigint);
  execute(step, false);
}

function renewTimer(step: Step, old: string, { remainingMs }: SessionEndState): void {
  step.cancel(old);
  const timerUntil = step.at + remainingMs;
  setSessionEnd(step, { timer: step.oweTimer("session_end", timerUntil), timerUntil });
}

/** Says how session_end ended and forgets it; where the life goes on is the caller's. */
export function reportConclusion(step: Step, { result, reason }: Conclusion): void {
  const { sessionEnd, sessionEndRuns } = step.state;
  if (!sessionEnd) return;
  if (sessionEnd.timer) step.cancel(sessionEnd.timer);
  const session_end_result: SessionEndResult = {
    status: result,
    reason,
    started_at: new Date(sessionEnd.startedAt).toISOString(),
    finished_at: new Date(step.at).toISOString(),
    commands: result === "timeout" ? [] : commandsOf(step, sessionEnd),
    code_review_result: reviewResult(step, sessionEnd, result),
  };
  step.set({ sessionEnd: null });
  step.report({ type: "session-end-completed", result, reason, session_end_result, attempts: sessionEndRuns });
}

function open(step: Step, trigger: Trigger): void {
  step.report({ type: "session-end-started" });
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
  const trigger = step.policy.settings.validation_triggers.session_end;
  const { sessionEnd, sessionEndRuns } = step.state;
  if (!trigger || !sessionEnd) return;
  step.set({ sessionEndRuns: sessionEndRuns + (counted ? 1 : 0) });
  const folder = step.newFolder("session_end");
  const timerUntil = step.at + sessionEnd.remainingMs;
  const timer = step.oweTimer("session_end", timerUntil);
  const execution = sessionEnd.execution + (counted ? 1 : 0);
  setSessionEnd(step, { folder, timer, timerUntil, execution, results: [] });
  nextCommand(step, trigger);
}

function nextCommand(step: Step, trigger: Trigger) {
  const { sessionEnd, work } = step.state;
  if (!sessionEnd) return;
  const index = sessionEnd.results.length;
  const command = trigger.commands[index];
  if (!command) return commandsDone(step, trigger, { passed: true, reason: null });
  const same = trigger.commands.slice(0, index).filter((other) => other.ref === command.ref).length;
  const name = same === 0 ? command.ref : `${command.ref}-${same + 1}`;
  step.owe({
    kind: "command",
    key: `session_end:${sessionEnd.folder.split("-")[0]}:${name}`,
    folder: `${sessionEnd.folder}/${name}`,
    stage: "session_end",
    name: command.ref,
    command: command.command,
    timeoutSeconds: command.timeout,
    exclusive: step.policy.settings.commands[command.ref]?.exclusive ?? false,
    place: "issue",
    commit: work?.head ?? null,
  });
}

function commandFailed(step: Step, trigger: Trigger) {
  const { sessionEnd } = step.state;
  if (!sessionEnd) return;
  if (trigger.failure_mode === "abort") return abort(step);
  if (trigger.failure_mode === "continue") {
    return commandsDone(step, trigger, { passed: false, reason: "command_failed" });
  }
  if (sessionEnd.fixers >= trigger.max_retries) {
    return commandsDone(step, trigger, { passed: false, reason: "max_retries_exhausted" });
  }
  fix(step, trigger, sessionEnd);
}

/** The overall clock stands still while a fixer works. */
function fix(step: Step, trigger: Trigger, sessionEnd: SessionEndState) {
  if (isOverBudget(step)) return reportConclusion(step, { result: "fail", reason: "command_failed" });
  if (sessionEnd.timer) step.cancel(sessionEnd.timer);
  const fixers = sessionEnd.fixers + 1;
  setSessionEnd(step, { fixers, timer: null, remainingMs: Math.max(0, sessionEnd.timerUntil - step.at) });
  const max = trigger.max_retries;
  step.report({ type: "fixer-started", stage: "session_end", attempt: fixers, max_attempts: max });
  const plan = { role: "fixer", stage: "session_end", prompt: "fixer", session: null } as const;
  oweTurn(step, { ...plan, attempt: fixers, maxAttempts: max });
}

function commandsDone(step: Step, trigger: Trigger, outcome: NonNullable<SessionEndState["outcome"]>) {
  setSessionEnd(step, { outcome });
  if (outcome.passed) closeOthers(step, "session_end", { keep: [], passed: true, visit: step.state.sessionEndRuns });
  const due = trigger.code_review?.enabled && !landsNothing(step.state) && (step.state.work?.commits ?? 0) > 0;
  if (!due) return conclude(step, { result: outcome.passed ? "pass" : "fail", reason: outcome.reason });
  if (isOverBudget(step))
    return reportConclusion(step, { result: outcome.passed ? "pass" : "fail", reason: outcome.reason });
  const slots = reviewSlots(step.policy.settings).map((slot) => newSlot(slot.name, false));
  setSessionEnd(step, { slots });
  startSlots(
    step,
    slots.map((slot) => slot.name),
  );
}

function abort(step: Step): void {
  reportConclusion(step, { result: "fail", reason: "failure_mode_abort" });
  step.set({ abortRun: true });
  step.fail("failure_mode_abort", "session_end failed and its failure_mode is abort");
}

function conclude(step: Step, conclusion: Conclusion): void {
  reportConclusion(step, conclusion);
  leave(step);
}

/** A fixer's commits have not seen the gate yet. */
function leave(step: Step) {
  const { work, gate } = step.state;
  if (work && work.tree !== gate.tree) {
    step.set({ gate: { ...gate, next: "reviewing" } });
    return step.go("gating");
  }
  step.go("reviewing");
}

function raiseFailure(step: Step, event: CommandEnded, command: { name: string; command: string }): void {
  const remarks = [commandRemark(event, command)];
  const visit = step.state.sessionEndRuns;
  const reviewer = command.name;
  step.apply(raise(step.ledger, visitOf(step, { stage: "session_end", source: "command", reviewer, visit, remarks })));
}

function commandsOf(step: Step, { results, root }: SessionEndState): SessionEndResult["commands"] {
  const commands = step.policy.settings.validation_triggers.session_end?.commands ?? [];
  return results.map((run, index) => ({
    ref: commands[index]?.ref ?? "",
    command: commands[index]?.command ?? "",
    passed: run.exit === 0 && !run.timedOut,
    exit_code: run.exit,
    timed_out: run.timedOut,
    duration_seconds: run.seconds,
    output_path: run.output.startsWith("/") ? run.output : `${root}${run.output}`,
  }));
}

function reviewResult(
  step: Step,
  { slots }: SessionEndState,
  result: Conclusion["result"],
): SessionEndResult["code_review_result"] {
  if (slots.length === 0) return null;
  const ran = result === "pass" || result === "fail";
  if (!ran) return { ran: false, passed: false, findings: [] };
  const findings = openFindings(step.ledger, { stages: ["session_end"], sources: ["review"] });
  const passed = slots.every((slot) => slot.status === "pass");
  return { ran, passed, findings: findings.map((finding) => finding.id) };
}

function setSessionEnd(step: Step, patch: Partial<SessionEndState>): void {
  const { sessionEnd } = step.state;
  if (sessionEnd) step.set({ sessionEnd: { ...sessionEnd, ...patch } });
}
