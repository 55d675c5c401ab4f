import { readPriority } from "../core/finding.js";
import type { IssueRecord, RunRecord, StoredReviewIssue } from "../core/record.js";
import { elapsedSeconds } from "./format.js";
import type { WorkflowRecord } from "./workflow-record.js";

/**
 * The run record as `runs export` prints it: every key, in one order, whatever an older version or an unfinished run left
 * out. What foreign files hold in `last_review_issues` is read tolerantly: never an exception, never a guess.
 */
export type PartialRun = Partial<Omit<RunRecord, "issues" | "config">> & {
  readonly run_id: string;
  readonly config: RunRecord["config"];
};
export type PartialIssue = Partial<IssueRecord> & { readonly issue_id: string };
interface Parts {
  readonly run: PartialRun;
  readonly issues: readonly PartialIssue[];
  readonly workflow?: WorkflowRecord | null;
  readonly now: number;
}

/** `workflow`: of a run that is one. */
export function toRunRecord({ run, issues, workflow, now }: Parts): RunRecord & { readonly workflow?: WorkflowRecord } {
  return {
    run_id: run.run_id,
    started_at: run.started_at ?? "",
    completed_at: run.completed_at ?? null,
    version: run.version ?? "",
    repo_path: run.repo_path ?? "",
    project_id: run.project_id ?? "",
    status: run.status ?? "running",
    exit_code: run.exit_code ?? null,
    target_branch: run.target_branch ?? "",
    run_start_commit: run.run_start_commit ?? "",
    config: run.config,
    run_end: run.run_end ?? null,
    ...(run.trigger_usage ? { trigger_usage: run.trigger_usage } : {}),
    issues: Object.fromEntries(issues.map((issue) => [issue.issue_id, toIssueRecord(issue, now)])),
    ...(workflow ? { workflow } : {}),
  };
}

function toIssueRecord(issue: PartialIssue, now: number): IssueRecord {
  return {
    issue_id: issue.issue_id,
    title: issue.title ?? "",
    status: issue.status ?? "running",
    message: issue.message ?? "",
    error: issue.error ?? null,
    session_id: issue.session_id ?? null,
    agent: issue.agent ?? "",
    branch: issue.branch ?? null,
    worktree_path: issue.worktree_path ?? null,
    base_sha: issue.base_sha ?? null,
    ...(issue.review_base === undefined ? {} : { review_base: issue.review_base }),
    ...(issue.unmerged === undefined ? {} : { unmerged: issue.unmerged }),
    commit: issue.commit ?? null,
    resolution: issue.resolution ?? null,
    gate_attempts: issue.gate_attempts ?? 0,
    review_attempts: issue.review_attempts ?? 0,
    session_end_attempts: issue.session_end_attempts ?? 0,
    evidence_check: {
      passed: issue.evidence_check?.passed ?? false,
      evidence: issue.evidence_check?.evidence ?? {},
      failure_reasons: issue.evidence_check?.failure_reasons ?? [],
    },
    session_end_result: issue.session_end_result ?? null,
    last_review_issues: issue.last_review_issues ?? null,
    findings: { open: issue.findings?.open ?? 0, resolved: issue.findings?.resolved ?? 0 },
    usage: {
      input_tokens: issue.usage?.input_tokens ?? 0,
      output_tokens: issue.usage?.output_tokens ?? 0,
      cost_usd: issue.usage?.cost_usd ?? null,
    },
    duration_seconds: durationOf(issue, now),
    started_at: issue.started_at ?? "",
    finished_at: issue.finished_at ?? null,
  };
}

/** It is stored when the issue ends; until then it grows. */
function durationOf({ status, started_at, duration_seconds }: PartialIssue, now: number): number {
  const isRunning = status === "running" && started_at !== undefined;
  return isRunning ? elapsedSeconds(Date.parse(started_at), now) : (duration_seconds ?? 0);
}

/** Null: nothing stored, or nothing usable. */
export function readStoredReviewIssues(value: unknown): StoredReviewIssue[] | null {
  if (!Array.isArray(value)) return null;
  const issues = value.flatMap((one: unknown) => (isObject(one) ? [readStored(one)] : []));
  return issues.length > 0 ? issues : null;
}

function readStored(stored: Readonly<Record<string, unknown>>): StoredReviewIssue {
  const lineStart = toInteger(stored.line_start) ?? 0;
  return {
    file: toName(stored.file) ?? "unknown",
    line_start: lineStart,
    line_end: Math.max(lineStart, toInteger(stored.line_end) ?? lineStart),
    priority: readPriority(stored.priority),
    title: toName(stored.title) ?? "Unknown issue",
    body: toText(stored.body) ?? "",
    reviewer: toName(stored.reviewer) ?? "unknown",
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function toInteger(value: unknown): number | null {
  if (typeof value === "number" && Number.isFinite(value)) return Math.trunc(value);
  return typeof value === "string" && /^\s*[+-]?\d{1,15}\s*$/.test(value) ? Number(value) : null;
}

/** An empty one is none. */
function toName(value: unknown): string | null {
  const text = toText(value);
  return text?.trim() ? text : null;
}

function toText(value: unknown): string | null {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : null;
}
