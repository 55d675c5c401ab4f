import type { Finding, Priority, StageReport } from "../finding.js";
import type { FindingThreshold } from "../settings.js";

/** Who still reports a finding; nobody once it is closed. */
export function reportsOf(finding: Finding): readonly StageReport[] {
  if (finding.status !== "open") return [];
  return finding.stages ?? [{ stage: finding.stage, reviewer: finding.reviewer, priority: finding.priority }];
}

/** Not a fact: whether it is right is for people to say. */
export function isOpinion({ source }: Finding): boolean {
  return source === "review" || source === "pr-comment";
}

/** Waived, or dropped by its reviewer after the implementer's objection. */
export function isSettledOpinion(finding: Finding): boolean {
  return finding.status !== "open" && isOpinion(finding) && (finding.status === "waived" || Boolean(finding.rejected));
}

/** The implementer objects, and no reviewer has answered that yet. */
export function isUnanswered({ status, rejected, repeated }: Finding): boolean {
  return status === "open" && Boolean(rejected) && !repeated;
}

/** For sorting: smaller is worse, no priority comes last. */
export function severity(priority: Priority): number {
  return priority ?? Number.POSITIVE_INFINITY;
}

/** `none` still lets P0 and P1 block; a finding without a priority never blocks. */
export function isBlocking(priority: Priority, threshold: FindingThreshold): boolean {
  if (priority === null) return false;
  return priority <= (threshold === "none" ? 1 : Number(threshold.slice(1)));
}

export function worstPriority(reports: readonly StageReport[]): Priority {
  const given = reports.flatMap((report) => (report.priority === null ? [] : [report.priority]));
  return given.length > 0 ? Math.min(...given) : null;
}
