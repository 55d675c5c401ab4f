import type { Finding, OtherReport, Priority, Text } from "./finding.js";
import { otherWordsOf } from "./ledger/words.js";

/** A finding as others read it: `findings --json` is an array of these. */
export interface FindingJson {
  readonly id: string;
  readonly issue_id: string;
  readonly source: Finding["source"];
  readonly stage: string;
  readonly reviewer: string;
  readonly reviewers: readonly string[];
  readonly outcome: Finding["outcome"];
  readonly file: string;
  readonly line_start: number;
  readonly line_end: number;
  readonly priority: Priority;
  readonly title: string;
  readonly body: string;
  readonly visit: number;
  readonly status: Finding["status"];
  readonly reason: string | null;
  readonly raised_at: string;
  readonly resolved_at: string | null;
  readonly commit: string | null;
  readonly run_id: string;
  /** What others who report it say in other words. */
  readonly also_reported: readonly OtherReportJson[];
}
type OtherReportJson = Omit<OtherReport, "author" | "body"> & { readonly body: string };

/** `wholeOf`: the whole text, read by the caller where the finding only refers to it. */
export function toFindingJson(finding: Finding, wholeOf: (body: Text) => string): FindingJson {
  const { id, issue_id, source, stage, reviewer, reviewers, outcome } = finding;
  const { file, line_start, line_end, priority, title, visit, status, reason, commit, run_id } = finding;
  return {
    ...{ id, issue_id, source, stage, reviewer, reviewers, outcome },
    ...{ file, line_start, line_end, priority, title, body: wholeOf(finding.body), visit, status, reason },
    raised_at: toTime(finding.raised_at),
    resolved_at: finding.resolved_at === null ? null : toTime(finding.resolved_at),
    ...{ commit, run_id },
    also_reported: otherWordsOf(finding).map(({ author: _, body, ...one }) => ({ ...one, body: wholeOf(body) })),
  };
}

function toTime(at: number): string {
  return new Date(at).toISOString();
}
