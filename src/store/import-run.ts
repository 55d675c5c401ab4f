import type { Finding, Remark } from "../core/finding.js";
import { adoptLife } from "../core/issue/adopt.js";
import type { IssueRecord } from "../core/record.js";
import type { RunOptions } from "../core/run/effects.js";
import type { FindingThreshold } from "../core/settings.js";
import { findingStatements } from "./finding-rows.js";
import { readFindings } from "./findings.js";
import type { RunHead } from "./runs.js";
import { Refused, type Sql, type Statement, text } from "./sql.js";
import { notGivenUp, readGivenUp } from "./work/work-rows.js";

/** A run that was driven elsewhere and is over. */
export interface ImportedRun {
  readonly record: RunHead;
  readonly issues: readonly ImportedIssue[];
  /** From which priority on findings blocked there, and are in its records. */
  readonly threshold: FindingThreshold;
  /** Ms since the epoch. */
  readonly importedAt: number;
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
  /** By issue, of a run that is new: how many findings its record has left open, or why it is only a record. */
  readonly findings: Readonly<Record<string, number | OnlyHistory>>;
}
/** `older`: something later is known. `given-up`: it began before the issue was begun afresh. */
export type OnlyHistory = "older" | "given-up";

type RunName = Pick<RunHead, "run_id" | "project_id">;

/** The id of a run that the project knows already, driven here or imported; null: it does not. */
export async function findKnownRun(sql: Sql, name: RunName): Promise<string | null> {
  return (await findAlike(sql, name)).known;
}

/** `own`: its id here if it is new. */
async function findAlike(sql: Sql, { run_id, project_id }: RunName): Promise<{ known: string | null; own: string }> {
  const own = `${run_id}-${project_id}`;
  const rows = await sql.all("SELECT run_id, project_id FROM runs WHERE run_id IN (?, ?)", [run_id, own]);
  const here = rows.find((row) => text(row, "project_id") === project_id);
  return { known: here === undefined ? null : text(here, "run_id"), own: rows.length === 0 ? run_id : own };
}

/** All of it in one transaction, or nothing because the project knows the run already. */
export async function importRun(sql: Sql, run: ImportedRun): Promise<ImportResult> {
  const { known, own } = await findAlike(sql, run.record);
  if (known !== null) return { runId: known, isNew: false, findings: {} };
  const record = { ...run.record, run_id: own };
  const statements = [insertRun({ ...run, record })];
  const opened: [string, number | OnlyHistory][] = [];
  for (const issue of run.issues) {
    const taken = await takeIssue(sql, { ...run, record }, issue);
    statements.push(...taken.statements);
    opened.push([issue.record.issue_id, taken.opened]);
  }
  try {
    await sql.batch(statements);
  } catch (error) {
    // Another process was faster.
    if (error instanceof Refused) return { runId: record.run_id, isNew: false, findings: {} };
    throw error;
  }
  return { runId: record.run_id, isNew: true, findings: Object.fromEntries(opened) };
}

const options: RunOptions = { scope: { type: "all" }, resume: false, strict: false, fresh: false, maxIssues: null };

