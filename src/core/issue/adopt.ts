import type { Finding, Ledger, Remark } from "../finding.js";
import { openFindings, raise, resolveStage, supersedeStage } from "../ledger/ledger.js";
import type { FindingThreshold } from "../settings.js";
import { isReviewStage, perIssueReview } from "./slots.js";

/** How a life of the issue ended that was lived elsewhere, as far as its review goes. */
export interface AdoptedLife {
  readonly runId: string;
  readonly succeeded: boolean;
  /** It went on in a session and names what is left itself: what it does not name is left of nothing any more. */
  readonly wentOn?: boolean;
  /** What its last failed review left. */
  readonly remarks: readonly Remark[];
  /** It names what blocked there, and nothing else. */
  readonly threshold: FindingThreshold;
  /** Runs whose records have told what is known of the issue: whatever they named, another record names too. */
  readonly toldBy: ReadonlySet<string>;
  /** Rounds of review it had. */
  readonly rounds: number;
  readonly commit: string | null;
  readonly at: number;
}

/** The ledger after a life that was lived elsewhere: as if its last review had been seen here. */
export function adoptLife(ledger: Ledger, life: AdoptedLife): Ledger {
  const { runId, remarks, commit, at } = life;
  if (life.succeeded) return passReview(ledger, life);
  if (remarks.length === 0) {
    const reason = `not named by the later run ${runId}`;
    return life.wentOn ? supersedeStage(ledger, { stages: reviewStages(ledger), reason, at }).ledger : ledger;
  }
  const visit = Math.max(1, life.rounds);
  const who = { stage: perIssueReview, source: "review", reviewer: "unknown", outcome: "fail" } as const;
  return raise(ledger, { ...who, visit, at, commit, runId, remarks }, (finding) => couldName(life, finding)).ledger;
}

/** Its review passed: that resolves what it could have known of. */
function passReview(ledger: Ledger, life: AdoptedLife): Ledger {
  const { at, commit } = life;
  const stages = reviewStages(ledger);
  const known: Ledger = { ...ledger, findings: ledger.findings.filter((finding) => couldName(life, finding, stages)) };
  const passed = stages.reduce((next, stage) => resolveStage(next, { stage, at, commit }).ledger, known);
  const now = new Map(passed.findings.map((finding) => [finding.id, finding]));
  return { ...ledger, findings: ledger.findings.map((finding) => now.get(finding.id) ?? finding) };
}

/** What was found here and does not block is in no record: that this one has it not says nothing. */
function couldName(
  { threshold, toldBy }: AdoptedLife,
  finding: Finding,
  stages: readonly string[] = [perIssueReview],
): boolean {
  if (finding.source !== "review" || toldBy.has(finding.run_id)) return true;
  const alone = { issueId: finding.issue_id, findings: [finding] };
  return openFindings(alone, { stages, blocking: threshold }).length > 0;
}

function reviewStages(ledger: Ledger): string[] {
  const stages = ledger.findings.flatMap(({ stage, stages = [] }) => [stage, ...stages.map((report) => report.stage)]);
  return [...new Set(stages)].filter(isReviewStage);
}
