import type { Finding, FindingSource, Ledger, Rejection, StageReport } from "../finding.js";
import type { RunReport } from "../report.js";
import type { FindingThreshold } from "../settings.js";
import {
  type Close,
  closeFinding,
  dropStages,
  isSettled,
  newFinding,
  rejectFinding,
  reopenFinding,
  reportAgain,
  reportFurther,
} from "./entry.js";
import { KnownFindings } from "./known.js";
import {
  type Candidates,
  type Group,
  groupRemarks,
  matchElsewhere,
  matchMoved,
  matchNear,
  matchPair,
  matchSame,
  matchSimilar,
  matchWords,
  newId,
  rivalsIn,
  splitGroup,
} from "./match.js";
import { isBlocking, isSettledOpinion, isUnanswered, reportsOf } from "./reports.js";
import type { Visit } from "./visit.js";

export { findingId } from "./identity.js";
export { isBlocking } from "./reports.js";

/**
 * The findings of one issue. Nothing is ever removed: a finding closes only because every stage that reports it passed,
 * because its stage failed again without it, or by a waiver. It keeps its id when it comes back.
 */
export interface LedgerChange {
  readonly ledger: Ledger;
  readonly reports: RunReport[];
}

export function emptyLedger(issueId: string): Ledger {
  return { issueId, findings: [] };
}

/**
 * A failing visit of a stage: new findings, known ones again, and the stage's older open ones that it no longer reports,
 * as far as it could have.
 */
export function raise(
  ledger: Ledger,
  visit: Visit,
  couldReport: (finding: Finding) => boolean = () => true,
): LedgerChange {
  const taken = takeIn(ledger, visit);
  const reason = `not reported again by ${visit.stage}, visit ${visit.visit}`;
  const close: Close = { status: "superseded", reason, at: visit.at, commit: visit.commit };
  const swept = change(taken.ledger, close, (finding) => {
    // A reviewer that gave no verdict has not judged what it reported before.
    const judged = visit.source !== "protocol" || finding.source === "protocol";
    const isGone = judged && !taken.reported.has(finding.id) && couldReport(finding);
    return isGone ? dropStages(finding, [visit.stage], close) : finding;
  });
  return { ledger: swept.ledger, reports: [...taken.reports, ...swept.reports] };
}

/** As raise, for a stage that is not finished: its older findings stay as they are. */
export function add(ledger: Ledger, visit: Visit): LedgerChange {
  const { ledger: next, reports } = takeIn(ledger, visit);
  return { ledger: next, reports };
}

/** The stage passed. A finding that another stage reports too stays open until that one passes. */
export function resolveStage(
  ledger: Ledger,
  passed: { readonly stage: string; readonly at: number; readonly commit: string | null },
): LedgerChange {
  const close: Close = { status: "resolved", reason: null, at: passed.at, commit: passed.commit };
  return change(ledger, close, (finding) => dropStages(finding, [passed.stage], close));
}

/** These findings were dealt with, whatever else their stage still has to say. */
export function resolveFindings(
  ledger: Ledger,
  done: { readonly ids: readonly string[]; readonly at: number; readonly commit: string | null },
): LedgerChange {
  const close: Close = { status: "resolved", reason: null, at: done.at, commit: done.commit };
  return change(ledger, close, (finding) => (done.ids.includes(finding.id) ? closeFinding(finding, close) : finding));
}

/** These findings are about nothing any more: whoever raised them took them back, or they went by themselves. */
export function supersedeFindings(
  ledger: Ledger,
  gone: { readonly ids: readonly string[]; readonly reason: string; readonly at: number },
): LedgerChange {
  const close: Close = { status: "superseded", reason: gone.reason, at: gone.at, commit: null };
  return change(ledger, close, (finding) =>
    finding.status === "open" && gone.ids.includes(finding.id) ? closeFinding(finding, close) : finding,
  );
}

/** What these stages looked at goes no further. A finding that another stage reports too stays open until that one passes. */
export function supersedeStages(
  ledger: Ledger,
  gone: { readonly stages: readonly string[]; readonly reason: string; readonly at: number },
): LedgerChange {
  const close: Close = { status: "superseded", reason: gone.reason, at: gone.at, commit: null };
  return change(ledger, close, (finding) => dropStages(finding, gone.stages, close));
}

export interface Waiver {
  readonly ids: readonly string[];
  readonly reason: string;
  readonly at: number;
}

/** A person has decided. */
export function waive(ledger: Ledger, waiver: Waiver): LedgerChange {
  return closeWaived(ledger, waiver, {});
}

/** Nobody has decided: they did not hold up the work, and are not forgotten where they would. */
export function letGo(ledger: Ledger, waiver: Waiver): LedgerChange {
  return closeWaived(ledger, waiver, { letGo: true });
}

