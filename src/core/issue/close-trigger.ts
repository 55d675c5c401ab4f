import type { Finding } from "../finding.js";
import { openFindings, waive } from "../ledger/ledger.js";
import { triggerName, triggerOf } from "./policy.js";
import type { Step } from "./step.js";

/**
 * The end of a life that is a trigger's: what its review found beside is tracked, and its worktree goes; what is nowhere
 * else in it is parked. Findings that made the trigger fail stay open, under the run's id.
 */
export function closeTrigger(step: Step) {
  const tracked = step.state.ending?.status === "success" ? trackedFindings(step) : [];
  if (tracked.length === 0) return removeTriggerWorktree(step);
  const findings = tracked.map(({ id }) => id);
  step.owe({ kind: "tracker", key: "tracker:follow-up", op: "follow-up", findings });
}

export function afterTriggerFollowUp(step: Step, followUp: string | null): void {
  const ids = trackedFindings(step).map(({ id }) => id);
  if (followUp !== null) step.apply(waive(step.ledger, { ids, reason: `tracked as ${followUp}`, at: step.at }));
  removeTriggerWorktree(step);
}

function removeTriggerWorktree(step: Step): void {
  waiveRest(step);
  step.owe({ kind: "worktree", key: "worktree:remove", op: "remove" });
}

function trackedFindings(step: Step): readonly Finding[] {
  const review = triggerOf(step.policy)?.code_review;
  if (!review?.enabled || !review.track_review_issues) return [];
  const [open, blocking] = [reviewFindings(step), blockingFindings(step)];
  return open.filter((finding) => !blocking.includes(finding));
}

/** Below the threshold, and machinery: nobody will look at them again. */
function waiveRest(step: Step): void {
  const blocking = blockingFindings(step);
  const open = openFindings(step.ledger, { stages: [triggerName(step.policy)] });
  const rest = open.filter((finding) => finding.source !== "command" && !blocking.includes(finding));
  const ids = rest.map(({ id }) => id);
  if (ids.length > 0) step.apply(waive(step.ledger, { ids, reason: "below threshold", at: step.at }));
}

function reviewFindings(step: Step): readonly Finding[] {
  return openFindings(step.ledger, { stages: [triggerName(step.policy)], sources: ["review"] });
}
function blockingFindings(step: Step): readonly Finding[] {
  const blocking = triggerOf(step.policy)?.code_review?.finding_threshold ?? "none";
  return openFindings(step.ledger, { stages: [triggerName(step.policy)], sources: ["review"], blocking });
}
