import type { Finding } from "../finding.js";
import { letGo, openFindings } from "../ledger/ledger.js";
import { triggerFindings } from "./blocking.js";
import type { IssueEvent } from "./events.js";
import { closeOthers } from "./ledger-parts.js";
import { triggerName, triggerOf } from "./policy.js";
import { whyTriggerFailed } from "./session-end-result.js";
import type { Step } from "./step.js";
import { settleUnlanded } from "./unlanded.js";

type TrackerDone = Extract<IssueEvent, { type: "tracker-done" }>;

/**
 * The end of a life that is a trigger's: what its review found beside is tracked, however it ended, because nobody may look
 * there again; its worktree goes, and what is nowhere else in it is parked. Findings that made the trigger fail stay open, under the run's id.
 */
export function closeTrigger(step: Step) {
  const why = whyTriggerFailed(step.state);
  // The run tells only that it failed: the words of that line are fixed.
  if (why !== null) step.log("warn", `${triggerName(step.policy)} failed: ${why}`);
  settleUnlanded(step);
  if (step.policy.trigger === "epic_verification") return closeVerification(step);
  const tracked = trackedFindings(step);
  if (tracked.length === 0) return removeTriggerWorktree(step);
  const findings = tracked.map(({ id }) => id);
  step.owe({ kind: "tracker", key: "tracker:follow-up", op: "follow-up", findings });
}

/**
 * Of an epic: a pass completes it, unless the run drains: it starts no trigger any more, so the next one verifies the epic
 * again and fires for it. What its review found becomes an issue in it before it is let go, so that nobody sees
 * it done in between; the findings stay open, under the epic's id, until a verification passes.
 */
function closeVerification(step: Step) {
  const { ending, concluded, startedAt, sessionEndRuns: visit } = step.state;
  const stage = triggerName(step.policy);
  const passed = ending?.status === "success" && concluded?.result === "pass";
  const now = openFindings(step.ledger, { stages: [stage] }).filter((finding) => finding.raised_at >= startedAt);
  const found = now.filter(({ source }) => source === "review").map(({ id }) => id);
  if (passed) {
    if (found.length > 0) step.apply(letGo(step.ledger, { ids: found, reason: "below threshold", at: step.at }));
    closeOthers(step, stage, { keep: found, passed, visit });
    if (step.state.draining) return releaseEpic(step);
    return step.owe({ kind: "tracker", key: "tracker:complete", op: "complete", commit: null, note: "verified" });
  }
  if (found.length === 0) return releaseEpic(step);
  step.owe({ kind: "tracker", key: "tracker:follow-up", op: "follow-up", findings: found });
}

export function afterEpicTold(step: Step, event: TrackerDone) {
  const told = event.ok ? (event.id ?? null) : null;
  if (event.key === "tracker:complete" && event.ok) step.set({ verification: { completed: true } });
  if (event.key === "tracker:follow-up" && told !== null)
    step.set({ verification: { completed: false, followUp: told } });
  if (!event.ok && event.lost && event.key !== "tracker:complete") leaveDone(step);
  // One that could not be completed is somebody else's, or has an open child again.
  if (event.key === "tracker:release" || (event.key === "tracker:complete" && event.ok)) return dropWorktree(step);
  releaseEpic(step);
}

/** Nobody looks at it again, so nothing of it stays open. */
function leaveDone(step: Step): void {
  const ids = openFindings(step.ledger, { stages: [triggerName(step.policy)] }).map(({ id }) => id);
  if (ids.length > 0) step.apply(letGo(step.ledger, { ids, reason: "the epic was completed", at: step.at }));
  if (step.state.verification === undefined) step.set({ verification: { completed: false, byOthers: true } });
}

function releaseEpic(step: Step): void {
  step.owe({ kind: "tracker", key: "tracker:release", op: "release" });
}

function dropWorktree(step: Step): void {
  step.owe({ kind: "worktree", key: "worktree:remove", op: "remove" });
}

/** `older`: the findings that another follow-up has. Without one they stay open: it is still to be made. */
export function afterTriggerFollowUp(
  step: Step,
  followUp: string | null,
  older: Readonly<Record<string, string>> = {},
) {
  const ids = trackedFindings(step).map(({ id }) => id);
  if (followUp === null) return removeTriggerWorktree(step, ids);
  const places = ids.map((id) => older[id] ?? followUp);
  for (const place of new Set(places)) {
    const there = ids.filter((_id, index) => places[index] === place);
    step.apply(letGo(step.ledger, { ids: there, reason: `tracked as ${place}`, at: step.at }));
  }
  removeTriggerWorktree(step);
}

function removeTriggerWorktree(step: Step, untracked: readonly string[] = []): void {
  waiveRest(step, untracked);
  dropWorktree(step);
}

function trackedFindings(step: Step): readonly Finding[] {
  const review = triggerOf(step.policy)?.code_review;
  if (!review?.enabled || !review.track_review_issues) return [];
  return triggerFindings(step).beside;
}

/** Below the threshold, and machinery: nobody will look at them again. */
function waiveRest(step: Step, untracked: readonly string[]): void {
  const { blocking } = triggerFindings(step);
  const open = openFindings(step.ledger, { stages: [triggerName(step.policy)] });
  const stays = (finding: Finding) => blocking.includes(finding) || untracked.includes(finding.id);
  const rest = open.filter((finding) => finding.source !== "command" && !stays(finding));
  const waiveAll = (findings: readonly Finding[], reason: string) => {
    const ids = findings.map(({ id }) => id);
    if (ids.length > 0) step.apply(letGo(step.ledger, { ids, reason, at: step.at }));
  };
  const isMachinery = ({ source }: Finding) => source === "protocol";
  waiveAll(rest.filter(isMachinery), `${triggerName(step.policy)}: no verdict`);
  waiveAll(
    rest.filter((finding) => !isMachinery(finding)),
    "below threshold",
  );
}
