import type { Finding, Rejection } from "../finding.js";
import { openFindings, unanswered } from "../ledger/ledger.js";
import { triggerName, triggerOf } from "./policy.js";
import { isReviewStage } from "./slots.js";
import type { Step } from "./step.js";
import { carriedFindings } from "./turns.js";

/** Open blocking findings of the issue's review, as it rates them itself; before its first verdict in this life, those that an earlier one left. */
export function blockingReview(step: Step): string[] {
  return step.state.review.judged ? openBlocking(step) : carriedFindings(step);
}

/** Whichever life's review left them. */
export function openBlocking({ ledger, policy }: Step): string[] {
  const blocking = policy.settings.per_issue_review.finding_threshold;
  return openFindings(ledger, { stages: isReviewStage, sources: ["review"], blocking }).map(({ id }) => id);
}

/** Whether anything of that blocks by today's threshold. */
export function isHeldUp(step: Step): boolean {
  const open = openBlocking(step);
  return blockingReview(step).some((id) => open.includes(id));
}

/**
 * The implementer says that something that blocks is wrong, and its reviewer has not answered that: where nothing else has changed,
 * that is what it has to look at. `said`: only by these words.
 */
export function isObjectedTo(step: Step, said?: readonly Rejection[]): boolean {
  const open = openBlocking(step);
  return unanswered(step.ledger, said).some((id) => open.includes(id));
}

/** What blocked when it was left, or blocks today: only a review decides it. */
export function undecided(step: Step): string[] {
  return [...new Set([...blockingReview(step), ...openBlocking(step)])];
}

/** What is open of the review of the trigger that the life is of: what blocks there, and what it found beside. */
export function triggerFindings({ ledger, policy }: Step): Readonly<Record<"blocking" | "beside", readonly Finding[]>> {
  const own = { stages: [triggerName(policy)], sources: ["review"] } as const;
  const threshold = triggerOf(policy)?.code_review?.finding_threshold ?? "none";
  const blocking = openFindings(ledger, { ...own, blocking: threshold });
  return { blocking, beside: openFindings(ledger, own).filter((finding) => !blocking.includes(finding)) };
}
