import type { Finding } from "../finding.js";
import { openFindings, reopenSince, supersedeFindings, supersedeStages } from "../ledger/ledger.js";
import type { ReviewSettings } from "../settings.js";
import { triggerFindings } from "./blocking.js";
import { closeOthers } from "./ledger-parts.js";
import { triggerName } from "./policy.js";
import type { IssueState } from "./state.js";
import type { Step } from "./step.js";

/**
 * What a trigger's fixers committed and could not land is parked: no verdict on it says anything about the branch. What
 * such verdicts have closed is open again, what kept it from landing is about nothing any more, nor is what a command, or
 * a review beside, found in it alone, and the next review begins no later than this one did.
 */
export function isUnlanded({ work, baseSha, ending }: IssueState): boolean {
  return work !== null && work.head !== baseSha && !ending?.commit;
}

export const parked = "the commits it was found in are parked";

export function settleUnlanded(step: Step): void {
  const { startedAt: since, baseSha: base } = step.state;
  if (!isUnlanded(step.state)) return;
  step.apply(reopenSince(step.ledger, { since, base }));
  step.apply(supersedeStages(step.ledger, { stages: ["gate", "merge"], reason: parked, at: step.at }));
  dropRepairFailures(step);
  const { beside } = triggerFindings(step);
  const ids = beside.filter((finding) => isOfRepair(step.state, finding)).map(({ id }) => id);
  step.apply(supersedeFindings(step.ledger, { ids, reason: parked, at: step.at }));
  takeBackPass(step);
}

/** What a trigger of the run looks at is what has landed, without a fixer's commits. */
export function isOnBase({ state, policy }: Step): boolean {
  return policy.trigger !== undefined && state.work?.head === state.baseSha;
}

function dropRepairFailures(step: Step): void {
  const { failedOnBase: keep, sessionEndRuns: visit } = step.state;
  if (keep === undefined) return;
  closeOthers(step, triggerName(step.policy), { keep, passed: false, visit, sources: ["command"], reason: parked });
}

/** What is open of the trigger's commands. */
export function failedCommands({ ledger, policy }: Step): string[] {
  return openFindings(ledger, { stages: [triggerName(policy)], sources: ["command"] }).map(({ id }) => id);
}

/** Its reviewers had all judged what has landed before they, or anybody, first reported it. */
function isOfRepair({ judgedBaseAt }: IssueState, { raised_at, earlier = [] }: Finding): boolean {
  if (judgedBaseAt === undefined) return false;
  return [raised_at, ...earlier.map((visit) => visit.raised_at)].every((at) => at > judgedBaseAt);
}

/** A pass of it is none of the branch. */
function takeBackPass(step: Step): void {
  const { concluded } = step.state;
  if (!concluded?.review?.ran) return;
  const { blocking, beside } = triggerFindings(step);
  const findings = [...blocking, ...beside].map(({ id }) => id);
  step.set({ concluded: { ...concluded, review: { ran: true, passed: false, findings } } });
}

/**
 * How far the review of a trigger that has ended came; null: nothing is known that was not before. One that came to no
 * verdict, or had nothing to look at, came to where it began: the next goes on from there, whatever is merged in between.
 */
export function reviewedUpTo(state: IssueState, baseline: ReviewSettings["baseline"]): string | null {
  const { concluded, work, baseSha, reviewBase } = state;
  if (concluded?.judged && concluded.review?.ran && !isUnlanded(state)) return work?.head ?? baseSha;
  return baseline === "since_last_review" && reviewBase !== "" ? reviewBase : null;
}
