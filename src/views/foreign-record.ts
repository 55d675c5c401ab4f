import { repositoryPath } from "../core/ledger/identity.js";
import type { IssueRecord, RunRecord } from "../core/record.js";
import type { IssueStatus, RunStatus, SessionEndResult } from "../core/report.js";
import { toSessionId } from "../core/session-id.js";
import type { FindingThreshold, Settings } from "../core/settings.js";
import { readStoredReviewIssues } from "./record.js";

/**
 * A run's record from a file that somebody else wrote: Ratchet's own, of whatever version, or mala's. Unknown keys are
 * ignored, missing and misshapen ones get their defaults. What was still running when the file was written is
 * interrupted here: nobody drives it.
 */
export interface ForeignRun {
  readonly run: Omit<RunRecord, "issues" | "project_id">;
  readonly issues: readonly IssueRecord[];
  /** From which priority on its findings blocked; where it does not say, the usual. */
  readonly threshold: FindingThreshold;
  readonly leftOut: LeftOut;
}

/** What is no object, and so nothing that could be kept. */
interface LeftOut {
  readonly issues: number;
  /** Of `last_review_issues`, by the issue's id. */
  readonly findings: ReadonlyMap<string, number>;
}
type Fields = Readonly<Record<string, unknown>>;

/** When a run or the work of a record began that tells no time: before all that is known otherwise. */
export const unknownTime = new Date(0).toISOString();

/** A text instead of a run: why there is none. */
export function readForeignRun(value: unknown, here: { readonly repoPath: string }): ForeignRun | string {
  if (!isFields(value)) return "it is no run record: not a JSON object";
  if (value.run_id === undefined) return "it is no run record: run_id is missing";
  const runId = text(value.run_id);
  if (runId === null || !/^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/.test(runId))
    return "run_id is no id: a text of letters, digits, . _ - is";
  if (runId === "last") return "run_id is last, which is the word for the newest run";
  const completed = time(value.completed_at);
  const started = time(value.started_at) ?? completed;
  const roots = [text(value.repo_path), here.repoPath].flatMap((root) => (root === null ? [] : [root]));
  const named = namedIssues(value.issues);
  const byId = new Map(named.flatMap(([id, issue]) => (id !== "" && isFields(issue) ? [[id, issue]] : [])));
  const issues = [...byId].map(([id, issue]) => readIssue(id, issue, { started, completed, roots }));
  return {
    run: {
      run_id: runId,
      started_at: started ?? firstOf(issues) ?? unknownTime,
      completed_at: completed,
      version: text(value.version) ?? "",
      repo_path: here.repoPath,
      status: runStatus(value.status, { completed, issues }),
      exit_code: whole(value.exit_code),
      target_branch: text(value.target_branch) ?? "",
      run_start_commit: text(value.run_start_commit) ?? "",
      // Only ever printed again: an imported run is not driven.
      config: fields(value.config) as unknown as Settings,
      run_end: readRunEnd(value.run_end),
      ...(isFields(value.trigger_usage) ? { trigger_usage: readUsage(value.trigger_usage) } : {}),
    },
    issues,
    threshold: readThreshold(fields(fields(value.config).per_issue_review).finding_threshold),
    leftOut: { issues: named.length - byId.size, findings: findingsLeftOut(byId) },
  };
}

function readThreshold(value: unknown): FindingThreshold {
  return value === "P0" || value === "P1" || value === "P2" || value === "P3" ? value : "none";
}

/** By id, whether that is a key or in the record itself; of what nobody can tell the id it is "". */
function namedIssues(value: unknown): readonly (readonly [string, unknown])[] {
  if (isFields(value)) return Object.entries(value);
  return [value ?? []].flat().map((one) => [text(fields(one).issue_id) ?? "", one]);
}

function findingsLeftOut(issues: ReadonlyMap<string, Fields>): LeftOut["findings"] {
  return new Map(
    [...issues].flatMap(([id, { last_review_issues: given }]): [string, number][] =>
      Array.isArray(given) ? [[id, given.filter((one) => !isFields(one)).length]] : [],
    ),
  );
}

function firstOf(issues: readonly IssueRecord[]): string | undefined {
  const told = issues.map(({ started_at }) => started_at).filter((at) => at !== unknownTime);
  return told.sort()[0];
}

interface Within {
  readonly started: string | null;
  readonly completed: string | null;
  /** Where absolute paths in it may begin. */
  readonly roots: readonly string[];
}

