import type { Looked, SeenRemark } from "./events.js";
import type { PrStep } from "./step.js";
import { isTrusted } from "./trust.js";

/** Merges when it may; each head is tried once. A pull request of somebody who is not trusted is left to a person. */
export function considerMerge(step: PrStep, looked: Looked): void {
  const { merge } = step.policy.settings;
  if (merge === "none" || !mayMerge(step, looked)) return;
  const { head } = looked.pullRequest;
  step.set({ mergeTried: head });
  step.task({ kind: "merge", method: merge, head });
}

function mayMerge(step: PrStep, looked: Looked): boolean {
  const { state, policy } = step;
  const { pullRequest, checks } = looked;
  const { head } = pullRequest;
  if (state.working !== null || state.escalated || state.mergeTried === head) return false;
  if (Object.values(state.deliveries).some(({ status, cause }) => status === "waiting" && cause)) return false;
  if (looked.failed.length > 0 || pullRequest.draft || pullRequest.mergeable !== true) return false;
  if (!pullRequest.own && !isTrusted(policy.settings.trusted, { ...pullRequest, login: pullRequest.author }))
    return false;
  const green = checks.every(
    ({ commit, status, required }) => commit !== head || !required || status === "success" || status === "neutral",
  );
  return green && isApproved(step, looked);
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
