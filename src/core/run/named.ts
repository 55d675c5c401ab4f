import type { IssueStart, RunEvent } from "./effects.js";
import { isEnding, type RunStep } from "./step.js";

/**
 * Whoever names issues is told of each that did not run, and why. That is looked at when all else is over: what one waited
 * for may have failed or been stopped in this very run. What could not run is no success.
 */
export function noteNamed(step: RunStep): void {
  const { scope, only } = step.policy;
  // What a person has landed or pushed is told by whoever asked for it.
  if (scope.type === "ids" && only !== "land" && only !== "push") step.set({ unbegun: scope.ids });
}

/** An item of its pull request is work on the issue, too. */
export function noteBegun(step: RunStep, { issueId, item }: Pick<IssueStart, "issueId" | "item">): void {
  const { unbegun } = step.state;
  const begun = [issueId, item?.issueId];
  if (unbegun?.some((id) => begun.includes(id))) step.set({ unbegun: unbegun.filter((id) => !begun.includes(id)) });
}

/** Somebody else claimed it first. */
export function noteLost(step: RunStep, issueId: string): void {
  const { unbegun } = step.state;
  const { scope } = step.policy;
  if (unbegun && scope.type === "ids" && scope.ids.includes(issueId)) step.set({ unbegun: [...unbegun, issueId] });
}

const key = "named";

/** True: the run cannot end yet. Not after a pick that broke: there is nobody to ask. */
export function looksAtNamed(step: RunStep): boolean {
  const { unbegun = [], namedLook, closed, phase } = step.state;
  if (namedLook !== undefined) return namedLook === "owed";
  if (unbegun.length === 0 || closed || phase !== "running") return false;
  step.set({ namedLook: "owed" });
  step.owe({ kind: "named", key, ids: unbegun });
  return true;
}

export function isNamedLook({ state }: RunStep, asked: string): boolean {
  return asked === key && state.namedLook === "owed";
}

export function namedSeen(step: RunStep, event: Extract<RunEvent, { type: "named-seen" }>): void {
  if (!isNamedLook(step, event.key)) return;
  const stuck = event.left.filter(({ reason }) => reason !== null).length;
  step.set({ namedLook: "over", unbegun: [], ...(stuck > 0 ? { stuck } : {}) });
  const end = whyItEnded(step);
  for (const { issueId, reason } of event.left) step.log("warn", `${issueId} did not run: ${reason ?? end}`);
}

/** What kept the run from an issue that could have run. */
function whyItEnded({ state, policy: { maxIssues } }: RunStep): string {
  const { stopping, aborting, draining, budget, started } = state;
  if (stopping) return "the run was stopped";
  if (aborting) return "the run was aborted";
  if (draining) return "the run was drained";
  if (budget !== undefined) return `the run's budget is used up: ${budget}`;
  if (maxIssues !== null && started >= maxIssues) return `max_issues is ${maxIssues}, and others were taken before it`;
  return "the run ended before it";
}

/** Whether they have been done nobody knows. */
export function namedBroke(step: RunStep, event: Extract<RunEvent, { type: "crashed" }>): boolean {
  if (!isNamedLook(step, event.key)) return false;
  step.set({ namedLook: "over", unbegun: [] });
  return true;
}

/** A run that did nothing says why: whoever started it saw an issue that was ready. */
export function sayLost(step: RunStep): void {
  const { started, lost, external } = step.state;
  const [first, ...more] = lost;
  if (first === undefined || started > 0 || external || isEnding(step.state)) return;
  const which = more.length === 0 ? first : `${first} and ${more.length} more`;
  step.log("info", `Nothing was worked on: somebody else has claimed ${which} first`);
}
