import type { MergeOutcome } from "../ports/forge.js";
import type { Looked, SeenRemark } from "./events.js";
import type { MergeObstacle, MergeRefusal, PrState } from "./state.js";
import type { PrStep } from "./step.js";
import { isTrusted } from "./trust.js";

/**
 * Merges when it may. A refusal of the forge may pass by itself: it is tried again at once when anything changed that
 * speaks for or against it, and besides less and less often. A pull request of somebody who is not trusted is left to a
 * person.
 */
export function considerMerge(step: PrStep, looked: Looked) {
  const { merge } = step.policy.settings;
  const obstacle = obstacleTo(step, looked);
  if ((step.state.unmerged ?? null) !== obstacle) step.set({ unmerged: obstacle });
  if (merge === "none" || isUnderWay(step.state)) return;
  if (obstacle !== null) return putOff(step, obstacle);
  const tried = forIt(looked);
  if (step.state.mergeTried === tried && !isMergeDue(step.state, step.at)) return;
  step.set({ mergeTried: tried });
  step.task({ kind: "merge", method: merge, head: looked.pullRequest.head });
}

function isUnderWay({ owed, undone }: PrState): boolean {
  return [...owed, ...undone].some(({ kind }) => kind === "merge");
}

function putOff(step: PrStep, obstacle: MergeObstacle): void {
  // Nothing at the forge will change when the time is up: it is looked at again all the same.
  if (obstacle === "checks-may-come") step.set({ cursor: null });
  // Once it is out of the way something has changed; what could not be asked says nothing.
  else if (obstacle !== "not-fetched" && step.state.mergeTried !== null) step.set({ mergeTried: null });
}

const patienceMinutes = [1, 5, 30, 120, 360];

/** The refusal that stands; null: there was none, or something has changed since. */
export function refusalOf({ phase, refused = null, mergeTried }: PrState): MergeRefusal | null {
  return phase === "following" && refused !== null && refused.tried === mergeTried ? refused : null;
}

/** When a merge that was refused is tried again, whether or not anything changes. */
export function nextMergeAt({ at, times }: MergeRefusal): number {
  const minutes = patienceMinutes[Math.min(times, patienceMinutes.length) - 1] ?? 1;
  return at + minutes * 60_000;
}

export function isMergeDue(state: PrState, now: number): boolean {
  const refusal = refusalOf(state);
  return refusal !== null && now >= nextMergeAt(refusal);
}

const longestReason = 500;

/** Each reason is told once, however often it is given. */
export function afterMerge(step: PrStep, outcome: MergeOutcome) {
  const { refused: before = null, mergeTried } = step.state;
  if (outcome.type !== "refused") {
    step.set({ refused: null, ...(outcome.type === "moved" ? { mergeTried: null } : {}) });
    return step.look();
  }
  const reason = outcome.reason.slice(0, longestReason);
  const tried = mergeTried ?? "";
  const times = before?.tried === tried ? before.times + 1 : 1;
  step.set({ refused: { tried, reason, at: step.at, times } });
  if (before?.reason !== reason) step.note({ type: "log", level: "warn", text: `not merged: ${reason}` });
}

/** The head and the base, and how many have approved it or passed on it. */
function forIt({ pullRequest: { head, base }, remarks, checks }: Looked): string {
  const approvals = remarks.filter(({ verdict, commit }) => verdict === "approved" && commit === head).length;
  const green = checks.filter(({ commit, status }) => commit === head && status === "success").length;
  return `${head} ${base} ${approvals} ${green}`;
}

/** The first thing that keeps it from being merged, from what a person would ask first. */
function obstacleTo(step: PrStep, looked: Looked): MergeObstacle | null {
  const { state, policy } = step;
  const { pullRequest } = looked;
  const { trusted, merge } = policy.settings;
  if (looked.failed.length > 0) return "not-fetched";
  if (state.escalated) return "needs-person";
  if (state.working !== null) return "rework";
  if (Object.values(state.deliveries).some(({ status, cause }) => status === "waiting" && cause)) return "feedback";
  if (merge !== "none" && !pullRequest.own && !isTrusted(trusted, { ...pullRequest, login: pullRequest.author }))
    return "untrusted-author";
  if (pullRequest.draft) return "draft";
  if (pullRequest.mergeable === false) return "conflict";
  const unsure = obstacleOfChecks(looked) ?? obstacleOfApproval(step, looked);
  if (unsure !== null) return unsure;
  if (merge === "none") return "left-to-people";
  if (pullRequest.mergeable === null) return "unknown";
  return mayStillBeChecked(step, looked) ? "checks-may-come" : null;
}

function obstacleOfChecks({ checks, pullRequest: { head } }: Looked): MergeObstacle | null {
  const required = checks.filter((one) => one.commit === head && one.required);
  if (required.some(({ status }) => status === "failure")) return "checks-failed";
  return required.some(({ status }) => status === "pending") ? "checks-pending" : null;
}

/** CI takes its time to show up. A person who approves has seen what there is; our reviewer waits a little. */
const checksMayComeMs = 60_000;
function mayStillBeChecked({ state, policy, at }: PrStep, { checks, pullRequest }: Looked): boolean {
  if (!policy.settings.review.enabled || checks.some(({ commit }) => commit === pullRequest.head)) return false;
  return at - state.headAt < checksMayComeMs;
}

/** On this very head: by our reviewer where it reviews, else by somebody who is trusted; and nobody trusted objects. */
function obstacleOfApproval({ state, policy }: PrStep, { remarks, pullRequest }: Looked): MergeObstacle | null {
  const last = new Map<string, SeenRemark>();
  for (const remark of remarks) {
    if (remark.kind !== "review" || remark.own || remark.login === null) continue;
    if (remark.verdict === "commented" || remark.verdict === null) continue;
    if (isTrusted(policy.settings.trusted, remark)) last.set(remark.login, remark);
  }
  const verdicts = [...last.values()];
  if (verdicts.some(({ verdict }) => verdict === "changes_requested")) return "changes-requested";
  if (policy.settings.review.enabled) return state.passed === pullRequest.head ? null : "review-due";
  const approvals = verdicts.filter(({ verdict }) => verdict === "approved");
  if (approvals.some(({ commit }) => commit === pullRequest.head)) return null;
  return approvals.length > 0 ? "stale-approval" : "no-approval";
}
