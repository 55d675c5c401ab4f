import type { Finding, Priority, StageReport } from "../finding.js";

/** Who still reports a finding; nobody once it is closed. */
export function reportsOf(finding: Finding): readonly StageReport[] {
  if (finding.status !== "open") return [];
  return finding.stages ?? [{ stage: finding.stage, reviewer: finding.reviewer, priority: finding.priority }];
}

/** For sorting: smaller is worse, no priority comes last. */
export function severity(priority: Priority): number {
  return priority ?? Number.POSITIVE_INFINITY;
}

export function worstPriority(reports: readonly StageReport[]): Priority {
  const given = reports.flatMap((report) => (report.priority === null ? [] : [report.priority]));
  return given.length > 0 ? Math.min(...given) : null;
}
