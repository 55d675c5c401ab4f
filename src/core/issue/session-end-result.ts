import { openFindings } from "../ledger/ledger.js";
import type { SessionEndResult } from "../report.js";
import type { TriggerResult } from "../run/effects.js";
import { type IssuePolicy, mayFail, triggerName, triggerOf } from "./policy.js";
import type { Concluded, Conclusion, IssueState, SessionEndState } from "./state.js";
import type { Step } from "./step.js";
import { endFixer } from "./turns.js";

/** Says how the trigger ended and forgets it; where the life goes on is the caller's. A fixer that was to go on does not. */
export function reportConclusion(step: Step, { result, reason }: Conclusion) {
  endFixer(step, "stopped");
  const { sessionEnd, sessionEndRuns } = step.state;
  if (!sessionEnd) return;
  if (sessionEnd.timer) step.cancel(sessionEnd.timer);
  const concluded: Concluded = {
    result,
    reason,
    startedAt: sessionEnd.startedAt,
    finishedAt: step.at,
    results: result === "timeout" ? [] : sessionEnd.results,
    root: sessionEnd.root,
    review: reviewResult(step, sessionEnd, result),
    judged: isDecided(result) && isJudged(sessionEnd),
  };
  // The run tells of its own triggers, once they have landed what they changed.
  if (step.policy.trigger) return step.set({ sessionEnd: null, concluded });
  step.set({ sessionEnd: null, sessionEndResult: { result, reason } });
  const session_end_result = resultOf(step.policy, concluded);
  step.report({ type: "session-end-completed", result, reason, session_end_result, attempts: sessionEndRuns });
}

function resultOf(policy: IssuePolicy, concluded: Concluded): SessionEndResult {
  return {
    status: concluded.result,
    reason: concluded.reason,
    started_at: new Date(concluded.startedAt).toISOString(),
    finished_at: new Date(concluded.finishedAt).toISOString(),
    commands: commandsOf(policy, concluded),
    code_review_result: concluded.review,
  };
}

/** It passes only as a whole: what its fixers committed must have landed too. */
export function triggerResult(policy: IssuePolicy, state: IssueState): TriggerResult {
  const { ending, concluded, abortRun, verification, draining } = state;
  const judged = ending?.status === "success" && concluded?.result === "pass";
  const passed = judged && (policy.trigger !== "epic_verification" || verification?.completed === true);
  const message = whyTriggerFailed(state);
  return {
    result: passed ? "pass" : "fail",
    reason: passed ? null : judged && draining && !verification?.byOthers ? "run_aborted" : reasonOf(state, judged),
    commands: concluded ? commandsOf(policy, concluded) : [],
    code_review_result: concluded?.review ?? null,
    abort: abortRun,
    ...(message === null ? {} : { message }),
    ...(verification?.followUp === undefined ? {} : { followUp: verification.followUp }),
  };
}

/**
 * What kept the life of a trigger from its end, in words; null: nothing did, or it says no more than the reason. What its
 * commands and reviewers found are findings, and those are told.
 */
export function whyTriggerFailed({ ending }: Pick<IssueState, "ending">): string | null {
  if (ending?.status !== "failed" && ending?.status !== "escalated") return null;
  return ending.error === "run_aborted" || ending.error === "failure_mode_abort" ? null : ending.message;
}

function reasonOf({ ending, concluded, verification }: IssueState, judged: boolean): string {
  if (judged || verification?.byOthers) return "not_due";
  if (ending?.status === "not-claimed") return "not_claimed";
  return concluded?.reason ?? ending?.error ?? "interrupted";
}

function commandsOf(policy: IssuePolicy, { results, root }: Concluded): SessionEndResult["commands"] {
  const commands = triggerOf(policy)?.commands ?? [];
  return results.map((run, index) => {
    const { ref, command } = commands[index] ?? { ref: "", command: "" };
    const passed = run.exit === 0 && !run.timedOut;
    return {
      ref,
      command,
      passed,
      exit_code: run.exit,
      timed_out: run.timedOut,
      duration_seconds: run.seconds,
      output_path: run.output.startsWith("/") ? run.output : `${root}${run.output}`,
      ...(!passed && mayFail(policy, ref) ? { allowed: true } : {}),
    };
  });
}

export function isJudged({ slots }: SessionEndState): boolean {
  return slots.length > 0 && slots.every(({ status }) => status === "pass" || status === "fail");
}

/** A reviewer was really asked: one that was owed and could not start is none. */
export function hasBegunReview(slots: SessionEndState["slots"]): boolean {
  return slots.some(({ starts }) => starts > 0);
}

/** It came to its own end; else it was cut short. */
function isDecided(result: Conclusion["result"]): boolean {
  return result === "pass" || result === "fail";
}

/** Of one that was cut short the last round that had ended counts, if any: the one that sent a fixer. It did not pass. */
function reviewResult(
  step: Step,
  { slots, reviewFixers = 0 }: SessionEndState,
  result: Conclusion["result"],
): SessionEndResult["code_review_result"] {
  if (slots.length === 0) return null;
  const hasRun = isDecided(result) && hasBegunReview(slots);
  if (!hasRun && reviewFixers === 0) return { ran: false, passed: false, findings: [] };
  const findings = openFindings(step.ledger, { stages: [triggerName(step.policy)], sources: ["review"] });
  const passed = isDecided(result) && slots.every((slot) => slot.status === "pass");
  return { ran: true, passed, findings: findings.map((finding) => finding.id) };
}
