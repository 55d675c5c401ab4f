import type { EarlierVisit, Finding, FindingStatus, OtherReport, Remark, StageReport } from "../finding.js";
import { otherTitles, titlesOf } from "./identity.js";
import type { Sighting } from "./match.js";
import { isBlocking, isOpinion, isSettledOpinion, reportsOf, severity, worstPriority } from "./reports.js";
import type { Visit } from "./visit.js";
import { isToldByOther, othersBeside, tellerOf, toReport, wordsOf } from "./words.js";

/**
 * The life of one finding: open → resolved | superseded | waived → open again. `stages` lists who still reports it: it is
 * open exactly as long as that list is not empty. The text, place, visit and commit are one visit's, never mixed.
 */
export function newFinding(
  name: { readonly id: string; readonly issueId: string },
  visit: Visit,
  sighting: Sighting,
): Finding {
  return {
    id: name.id,
    issue_id: name.issueId,
    source: visit.source,
    ...textOf(visit, sighting),
    reviewers: [sighting.reviewer],
    ...authorsOf(undefined, visit),
    priority: sighting.remark.priority,
    status: "open",
    reason: null,
    resolved_at: null,
    stages: [stageReport(visit, sighting)],
    earlier: [],
    reopened: 0,
    resolved_commit: null,
  };
}

/** The same finding, reported by a visit. The text becomes the visit's unless another, the first reporter, still reports it. */
export function reportAgain(finding: Finding, visit: Visit, sighting: Sighting): Finding {
  if (isSettled(finding, visit, sighting.remark)) return finding;
  const { let_go: _, also: __, also_reported: ___, author, rejected, repeated: ____, ...kept } = finding;
  const isTold = isToldByOther(finding, visit);
  const stages = withReport(reportsOf(finding), stageReport(visit, sighting));
  const others = othersBeside(finding, visit);
  return {
    ...kept,
    ...(isTold ? (author === undefined ? {} : { author }) : textOf(visit, sighting)),
    earlier: isTold ? (finding.earlier ?? []) : withEarlier(finding, visit),
    ...alsoSaid(finding, sighting, isTold),
    ...alsoReported(isTold ? [...others, toReport(textOf(visit, sighting), sighting.remark.priority)] : others),
    reviewers: withReviewer(finding, sighting),
    ...authorsOf(finding, visit),
    priority: worstPriority(stages),
    stages,
    status: "open",
    reason: null,
    resolved_at: null,
    resolved_commit: null,
    // Whoever reports it again has heard the objection; what was closed since is another matter.
    ...(rejected || (rejected === null && finding.status === "open") ? { rejected: null } : {}),
    reopened: (finding.reopened ?? 0) + (finding.status === "open" ? 0 : 1),
  };
}

/** A second reviewer's word within the visit that has just reported it. */
export function reportFurther(finding: Finding, visit: Visit, sighting: Sighting): Finding {
  if (isSettled(finding, visit, sighting.remark)) return finding;
  if (finding.status !== "open") return reportAgain(finding, visit, sighting);
  const stages = reportsOf(finding).map((report) =>
    report.stage === visit.stage
      ? { ...report, priority: worstPriority([report, stageReport(visit, sighting)]) }
      : report,
  );
  const { also_reported: others = [] } = finding;
  const isKnown = [finding, ...others].some(
    (one) => tellerOf(one) === tellerOf(visit) && one.reviewer === sighting.reviewer,
  );
  return {
    ...finding,
    ...alsoSaid(finding, sighting, true),
    ...alsoReported(isKnown ? others : [...others, toReport(textOf(visit, sighting), sighting.remark.priority)]),
    reviewers: withReviewer(finding, sighting),
    priority: worstPriority(stages),
    stages,
  };
}

/** These stages no longer report it; when none is left it closes as `close` says. */
export function dropStages(finding: Finding, stages: readonly string[], close: Close): Finding {
  const reports = reportsOf(finding);
  const left = reports.filter((report) => !stages.includes(report.stage));
  if (left.length === reports.length) return finding;
  if (left.length > 0) return { ...finding, stages: left, priority: worstPriority(left) };
  return closeFinding(finding, close);
}