function closeWaived(ledger: Ledger, waiver: Waiver, how: Pick<Close, "letGo">): LedgerChange {
  const close: Close = { status: "waived", reason: waiver.reason, at: waiver.at, commit: null, ...how };
  return change(ledger, close, (finding) =>
    finding.status === "open" && waiver.ids.includes(finding.id) ? closeFinding(finding, close) : finding,
  );
}

/** The implementer's objections; whether they hold is said by the reviewers' next verdicts. */
export function reject(ledger: Ledger, rejections: readonly Rejection[]): LedgerChange {
  const reports: RunReport[] = [];
  const findings = ledger.findings.map((finding) => {
    const { id, issue_id, title } = finding;
    const said = rejections.find((one) => isMeant(ledger, one.id, id));
    const next = said ? rejectFinding(finding, said.reason) : finding;
    if (said && next !== finding)
      reports.push({ type: "finding-rejected", issue_id, finding: id, title, reason: said.reason });
    return next;
  });
  return { ledger: { ...ledger, findings }, reports };
}

/** What the implementer objects to without an answer so far; with `said`, only what that is about. */
export function unanswered(ledger: Ledger, said?: readonly Rejection[]): string[] {
  const isAbout = ({ id }: Finding) => said === undefined || said.some((one) => isMeant(ledger, one.id, id));
  return ledger.findings.filter((finding) => isUnanswered(finding) && isAbout(finding)).map(({ id }) => id);
}

/** By its whole id, or by a beginning that no other one has. */
function isMeant({ findings }: Ledger, said: string, id: string): boolean {
  if (findings.some((finding) => finding.id === said)) return id === said;
  return id.startsWith(said) && findings.filter((finding) => finding.id.startsWith(said)).length === 1;
}

/** Opinions that were settled: nobody raises them again without new evidence, in a review where they would not count. */
export function settledFindings(ledger: Ledger, threshold: FindingThreshold): Finding[] {
  return ledger.findings.filter(
    (finding) => isSettledOpinion(finding) && !(finding.let_go && isBlocking(finding.priority, threshold)),
  );
}

/**
 * The commits that checks closed findings on since then went nowhere, all but `base`: those findings are about what is
 * still there. Decisions stand, a person's and a reviewer's that took an objection, and so does what machinery came to.
 */
export function reopenSince(ledger: Ledger, lost: { readonly since: number; readonly base: string }): LedgerChange {
  const reports: RunReport[] = [];
  const findings = ledger.findings.map((finding) => {
    const { status, source, resolved_at: at, resolved_commit: on = null } = finding;
    const isByCheck = status === "resolved" || status === "superseded";
    const isLost = at !== null && at >= lost.since && on !== null && on !== lost.base;
    if (!isByCheck || !isLost || source === "protocol" || isSettledOpinion(finding)) return finding;
    const { stage, reviewer } = finding;
    const open = reopenFinding(finding);
    reports.push(reportOf(open, { stage, reviewer, reopened: true, again: false }));
    return open;
  });
  return { ledger: { ...ledger, findings }, reports };
}

/** These stages are no longer checked, or on that commit no longer say so. */
export function supersedeStage(
  ledger: Ledger,
  gone: {
    readonly stages: readonly string[];
    readonly reason: string;
    readonly at: number;
    readonly commit?: string | null;
  },
): LedgerChange {
  const close: Close = { status: "superseded", reason: gone.reason, at: gone.at, commit: gone.commit ?? null };
  return change(ledger, close, (finding) => dropStages(finding, gone.stages, close));
}

export interface FindingFilter {
  readonly ids?: readonly string[];
  /** Reported by one of these stages, or by one that this is true of. */
  readonly stages?: readonly string[] | ((stage: string) => boolean);
  readonly sources?: readonly FindingSource[];
  /** Only what blocks at this threshold, as those stages report it. */
  readonly blocking?: FindingThreshold;
  /** Leaves out `protocol`: failures of the machinery, which no agent can fix. */
  readonly defects?: boolean;
}
export function openFindings(ledger: Ledger, filter: FindingFilter = {}): Finding[] {
  return ledger.findings.filter(
    (finding) =>
      finding.status === "open" &&
      (filter.ids?.includes(finding.id) ?? true) &&
      reportsOf(finding).some((report) => isWanted(report, filter)) &&
      (filter.sources?.includes(finding.source) ?? true) &&
      !(filter.defects && finding.source === "protocol"),
  );
}

function isWanted({ stage, priority }: StageReport, { stages = () => true, blocking }: FindingFilter): boolean {
  const isOne = typeof stages === "function" ? stages(stage) : stages.includes(stage);
  return isOne && (blocking === undefined || isBlocking(priority, blocking));
}

