import type { Finding, Remark } from "../core/finding.js";
import { adoptLife } from "../core/issue/adopt.js";
import type { IssueRecord } from "../core/record.js";
import type { RunOptions } from "../core/run/effects.js";
import { findingStatements } from "./finding-rows.js";
import { readFindings } from "./findings.js";
import type { RunHead } from "./runs.js";
import { Refused, type Sql, type Statement, text } from "./sql.js";

/** A run that was driven elsewhere and is over. */
export interface ImportedRun {
  readonly record: RunHead;
  readonly issues: readonly ImportedIssue[];
}
export interface ImportedIssue {
  readonly record: IssueRecord;
  /** `last_review_issues`, as the ledger takes them in. */
  readonly remarks: readonly Remark[];
}

/** The run's id here. Two repositories may import the same run: the second's has the project in its id. */
export interface ImportResult {
  readonly runId: string;
  readonly isNew: boolean;
}

/** All of it in one transaction, or nothing because the project knows the run already. */
export async function importRun(sql: Sql, run: ImportedRun): Promise<ImportResult> {
  const { project_id } = run.record;
  const own = `${run.record.run_id}-${project_id}`;
  const known = await sql.all("SELECT run_id, project_id FROM runs WHERE run_id IN (?, ?)", [run.record.run_id, own]);
  const here = known.find((row) => text(row, "project_id") === project_id);
  if (here !== undefined) return { runId: text(here, "run_id"), isNew: false };
  const record = { ...run.record, run_id: known.length === 0 ? run.record.run_id : own };
  const statements = [insertRun(record)];
  for (const issue of run.issues) statements.push(...(await issueStatements(sql, record, issue)));
  try {
    await sql.batch(statements);
  } catch (error) {
    // Another process was faster.
    if (error instanceof Refused) return { runId: record.run_id, isNew: false };
    throw error;
  }
  return { runId: record.run_id, isNew: true };
}

const options: RunOptions = { scope: { type: "all" }, resume: false, strict: false, fresh: false, maxIssues: null };

function insertRun(record: RunHead): Statement {
  const { run_id, project_id, status, started_at, config } = record;
  return {
    sql: `INSERT INTO runs (run_id, project_id, status, started_at, record, settings, options)
      VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    params: [
      run_id,
      project_id,
      status,
      started_at,
      JSON.stringify(record),
      JSON.stringify(config),
      JSON.stringify(options),
    ],
    expect: 1,
  };
}

async function issueStatements(sql: Sql, run: RunHead, { record, remarks }: ImportedIssue): Promise<Statement[]> {
  const { project_id: projectId, run_id: runId } = run;
  const { issue_id: issueId, started_at, finished_at } = record;
  const kept: Statement = {
    sql: `INSERT INTO issue_records (run_id, issue_id, project_id, life, started_at, finished_at, record)
      SELECT ?, ?, ?, coalesce(max(life), 0) + 1, ?, ?, ? FROM issue_records WHERE project_id = ? AND issue_id = ?`,
    params: [runId, issueId, projectId, started_at, finished_at, JSON.stringify(record), projectId, issueId],
    expect: 1,
  };
  if (await isKnownBetter(sql, { projectId, issueId, since: started_at })) return [kept];
  const before = await readFindings(sql, { projectId, issueId, all: true });
  const { findings } = adoptLife(
    { issueId, findings: before },
    {
      runId,
      succeeded: record.status === "success",
      remarks,
      rounds: record.review_attempts,
      commit: record.commit,
      at: Date.parse(finished_at ?? started_at),
    },
  );
  return [
    kept,
    ...changed(before, findings).flatMap((row) => findingStatements(projectId, row)),
    wasBegun(run, record),
  ];
}

/**
 * Something later says how the issue stands: a success, findings of its own, or a session that went on here, where the
 * ledger was kept. A life that came to none of these says nothing, and one from elsewhere that names no findings closes
 * none, in whatever order the two come in.
 */
async function isKnownBetter(
  sql: Sql,
  { projectId, issueId, since }: { readonly projectId: string; readonly issueId: string; readonly since: string },
): Promise<boolean> {
  const rows = await sql.all(
    `SELECT 1 AS one FROM issue_records WHERE project_id = ? AND issue_id = ? AND started_at > ?
      AND (json_extract(record, '$.status') = 'success'
        OR coalesce(json_array_length(record, '$.last_review_issues'), 0) > 0
        OR (json_extract(record, '$.session_id') IS NOT NULL
          AND EXISTS (SELECT 1 FROM streams WHERE streams.run_id = issue_records.run_id))) LIMIT 1`,
    [projectId, issueId, since],
  );
  return rows.length > 0;
}

function changed(before: readonly Finding[], after: readonly Finding[]): Finding[] {
  return after.filter((finding) => !before.includes(finding));
}

/** A resume takes it before what was never begun. */
function wasBegun({ project_id }: RunHead, { issue_id, status }: IssueRecord): Statement {
  return {
    sql: "UPDATE work_items SET begun = 1 WHERE project_id = ? AND id = ? AND ? <> 'success'",
    params: [project_id, issue_id, status],
  };
}
