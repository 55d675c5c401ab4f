import type { Finding } from "../finding.js";
import { letGo, openFindings } from "../ledger/ledger.js";
import { reportsOf } from "../ledger/reports.js";
import { endingReason } from "../tracker-endings.js";
import { blockingReview, undecided } from "./blocking.js";
import { afterEpicTold, afterTriggerFollowUp, closeTrigger } from "./close-trigger.js";
import type { IssueEvent, ParkedAs } from "./events.js";
import { forgetTried, isByHand } from "./ledger-parts.js";
import { reviewRounds } from "./policy.js";
import { landsNothing } from "./preconditions.js";
import { reportConclusion } from "./session-end-result.js";
import { isReviewStage } from "./slots.js";
import type { Step } from "./step.js";
import { replaceByTakenAway } from "./taken-away.js";
import { dropLeftOut, isReviewConfigured } from "./unchecked.js";

type TrackerDone = Extract<IssueEvent, { type: "tracker-done" }>;

/** The ending is decided: the tracker is told, what stays open is tracked or waived, and in the end nothing is owed. */
export function enterClosing(step: Step) {
  const { ending } = step.state;
  for (const owed of step.state.owed) if (owed.kind === "timer") step.cancel(owed.key);
  if (!ending) return;
  // Cut short while a fixer was to work on a failed command.
  reportConclusion(step, { result: "fail", reason: "command_failed" });
  if (ending.status === "not-claimed") return finish(step);
  if (ending.status !== "success") forgetTried(step);
  if (step.policy.trigger) return closeTrigger(step);
  const reason = endingReason(ending);
  switch (ending.status) {
    case "success":
      // What its reviewers say is for whoever works on the pull request next.
      return step.policy.item ? complete(step) : trackLeftovers(step);
    case "failed":
      if (step.state.was) return oweGivingBack(step, reason);
      return step.owe({ kind: "tracker", key: "tracker:fail", op: "fail", reason, ...resumed(step) });
    case "interrupted":
      return oweGivingBack(step, reason);
    case "escalated":
      return step.owe({ kind: "dossier", key: "dossier", reason });
  }
}

/** In a run that resumes an issue may also begin. */
function resumed({ policy, state }: Step): { readonly resumed?: true } {
  return policy.options.resume && state.resume !== null ? { resumed: true } : {};
}

/** The item is what it was before: a landing by hand that came to nothing changes no decision about it. */
export function oweGivingBack(step: Step, reason: string) {
  const { was } = step.state;
  if (was === "failed" || was === "waiting_for_response" || was === "quarantined") {
    return step.owe({ kind: "tracker", key: "tracker:give-back", op: "give-back", was, reason });
  }
  step.owe({ kind: "tracker", key: "tracker:release", op: "release" });
}

/** A dossier that could not be written never holds up the word that a person is needed. */
export function afterDossier(step: Step, { path, reason: failure }: Extract<IssueEvent, { type: "dossier-written" }>) {
  const { ending } = step.state;
  if (!ending) return;
  if (path === null) step.log("warn", `The dossier could not be written: ${failure ?? "unknown"}`);
  step.set({ dossier: path });
  step.owe({ kind: "tracker", key: "tracker:escalate", op: "escalate", reason: endingReason(ending) });
}

export function afterClosingTracker(step: Step, event: TrackerDone) {
  const { ending, dossier } = step.state;
  const isGivenUp = ending?.status === "failed" || ending?.status === "escalated";
  if (isGivenUp && !event.ok && event.taken !== undefined) {
    replaceByTakenAway(step, event.taken);
    return step.owe({ kind: "tracker", key: "tracker:release", op: "release" });
  }
  if (ending?.status === "escalated" && dossier !== undefined)
    step.report({ type: "escalated", reason: ending.message, dossier });
  if (!event.ok && !event.lost) {
    step.set({ trackerOwed: true });
    const untold = { op: event.key.replace("tracker:", ""), reason: event.reason };
    step.log("error", `The tracker could not be told (${event.key}): ${event.reason}`, { untold });
  }
  const { trigger } = step.policy;
  if (trigger === "epic_verification" && step.state.ending?.status !== "not-claimed") return afterEpicTold(step, event);
  if (event.key === "tracker:follow-up") {
    // Without its id nobody has said that there is one: what it was to have stays open.
    const followUp = event.ok ? (event.id ?? null) : null;
    if (trigger) return afterTriggerFollowUp(step, followUp, event.ok ? event.older : {});
    if (followUp !== null) waiveLeftovers(step, followUp);
    return complete(step);
  }
  if (event.key === "tracker:complete" && !step.policy.item) {
    return step.owe({ kind: "worktree", key: "worktree:remove", op: "remove" });
  }
  finish(step, event.ok && event.quarantined ? { quarantined: true } : {});
}