function readIssue(id: string, issue: Fields, { started, completed, roots }: Within): IssueRecord {
  const status = issueStatus(issue.status);
  const error = text(issue.error);
  const finished = time(issue.finished_at) ?? completed;
  const reviewBase = sha(issue.review_base);
  const unmerged = sha(issue.unmerged);
  return {
    issue_id: id,
    title: text(issue.title) ?? "",
    status,
    message: text(issue.message) ?? error ?? "",
    error: error ?? (issue.status === "timeout" ? "turn_timeout" : null),
    session_id: toSessionId(issue.session_id),
    agent: text(issue.agent) ?? "",
    branch: text(issue.branch),
    worktree_path: text(issue.worktree_path),
    base_sha: sha(issue.base_sha),
    ...(reviewBase === null ? {} : { review_base: reviewBase }),
    ...(unmerged === null ? {} : { unmerged }),
    commit: sha(issue.commit),
    resolution: readResolution(issue.resolution),
    gate_attempts: count(issue.gate_attempts),
    review_attempts: count(issue.review_attempts),
    session_end_attempts: count(issue.session_end_attempts),
    evidence_check: readEvidence(fields(issue.evidence_check)),
    session_end_result: readSessionEnd(issue.session_end_result),
    last_review_issues: readReviewIssues(issue.last_review_issues, roots),
    findings: { open: count(fields(issue.findings).open), resolved: count(fields(issue.findings).resolved) },
    usage: readUsage(fields(issue.usage)),
    duration_seconds: Math.max(0, number(issue.duration_seconds) ?? 0),
    started_at: time(issue.started_at) ?? started ?? finished ?? unknownTime,
    finished_at: finished,
  };
}

function readReviewIssues(value: unknown, roots: readonly string[]): IssueRecord["last_review_issues"] {
  const named = readStoredReviewIssues(value);
  return named?.map((issue) => ({ ...issue, file: repositoryPath(issue.file, roots) })) ?? null;
}

function issueStatus(value: unknown): IssueStatus {
  if (value === "success" || value === "failed" || value === "escalated") return value;
  return value === "timeout" ? "failed" : "interrupted";
}

function runStatus(
  value: unknown,
  run: { readonly completed: string | null; readonly issues: readonly IssueRecord[] },
): RunStatus {
  if (value === "succeeded" || value === "failed" || value === "aborted" || value === "interrupted") return value;
  if (run.completed === null || value === "running") return "interrupted";
  return run.issues.every(({ status }) => status === "success") ? "succeeded" : "failed";
}

function readResolution(value: unknown): IssueRecord["resolution"] {
  const outcome = text(fields(value).outcome);
  return outcome === null ? null : { outcome, rationale: text(fields(value).rationale) ?? "" };
}

function readEvidence(value: Fields): IssueRecord["evidence_check"] {
  const evidence = Object.entries(fields(value.evidence)).filter(
    (entry): entry is [string, boolean] => typeof entry[1] === "boolean",
  );
  return {
    passed: value.passed === true,
    evidence: Object.fromEntries(evidence),
    failure_reasons: list(value.failure_reasons).filter((one) => typeof one === "string"),
  };
}

function readUsage(value: Fields): IssueRecord["usage"] {
  const { input_tokens, output_tokens, cost_usd } = value;
  return { input_tokens: count(input_tokens), output_tokens: count(output_tokens), cost_usd: number(cost_usd) };
}

const sessionEndStatuses = ["pass", "fail", "timeout", "interrupted", "skipped"] as const;

function readSessionEnd(value: unknown): SessionEndResult | null {
  const result = fields(value);
  const status = sessionEndStatuses.find((one) => one === result.status);
  if (status === undefined) return null;
  return {
    status,
    reason: text(result.reason),
    started_at: time(result.started_at),
    finished_at: time(result.finished_at),
    commands: readCommands(result.commands),
    code_review_result: readCodeReview(result.code_review_result),
  };
}

function readRunEnd(value: unknown): RunRecord["run_end"] {
  const result = readSessionEnd(value);
  if (result === null || result.status === "timeout" || result.status === "interrupted") return null;
  const { status, reason, commands, code_review_result } = result;
  const message = isFields(value) ? text(value.message) : null;
  return { status, reason, ...(message === null ? {} : { message }), commands, code_review_result };
}

function readCommands(value: unknown): SessionEndResult["commands"] {
  return list(value)
    .filter(isFields)
    .map((command) => ({
      ref: text(command.ref) ?? "",
      command: text(command.command) ?? "",
      passed: command.passed === true,
      exit_code: whole(command.exit_code),
      timed_out: command.timed_out === true,
      duration_seconds: Math.max(0, number(command.duration_seconds) ?? 0),
      output_path: text(command.output_path) ?? "",
      ...(command.allowed === true ? { allowed: true } : {}),
    }));
}

function readCodeReview(value: unknown): SessionEndResult["code_review_result"] {
  if (!isFields(value)) return null;
  const findings = list(value.findings).filter((one) => typeof one === "string");
  return { ran: value.ran === true, passed: value.passed === true, findings };
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
function fields(value: unknown): Fields {
  return isFields(value) ? value : {};
}
function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
function number(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
function whole(value: unknown): number | null {
  return Number.isSafeInteger(value) ? number(value) : null;
}
function count(value: unknown): number {
  return Math.max(0, whole(value) ?? 0);
}
function sha(value: unknown): string | null {
  return typeof value === "string" && /^[0-9a-f]{40,64}$/.test(value) ? value : null;
}
/** As Ratchet writes times, so that they can be compared as texts. */
function time(value: unknown): string | null {
  const at = typeof value === "string" ? Date.parse(value) : sinceEpoch(number(value) ?? 0);
  return Number.isNaN(at) ? null : new Date(at).toISOString();
}
/** Seconds or milliseconds since 1970, which from 2001 to 2286 cannot be mistaken for each other. */
function sinceEpoch(value: number): number {
  if (value >= 1e9 && value < 1e10) return value * 1000;
  return value >= 1e12 && value < 1e13 ? value : Number.NaN;
}
