import type { Finding, Ledger } from "./finding.js";
import type { Usage } from "./issue/events.js";
import { isReviewStage } from "./issue/slots.js";
import { otherWordsOf } from "./ledger/words.js";
import type { IssueRecord, RunRecord, StoredReviewIssue } from "./record.js";
import type { PublicEvent, SessionEndResult } from "./report.js";

/** What a public event changes besides the journal. Patches are merged key by key, `add` is added to the numbers there. */
export type RowChange =
  | { readonly table: "finding"; readonly row: Finding }
  | {
      readonly table: "issue-record";
      readonly runId: string;
      readonly issueId: string;
      readonly patch: Partial<IssueRecord>;
      readonly add?: { readonly usage?: Usage; readonly duration_seconds?: number };
    }
  | {
      readonly table: "run-record";
      readonly runId: string;
      readonly patch: Partial<Omit<RunRecord, "issues">>;
      readonly add?: { readonly trigger_usage: Usage };
    };

/**
 * The rows an event changes, so that a run's record is complete at every moment and not only at its end. `ledger`: the
 * issue's, as it is after the transition that reported the event.
 */
export function project(event: PublicEvent, ledger: Ledger | null): RowChange[] {
  const run = projectRun(event);
  if (run) return [{ table: "run-record", runId: event.run_id, patch: run }];
  const findings = findingRows(event, ledger);
  const { run_id: runId, issue_id: issueId } = event;
  const used = usageOf(event);
  if (issueId === undefined) {
    return used ? [{ table: "run-record", runId, patch: {}, add: { trigger_usage: used } }] : findings;
  }
  const usage = used ? { add: { usage: used } } : {};
  const patch = projectIssue(event, ledger);
  if (patch === null && !("add" in usage)) return findings;
  return [...findings, { table: "issue-record", runId, issueId, patch: patch ?? {}, ...usage }];
}

/** A further life in the same run adds to what the earlier ones have used. */
function usageOf(event: PublicEvent): Usage | null {
  if (event.type === "issue-started") return { input_tokens: 0, output_tokens: 0, cost_usd: null };
  return event.type === "turn-ended" ? event.usage : null;
}

function projectRun(event: PublicEvent): Partial<Omit<RunRecord, "issues">> | null {
  switch (event.type) {
    case "run-started": {
      const { project_id, target_branch, run_start_commit, repo_path, time, started_at = time } = event;
      const begun = { status: "running", started_at, completed_at: null, exit_code: null } as const;
      return { ...begun, project_id, target_branch, run_start_commit, repo_path };
    }
    case "run-finished":
      return { status: event.status, exit_code: event.exit_code, completed_at: event.time };
    case "run-end-skipped":
      return { run_end: { status: "skipped", reason: event.reason, commands: [], code_review_result: null } };
    case "run-end-completed":
      return { run_end: runEndOf(event) };
    default:
      return null;
  }
}

/** Events of an older version say only how it ended. */
function runEndOf(event: Extract<PublicEvent, { type: "run-end-completed" }>): RunRecord["run_end"] {
  const { result, reason = null, message, commands = [], code_review_result = null } = event;
  return { status: result, reason, ...(message === undefined ? {} : { message }), commands, code_review_result };
}

function projectIssue(event: PublicEvent, ledger: Ledger | null): Partial<IssueRecord> | null {
  switch (event.type) {
    case "issue-started":
      return newRecord(event, ledger);
    case "worktree-ready":
      return { worktree_path: event.path, branch: event.branch, base_sha: event.base_sha };
    case "session-known":
    case "turn-ended":
      return event.role === "implementer" && event.session_id !== null ? { session_id: event.session_id } : null;
    case "agent-changed":
      return { agent: event.agent, session_id: null };
    case "gate-started":
      return event.run === undefined ? null : { gate_attempts: event.run };
    case "gate-passed":
      return { evidence_check: { passed: true, evidence: event.evidence, failure_reasons: [] } };
    case "gate-failed":
      return { evidence_check: { passed: false, evidence: event.evidence, failure_reasons: event.reasons } };
    case "session-end-completed":
      return { session_end_result: event.session_end_result, session_end_attempts: event.attempts };
    case "session-end-skipped":
      return { session_end_result: skipped(event.reason) };
    case "review-started":
      return isReviewStage(event.stage) ? { review_attempts: event.attempt } : null;
    case "review-ended":
      return event.blocking ? { last_review_issues: storedIssues(event.blocking, ledger) } : null;
    case "finding-raised":
    case "finding-rejected":
    case "finding-resolved":
      return ledger && { findings: countFindings(ledger) };
    case "landed":
      return { commit: event.commit };
    case "issue-finished":
      return finishedRecord(event, ledger);
    default:
      return null;
  }
}