export function afterRemoval(step: Step, failure: string | null): void {
  if (failure !== null) step.log("warn", `The worktree could not be removed: ${failure}`);
  finish(step);
}

export function sayParked(step: Step, parked?: ParkedAs): void {
  // Beside work that landed it is no work of the life's, perhaps a branch that a command has made.
  const what = step.state.ending?.status === "success" ? "What else the worktree had" : "What did not land";
  sayPutAside(step, what, parked);
}

/** Of a rebase or the like that a fixer has left in the middle, of conflicts, or of a repository that it has made. */
export function sayLetGo(step: Step, parked?: ParkedAs): void {
  sayPutAside(step, "What was left in the middle of a git operation, or as a repository of its own,", parked);
}

function sayPutAside(step: Step, what: string, parked?: ParkedAs): void {
  if (parked === undefined) return;
  const { ref, as } = parked;
  step.log("warn", `${what} is put aside as ${ref}; ratchet worktree restore ${as} brings it back`);
}

function trackLeftovers(step: Step) {
  const open = openFindings(step.ledger, { defects: true });
  const findings = open.filter((finding) => isTracked(step, finding)).map(({ id }) => id);
  dropLeftOut(step, findings);
  if (findings.length === 0) {
    waiveLeftovers(step, null);
    return complete(step);
  }
  step.owe({ kind: "tracker", key: "tracker:follow-up", op: "follow-up", findings });
}

/** Follow-ups make none of their own, but for what a review had blocked them for and none has decided. */
function isTracked(step: Step, finding: Finding): boolean {
  const { settings } = step.policy;
  if (step.state.followUp && !undecided(step).includes(finding.id)) return false;
  const own = (settings.validation_triggers.session_end ?? settings.left_out_session_end)?.code_review;
  const byReview = isReviewConfigured(settings) && settings.per_issue_review.track_review_issues;
  const byTrigger = (own?.enabled ?? false) && (own?.track_review_issues ?? false);
  const isBy = (stage: string) => {
    // About work that is not there any more.
    if (isReviewStage(stage)) return byReview && !landsNothing(step.state);
    if (stage !== "session_end") return false;
    return finding.source === "review" ? byTrigger : byReview || byTrigger;
  };
  return reportsOf(finding).some(({ stage }) => isBy(stage));
}

function waiveLeftovers(step: Step, followUp: string | null): void {
  const open = openFindings(step.ledger);
  const waiveAll = (findings: readonly Finding[], reason: string) => {
    const ids = findings.map((finding) => finding.id);
    if (ids.length > 0) step.apply(letGo(step.ledger, { ids, reason, at: step.at }));
  };
  const tracked = open.filter(
    (finding) => followUp !== null && finding.source !== "protocol" && isTracked(step, finding),
  );
  const rest = open.filter((finding) => !tracked.includes(finding));
  waiveAll(tracked, `tracked as ${followUp}`);
  const bySessionEnd = rest.filter((finding) => finding.stage === "session_end");
  sayUntracked(step, bySessionEnd);
  const isCommand = ({ source }: Finding) => source === "command";
  waiveAll(bySessionEnd.filter(isCommand), `session_end: ${whyLeft(step, "max_retries_exhausted")}`);
  waiveAll(
    bySessionEnd.filter((finding) => !isCommand(finding)),
    `session_end: ${whyLeft(step, "code_review")}`,
  );
  waiveAll(
    rest.filter((finding) => finding.stage !== "session_end"),
    isByHand(step) ? "landed by hand" : landsNothing(step.state) ? "nothing landed" : "below threshold",
  );
}

