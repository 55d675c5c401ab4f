import type { Looked, SeenRemark } from "./events.js";
import type { PrStep } from "./step.js";
import { isTrusted } from "./trust.js";

/** Merges when it may; each head is tried once, and again when more speaks for it. A pull request of somebody who is not trusted is left to a person. */
export function considerMerge(step: PrStep, looked: Looked): void {
  const { merge } = step.policy.settings;
  if (merge === "none" || !mayMerge(step, looked)) return;
  if (mayStillBeChecked(step, looked)) {
    // Nothing at the forge will change when the time is up: it is looked at again all the same.
    step.set({ cursor: null });
    return;
  }
  const { head } = looked.pullRequest;
  const tried = forIt(looked);
  if (step.state.mergeTried === tried) return;
  step.set({ mergeTried: tried });
  step.task({ kind: "merge", method: merge, head });
}

/** The head, and how many have approved it or passed on it. */
function forIt({ pullRequest: { head }, remarks, checks }: Looked): string {
  const approvals = remarks.filter(({ verdict, commit }) => verdict === "approved" && commit === head).length;
  const green = checks.filter(({ commit, status }) => commit === head && status === "success").length;
  return `${head} ${approvals} ${green}`;
}

function mayMerge(step: PrStep, looked: Looked): boolean {
  const { state, policy } = step;
  const { pullRequest, checks } = looked;
  const { head } = pullRequest;
  if (state.working !== null || state.escalated) return false;
  if (Object.values(state.deliveries).some(({ status, cause }) => status === "waiting" && cause)) return false;
  if (looked.failed.length > 0 || pullRequest.draft || pullRequest.mergeable !== true) return false;
  if (!pullRequest.own && !isTrusted(policy.settings.trusted, { ...pullRequest, login: pullRequest.author }))
    return false;
  const green = checks.every(
    ({ commit, status, required }) => commit !== head || !required || status === "success" || status === "neutral",
  );
  return green && isApproved(step, looked);
}

/** CI takes its time to show up. A person who approves has seen what there is; our reviewer waits a little. */
const checksMayComeMs = 60_000;
function mayStillBeChecked({ state, policy, at }: PrStep, { checks, pullRequest }: Looked): boolean {
  if (!policy.settings.review.enabled || checks.some(({ commit }) => commit === pullRequest.head)) return false;
  return at - state.headAt < checksMayComeMs;
}

/** On this very head: by our reviewer where it reviews, else by somebody who is trusted; and nobody trusted objects. */
function isApproved({ state, policy }: PrStep, { remarks, pullRequest }: Looked): boolean {
  const last = new Map<string, SeenRemark>();
  for (const remark of remarks) {
    if (remark.kind !== "review" || remark.own || remark.login === null) continue;
    if (remark.verdict === "commented" || remark.verdict === null) continue;
    if (isTrusted(policy.settings.trusted, remark)) last.set(remark.login, remark);
  }
  const verdicts = [...last.values()];
  if (verdicts.some(({ verdict }) => verdict === "changes_requested")) return false;
  if (policy.settings.review.enabled) return state.passed === pullRequest.head;
  return verdicts.some(({ verdict, commit }) => verdict === "approved" && commit === pullRequest.head);
}
