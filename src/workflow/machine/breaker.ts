import { hashText } from "../../core/ledger/hash.js";
import { openFindings } from "../../core/ledger/ledger.js";
import { noRounds, type StageRecord } from "./state.js";
import type { Step } from "./step.js";

/** Visits of a stage that sets no limit of its own. */
const ownVisits = 100;

/** Loops end: by the stage's visits, by a failure that stays the same, by rounds that mend nothing. Each says what it saw. */
export function isVisitedTooOften(
  step: Step,
  stage: { readonly id: string; readonly maxVisits: number | null },
): boolean {
  const limit = stage.maxVisits ?? ownVisits;
  const { visits: all, askedAgain = 0, reason } = step.record(stage.id);
  const visits = all - askedAgain;
  if (visits < limit) return false;
  const whose = stage.maxVisits === null ? ", the limit of stages that set none" : "";
  const last = reason === undefined ? "" : `; its last failure: ${reason}`;
  step.halt({
    status: "fail",
    stage: stage.id,
    reason: `stage ${stage.id} is reached once more after ${visits} visits (max_visits ${limit}${whose})${last}`,
  });
  return true;
}

/** Longer texts come with a digest of their own. */
const comparedCharacters = 10_000;

export function digestOf(text: string): string {
  return hashText(stableText(text).slice(0, comparedCharacters));
}

/** What a failure is compared by: durations and addresses change from one time to the next, the rest does not. */
export function stableText(text: string): string {
  return text
    .toLowerCase()
    .replace(/\b\d+(\.\d+)?\s*(ms|s|sec|secs|seconds?|minutes?)\b/g, "")
    .replace(/0x[0-9a-f]+/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

/** The record's row of equal failures, with this one. */
export function countSame(record: StageRecord, digest: string | null): StageRecord["same"] {
  if (digest === null) return undefined;
  return { digest, count: record.same?.digest === digest ? record.same.count + 1 : 1 };
}

export function stopSameFailure(step: Step, stage: string): void {
  const { same, reason } = step.record(stage);
  const limit = step.policy.settings.convergence.same_failure;
  if (same === undefined || limit < 1 || same.count < limit) return;
  const told = reason === undefined ? "" : `: ${reason}`;
  step.halt({
    status: "fail",
    stage,
    reason: `stage ${stage} failed ${same.count} times in a row with the same failure${told}`,
  });
}

/**
 * A stage is about to be given the findings. What counts is how many stages have any: a stage that fails again keeps its
 * older ones, which is no step back.
 */
export function stopIdleRounds(step: Step, stage: string) {
  const open = openFindings(step.ledger, { defects: true }).filter(({ order }) => order !== undefined);
  const failing = new Set(open.map((finding) => finding.stage));
  const { best, stale, judged } = step.state.rounds;
  if (!judged) return;
  if (failing.size === 0) return step.set({ rounds: noRounds });
  const isFewer = best === null || failing.size < best;
  const rounds = isFewer ? { best: failing.size, stale: 0 } : { best, stale: stale + 1 };
  step.set({ rounds: { ...rounds, judged: false } });
  const limit = step.policy.settings.convergence.rounds_without_fewer_findings;
  if (isFewer || limit < 1 || stale + 1 < limit) return;
  const names = [...failing].slice(0, 10).join(", ");
  step.halt({
    status: "fail",
    stage,
    reason: `${stale + 1} rounds without fewer findings; still open in: ${names}`,
  });
}