export interface Close {
  readonly status: Exclude<FindingStatus, "open">;
  readonly letGo?: boolean;
  readonly reason: string | null;
  readonly at: number;
  readonly commit: string | null;
}
export function closeFinding(finding: Finding, close: Close): Finding {
  return {
    ...finding,
    ...(close.status === "waived" ? whatIsSaid(finding) : {}),
    status: close.status,
    reason: finding.rejected && close.status !== "waived" ? `rejected: ${finding.rejected}` : close.reason,
    resolved_at: close.at,
    resolved_commit: close.commit,
    ...(close.letGo ? { let_go: true } : {}),
    stages: [],
  };
}

/** What closed it does not count: it is open as its last report says. */
export function reopenFinding(finding: Finding): Finding {
  const [own, ...others] = wordsOf(finding);
  const reports = [...others, own].map(({ stage, reviewer, priority }) => ({ stage, reviewer, priority }));
  const stages = reports.reduce<StageReport[]>(withReport, []);
  return {
    ...finding,
    status: "open",
    reason: null,
    resolved_at: null,
    resolved_commit: null,
    stages,
    priority: worstPriority(stages),
    reopened: (finding.reopened ?? 0) + 1,
  };
}

/**
 * A person's waiver of an opinion, and an objection that its reviewer accepted, hold until it is reported as worse or
 * with new evidence; a command that fails again is a fact. What Ratchet let go itself is settled where it does not block.
 */
export function isSettled(finding: Finding, visit: Visit, { priority, newEvidence }: Remark): boolean {
  if (newEvidence || !isSettledOpinion(finding)) return false;
  if (finding.let_go && visit.threshold !== undefined && isBlocking(priority, visit.threshold)) return false;
  return severity(priority) >= severity(finding.priority);
}

/** The implementer says that it is wrong: the same finding, where that can be said of it. */
export function rejectFinding(finding: Finding, reason: string): Finding {
  if (finding.status !== "open" || !isOpinion(finding)) return finding;
  return {
    ...finding,
    ...whatIsSaid(finding),
    rejected: reason,
    ...(finding.rejected === null ? { repeated: true } : {}),
  };
}

/** A decision is about what was said when it was made: words that were let go before are not settled by it. */
function whatIsSaid(finding: Finding): Pick<Finding, "also_reported"> {
  return finding.also_reported ? { also_reported: wordsOf(finding).slice(1) } : {};
}

function stageReport(visit: Visit, sighting: Sighting): StageReport {
  return { stage: visit.stage, reviewer: sighting.reviewer, priority: sighting.remark.priority };
}

function withReport(reports: readonly StageReport[], added: StageReport): StageReport[] {
  const isKnown = reports.some((report) => report.stage === added.stage);
  if (!isKnown) return [...reports, added];
  return reports.map((report) => (report.stage === added.stage ? added : report));
}

function alsoReported(others: readonly OtherReport[]): Pick<Finding, "also_reported"> {
  return others.length > 0 ? { also_reported: others } : {};
}

/** What it is called besides: by those whose words are not its text. */
function alsoSaid(finding: Finding, { remark }: Sighting, isTold: boolean): Pick<Finding, "also"> {
  const also = otherTitles([...titlesOf(finding), remark.title], isTold ? finding.title : remark.title);
  return also.length > 0 ? { also } : {};
}

function withReviewer(finding: Finding, sighting: Sighting): readonly string[] {
  return [...new Set([...finding.reviewers, sighting.reviewer])];
}

/** All that ever reported it: what one has let go, another may still report. */
function authorsOf(finding: Finding | undefined, { author }: Visit): Pick<Finding, "authors"> {
  return author === undefined ? {} : { authors: [...new Set([...(finding?.authors ?? []), author])] };
}

function textOf(visit: Visit, { remark, reviewer }: Sighting) {
  return {
    stage: visit.stage,
    reviewer,
    outcome: visit.outcome,
    file: remark.file,
    line_start: remark.line_start,
    line_end: remark.line_end,
    title: remark.title,
    body: remark.body,
    visit: visit.visit,
    raised_at: visit.at,
    commit: visit.commit,
    run_id: visit.runId,
    ...(visit.author === undefined ? {} : { author: visit.author }),
  };
}

function withEarlier(finding: Finding, visit: Visit): readonly EarlierVisit[] {
  const earlier = finding.earlier ?? [];
  if (finding.stage === visit.stage && finding.visit === visit.visit && finding.run_id === visit.runId) return earlier;
  return [
    ...earlier,
    { stage: finding.stage, visit: finding.visit, outcome: finding.outcome, raised_at: finding.raised_at },
  ];
}