/** What a resumed life goes on with is in its record from the first, so that it is in whatever is exported meanwhile. */
function newRecord(
  event: Extract<PublicEvent, { type: "issue-started" }>,
  ledger: Ledger | null,
): Partial<IssueRecord> {
  return {
    ...(event.issue_id === undefined ? {} : { issue_id: event.issue_id }),
    title: event.title,
    status: "running",
    message: "",
    error: null,
    session_id: event.session_id ?? null,
    agent: event.agent,
    branch: null,
    worktree_path: null,
    base_sha: event.base_sha ?? null,
    commit: null,
    resolution: null,
    gate_attempts: 0,
    review_attempts: 0,
    session_end_attempts: 0,
    evidence_check: { passed: false, evidence: {}, failure_reasons: [] },
    session_end_result: null,
    last_review_issues: storedIssues(event.blocking ?? [], ledger),
    findings: ledger ? countFindings(ledger) : { open: 0, resolved: 0 },
    duration_seconds: 0,
    started_at: event.time,
    finished_at: null,
  };
}

function finishedRecord(
  event: Extract<PublicEvent, { type: "issue-finished" }>,
  ledger: Ledger | null,
): Partial<IssueRecord> {
  const { status, message, error, commit, resolution, counters, session_id, duration_seconds } = event;
  return {
    status,
    message,
    error,
    commit,
    resolution,
    ...counters,
    session_id,
    last_review_issues: storedIssues(event.last_review_issues ?? [], ledger),
    finished_at: event.time,
    ...(event.seen ? { seen: event.seen } : {}),
    ...(event.undelivered ? { undelivered: event.undelivered } : {}),
    ...(event.evidence ? { evidence_check: { passed: true, evidence: event.evidence, failure_reasons: [] } } : {}),
    ...(event.review_base === undefined ? {} : { review_base: event.review_base }),
    ...(event.unmerged === undefined ? {} : { unmerged: event.unmerged }),
    ...(duration_seconds === undefined ? {} : { duration_seconds }),
    ...(ledger ? { findings: countFindings(ledger) } : {}),
  };
}

/** What a resume replays; null: nothing. */
function storedIssues(ids: readonly string[], ledger: Ledger | null): StoredReviewIssue[] | null {
  const found = (ledger?.findings ?? []).filter((finding) => ids.includes(finding.id));
  if (found.length === 0) return null;
  return found.map((finding) => {
    const { file, line_start, line_end, priority, title, body, reviewer } = finding;
    const place = { file, line_start, line_end, priority, title };
    const others = otherWordsOf(finding);
    const more = { ...(body.ref ? { ref: body.ref } : {}), ...(others.length > 0 ? { also_reported: others } : {}) };
    return { ...place, body: body.text, reviewer, ...more };
  });
}

function findingRows(event: PublicEvent, ledger: Ledger | null): RowChange[] {
  if (!("finding" in event)) return [];
  const row = ledger?.findings.find((finding) => finding.id === event.finding);
  return row ? [{ table: "finding", row }] : [];
}

function countFindings(ledger: Ledger): IssueRecord["findings"] {
  const count = (status: Finding["status"]) => ledger.findings.filter((finding) => finding.status === status).length;
  return { open: count("open"), resolved: count("resolved") };
}

function skipped(reason: string): SessionEndResult {
  return { status: "skipped", reason, started_at: null, finished_at: null, commands: [], code_review_result: null };
}