function insertRun({ record, importedAt }: ImportedRun): Statement {
  const { run_id, project_id, status, started_at, config } = record;
  // The order of runs: what begins here later is newer, whatever the clock said that the record was written by.
  const placedAt = new Date(Math.min(Date.parse(started_at), importedAt)).toISOString();
  return {
    sql: `INSERT INTO runs (run_id, project_id, status, started_at, record, settings, options)
      VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    params: [
      run_id,
      project_id,
      status,
      placedAt,
      JSON.stringify(record),
      JSON.stringify(config),
      JSON.stringify(options),
    ],
    expect: 1,
  };
}

interface Taken {
  readonly statements: Statement[];
  readonly opened: number | OnlyHistory;
}

async function takeIssue(sql: Sql, imported: ImportedRun, { record, remarks }: ImportedIssue): Promise<Taken> {
  const { record: run, importedAt, threshold } = imported;
  const { project_id: projectId, run_id: runId } = run;
  const { issue_id: issueId, started_at, finished_at } = record;
  const kept: Statement = {
    sql: `INSERT INTO issue_records (run_id, issue_id, project_id, life, started_at, finished_at, record)
      SELECT ?, ?, ?, coalesce(max(life), 0) + 1, ?, ?, ? FROM issue_records WHERE project_id = ? AND issue_id = ?`,
    params: [runId, issueId, projectId, started_at, finished_at, JSON.stringify(record), projectId, issueId],
    expect: 1,
  };
  const why = await onlyHistory(sql, { projectId, issueId, since: started_at });
  if (why !== null) return { statements: [kept], opened: why };
  const before = await readFindings(sql, { projectId, issueId, all: true });
  const begun = Math.max(Date.parse(started_at), Date.parse(run.started_at));
  const { findings } = adoptLife(
    { issueId, findings: before },
    {
      runId,
      succeeded: record.status === "success",
      wentOn: record.session_id !== null && !(await wasLivedHere(sql, { projectId, issueId })),
      ...{ remarks, threshold },
      toldBy: await importedRuns(sql, { projectId, issueId }),
      rounds: record.review_attempts,
      commit: record.commit,
      // What tells no time has one before all others, which would be no time at which somebody found something.
      at: (finished_at ? Date.parse(finished_at) : begun) || importedAt,
    },
  );
  const rows = changed(before, findings);
  return {
    statements: [kept, ...rows.flatMap((row) => findingStatements(projectId, row)), wasBegun(run, record)],
    opened: rows.filter(({ status }) => status === "open").length,
  };
}

interface IssueName {
  readonly projectId: string;
  readonly issueId: string;
}

/** Something later says how the issue stands: a success, a session or findings. A life that came to none of these says nothing. */
async function onlyHistory(
  sql: Sql,
  { projectId, issueId, since }: IssueName & { readonly since: string },
): Promise<OnlyHistory | null> {
  const givenUp = await readGivenUp(sql, { projectId, id: issueId });
  if (since <= givenUp.at) return "given-up";
  const rows = await sql.all(
    `SELECT 1 AS one FROM issue_records WHERE project_id = ? AND issue_id = ? AND started_at > ? AND ${notGivenUp}
      AND (json_extract(record, '$.status') = 'success' OR json_extract(record, '$.session_id') IS NOT NULL
        OR coalesce(json_array_length(record, '$.last_review_issues'), 0) > 0) LIMIT 1`,
    [projectId, issueId, since, givenUp.life, givenUp.at],
  );
  return rows.length > 0 ? "older" : null;
}

/** Its ledger was kept here: what that has open is known better than by a record that names none. */
async function wasLivedHere(sql: Sql, { projectId, issueId }: IssueName): Promise<boolean> {
  const rows = await sql.all(
    `SELECT 1 AS one FROM issue_records JOIN streams ON streams.run_id = issue_records.run_id
      WHERE project_id = ? AND issue_id = ? LIMIT 1`,
    [projectId, issueId],
  );
  return rows.length > 0;
}

/** The runs of the issue that were driven elsewhere. */
async function importedRuns(sql: Sql, { projectId, issueId }: IssueName): Promise<ReadonlySet<string>> {
  const rows = await sql.all(
    `SELECT run_id FROM issue_records WHERE project_id = ? AND issue_id = ?
      AND run_id NOT IN (SELECT run_id FROM streams)`,
    [projectId, issueId],
  );
  return new Set(rows.map((row) => text(row, "run_id")));
}

function changed(before: readonly Finding[], after: readonly Finding[]): Finding[] {
  const known = new Set(before);
  return after.filter((finding) => !known.has(finding));
}

/** A resume takes it before what was never begun. */
function wasBegun({ project_id }: RunHead, { issue_id, status }: IssueRecord): Statement {
  return {
    sql: "UPDATE work_items SET begun = 1 WHERE project_id = ? AND id = ? AND ? <> 'success'",
    params: [project_id, issue_id, status],
  };
}