/** Why session_end left something; `unmended`: what it is called where a fixer would have been sent. */
function whyLeft({ state, policy }: Step, unmended: string): string {
  const { result } = state.sessionEndResult ?? {};
  const mode = policy.settings.validation_triggers.session_end?.failure_mode;
  if (result === "interrupted" || (result === "timeout" && mode !== "continue")) return result;
  if (mode === undefined) return "no longer checked";
  // What blocks would have ended the issue.
  if (mode === "abort") return "below threshold";
  return mode === "remediate" ? unmended : "continue";
}

/** Nobody will see to it: at least it is said. */
function sayUntracked(step: Step, findings: readonly Finding[]): void {
  const { length } = findings.filter(({ source }) => source !== "protocol");
  if (length === 0) return;
  const what = length === 1 ? "a finding" : `${length} findings`;
  const { issueId } = step.state;
  step.log("warn", `session_end leaves ${what} that no follow-up issue has: ratchet findings ${issueId} --all`);
}

function complete(step: Step) {
  const { ending, marker, pullRequest } = step.state;
  if (pullRequest) {
    const head = ending?.commit ?? "";
    return step.owe({ kind: "tracker", key: "tracker:hand-over", op: "hand-over", ...pullRequest, head });
  }
  const note = marker && ending?.commit === null ? `${marker.name}: ${marker.rationale}` : (ending?.message ?? "");
  step.owe({ kind: "tracker", key: "tracker:complete", op: "complete", commit: ending?.commit ?? null, note });
}

/** What is left to be done of work that passed everything, and how it passed where an earlier life saw to that. */
function deliveryOf({ state }: Step, status: string) {
  const { landing, deliver, review, ending } = state;
  const evidence = deliver ? { evidence: deliver.evidence } : {};
  // What the forge refused once the branch was pushed is no agent's business: that, too, is only delivered again.
  const head = landing.delivers ?? (status === "interrupted" ? deliver?.head : null);
  const isLeft = (status === "interrupted" && ending?.error !== "closed") || ending?.error === "landing_failed";
  if (!isLeft || !head) return status === "success" ? evidence : {};
  const reviewed = deliver?.reviewed ?? (review.passed === null ? 0 : review.round);
  const why = landing.refused ?? deliver?.refused;
  const refused = why === undefined ? {} : { refused: why };
  return { undelivered: { head, reviewed, ...refused }, ...evidence };
}

function seenBy({ state: { seen, review } }: Step) {
  return seen && { ...seen, ...(review.seen === null ? {} : { reviewed: review.seen }) };
}

function finish(step: Step, told: { readonly quarantined?: true } = {}): void {
  for (const owed of step.state.owed) step.cancel(owed.key);
  step.set({ phase: "done", turn: null });
  const { ending, marker, gate, review, sessionEndRuns, session, baseSha, reviewBase, unmerged } = step.state;
  if (!ending || ending.status === "not-claimed" || step.policy.trigger) return;
  const { status, message, error, commit } = ending;
  const blocking = status === "success" ? [] : blockingReview(step);
  step.report({
    type: "issue-finished",
    status,
    message,
    error,
    commit,
    resolution: marker && { outcome: marker.name, rationale: marker.rationale },
    last_review_issues: blocking.length > 0 ? blocking : null,
    counters: { gate_attempts: gate.runs, review_attempts: reviewRounds(review), session_end_attempts: sessionEndRuns },
    session_id: session,
    seen: seenBy(step),
    ...deliveryOf(step, status),
    ...told,
    ...(reviewBase === baseSha ? {} : { review_base: reviewBase }),
    ...(unmerged && status !== "success" ? { unmerged } : {}),
    duration_seconds: (step.at - step.state.startedAt) / 1000,
  });
}