interface TakenIn extends LedgerChange {
  /** The findings that this visit reports. */
  readonly reported: ReadonlySet<string>;
}
function takeIn(ledger: Ledger, visit: Visit): TakenIn {
  const findings = [...ledger.findings];
  const index = new KnownFindings(findings);
  const positions = new Map(findings.map((finding, position) => [finding, position]));
  const reported = new Set<string>();
  const reports: RunReport[] = [];
  const settle = (group: Group, known: Finding | null): void => {
    const finding = known ? reportGroup(known, visit, group) : raiseGroup(ledger.issueId, index, { visit, group });
    findings[(known && positions.get(known)) ?? findings.length] = finding;
    reported.add(finding.id);
    if (finding !== known) reports.push(...raised(finding, known, { group, stage: visit.stage }));
  };
  // The surest first, so that no remark takes the finding that another one is about.
  let rest = groupRemarks(visit);
  let rivals = rivalsIn(visit, rest);
  let taken: ReadonlySet<string> = new Set();
  const candidates = ([{ remark }]: Group): Candidates => ({
    known: index,
    isFree: (finding) => !reported.has(finding.id),
    visit,
    remark,
    rivals,
    isLeft: (finding) => !taken.has(finding.id),
  });
  const settleBy = (match: (of: Candidates) => Finding | null): void => {
    rest = rest.flatMap((group) => {
      const known = match(candidates(group));
      if (known === null) return [group];
      const { about, others } = splitGroup(candidates(group), group, known);
      if (about) settle(about, known);
      return others ? [others] : [];
    });
  };
  settleBy(matchSame);
  settleBy(matchMoved);
  rivals = rivalsIn(visit, rest);
  settleBy(matchPair);
  rivals = rivalsIn(visit, rest);
  taken = new Set(reported);
  settleBy(matchNear);
  settleBy(matchElsewhere);
  const settledBefore = (group: Group) => {
    const known = matchWords(candidates(group));
    const isOver = known !== null && splitGroup(candidates(group), group, known).others === null;
    return isOver && group.every(({ remark }) => isSettled(known, visit, remark)) ? known : null;
  };
  for (const group of rest) settle(group, matchSimilar(candidates(group)) ?? settledBefore(group));
  return { ledger: { ...ledger, findings }, reports, reported };
}

function raiseGroup(
  issueId: string,
  known: KnownFindings,
  { visit, group }: { readonly visit: Visit; readonly group: Group },
): Finding {
  const [first, ...others] = group;
  const finding = newFinding({ id: newId(known, visit, first.remark), issueId }, visit, first);
  return others.reduce((next, sighting) => reportFurther(next, visit, sighting), finding);
}

/** What opens it again comes first: then the others say something of an open one. */
function reportGroup(known: Finding, visit: Visit, group: Group): Finding {
  const first = group.find(({ remark }) => !isSettled(known, visit, remark)) ?? group[0];
  const finding = reportAgain(known, visit, first);
  const others = group.filter((sighting) => sighting !== first);
  return others.reduce((next, sighting) => reportFurther(next, visit, sighting), finding);
}

/** One report per reviewer that named it in this visit. */
function raised(
  finding: Finding,
  known: Finding | null,
  by: { readonly group: Group; readonly stage: string },
): RunReport[] {
  return [...new Set(by.group.map((sighting) => sighting.reviewer))].map((reviewer, index) =>
    reportOf(finding, {
      stage: by.stage,
      reviewer,
      reopened: index === 0 && known !== null && known.status !== "open",
      again: index > 0 || known?.status === "open",
    }),
  );
}

function reportOf(
  finding: Finding,
  how: { readonly stage: string; readonly reviewer: string; readonly reopened: boolean; readonly again: boolean },
): RunReport {
  const { id, issue_id, source, file, line_start, line_end, priority, title } = finding;
  const { again, ...rest } = how;
  const place = { file, line_start, line_end, priority, title };
  return { type: "finding-raised", issue_id, finding: id, source, ...place, ...rest, ...(again ? { again } : {}) };
}

function change(ledger: Ledger, close: Close, step: (finding: Finding) => Finding): LedgerChange {
  const reports: RunReport[] = [];
  const findings = ledger.findings.map((finding) => {
    const next = finding.status === "open" ? step(finding) : finding;
    if (next.status !== finding.status) {
      const { id, issue_id, title } = next;
      reports.push({
        type: "finding-resolved",
        issue_id,
        finding: id,
        status: close.status,
        title,
        reason: next.reason,
      });
    } else if (next !== finding) reports.push(stillReported(next));
    return next;
  });
  return { ledger: { ...ledger, findings }, reports };
}

/** One of its stages let it go, another has not: said too, because rows are written from reports alone. */
function stillReported(finding: Finding): RunReport {
  const [first] = reportsOf(finding);
  const { stage, reviewer } = first ?? finding;
  return reportOf(finding, { stage, reviewer, again: true, reopened: false });
}
