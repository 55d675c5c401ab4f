import type { IssueRecord, RunRecord } from "../core/record.js";
import type { RunStatus } from "../core/report.js";
import type { RunOptions } from "../core/run/effects.js";
import type { Settings } from "../core/settings.js";
import { Refusal } from "../lib/errors.js";
import { isAlive, type ProcessIdentity, selfIdentity } from "../lib/process-identity.js";
import { parseDriver } from "./machine-log.js";
import { number, type Row, type Sql, text, textOrNull } from "./sql.js";
import { notGivenUp, readGivenUp } from "./work/work-rows.js";

/** A run's record without its issues, which are rows of their own. */
export type RunHead = Omit<RunRecord, "issues">;

export interface StoredRun {
  readonly runId: string;
  readonly projectId: string;
  readonly status: RunStatus;
  /** As its record says; an imported one is in the order of runs no later than its import. */
  readonly startedAt: string;
  readonly record: RunHead;
  /** As frozen when the run started. */
  readonly settings: Settings;
  readonly options: RunOptions;
}

export interface StoredIssue {
  readonly runId: string;
  readonly issueId: string;
  readonly life: number;
  readonly record: IssueRecord;
}

/** Who makes it is about to drive it, and has it until its machine says who does: kept beside the options. */
interface KeptOptions extends RunOptions {
  readonly maker?: ProcessIdentity;
}

export async function createRun(
  sql: Sql,
  run: { readonly record: RunHead; readonly settings: Settings; readonly options: RunOptions },
): Promise<void> {
  const { record, settings } = run;
  const options: KeptOptions = { ...run.options, maker: selfIdentity() };
  await sql.batch([
    {
      sql: `INSERT INTO runs (run_id, project_id, status, started_at, record, settings, options)
        VALUES (?, ?, ?, ?, ?, ?, ?)`,
      params: [
        record.run_id,
        record.project_id,
        record.status,
        record.started_at,
        JSON.stringify(record),
        JSON.stringify(settings),
        JSON.stringify(options),
      ],
      expect: 1,
    },
  ]);
}

const columns = "SELECT run_id, project_id, status, record, settings, options FROM runs";

/** Newest first. */
export async function listRuns(sql: Sql, projectId: string | null, limit: number): Promise<StoredRun[]> {
  const where = projectId === null ? "" : "WHERE project_id = ?";
  const params = projectId === null ? [limit] : [projectId, limit];
  return (await sql.all(`${columns} ${where} ORDER BY started_at DESC, run_id DESC LIMIT ?`, params)).map(toRun);
}

/** By a unique beginning of its id, or `last`. */
export async function findRun(sql: Sql, which: string, projectId: string | null): Promise<StoredRun> {
  const found = which === "last" ? await listRuns(sql, projectId, 1) : await runsLike(sql, which);
  const [first, second] = found;
  if (first === undefined) {
    throw new Refusal(which === "last" ? "there is no run yet" : `no run ${which || '""'}`, {
      code: "not-found",
      hint: which === "last" ? "ratchet run starts one" : "ratchet logs list shows the runs",
    });
  }
  if (second === undefined || first.runId === which) return first;
  throw new Refusal(`${which} fits more than one run: ${found.map((run) => run.runId).join(", ")}`, {
    code: "ambiguous",
    hint: "give more of the id",
  });
}

async function runsLike(sql: Sql, prefix: string): Promise<StoredRun[]> {
  if (prefix === "") return [];
  const rows = await sql.all(`${columns} WHERE run_id >= ? AND run_id < ? ORDER BY run_id LIMIT 3`, [
    prefix,
    `${prefix}\u{10ffff}`,
  ]);
  return rows.map(toRun);
}

export interface UnfinishedRun {
  readonly run: StoredRun;
  /** Its machine has a driver, in whatever process, that lives; where it has none yet, whoever made the run. */
  readonly driverAlive: boolean;
  readonly driverPid: number | null;
}

/** Killed before its machine was opened, or with a machine that is not done: index hits, both. */
const maybeUnfinished = `SELECT run_id FROM runs WHERE status = 'running'
  UNION SELECT run_id FROM machines JOIN streams ON streams.no = machines.stream WHERE done = 0 AND kind = ?`;

/** Runs whose machine still owes something, oldest first. `machineKind`: which machine of the run decides that. */
export async function unfinishedRuns(
  sql: Sql,
  projectId: string | null,
  machineKind: string,
): Promise<UnfinishedRun[]> {
  const rows = await sql.all(
    `SELECT runs.run_id, project_id, status, record, settings, options, machines.no AS machine, machines.driver
      FROM runs LEFT JOIN streams ON streams.run_id = runs.run_id
      LEFT JOIN machines ON machines.stream = streams.no AND machines.kind = ?
      WHERE runs.run_id IN (${maybeUnfinished}) AND coalesce(machines.done, 0) = 0
        AND runs.project_id = coalesce(?, runs.project_id)
      ORDER BY started_at, runs.run_id`,
    [machineKind, machineKind, projectId],
  );
  return rows.map((row) => {
    const driver = row.machine === null ? (keptOptions(row).maker ?? null) : parseDriver(textOrNull(row, "driver"));
    return { run: toRun(row), driverAlive: driver !== null && isAlive(driver), driverPid: driver?.pid ?? null };
  });
}

/** In the order they started. */
export async function issueRecords(sql: Sql, runId: string): Promise<StoredIssue[]> {
  const rows = await sql.all(
    "SELECT run_id, issue_id, life, record FROM issue_records WHERE run_id = ? ORDER BY started_at, issue_id",
    [runId],
  );
  return rows.map(toIssue);
}

export async function issueRecord(sql: Sql, runId: string, issueId: string): Promise<StoredIssue | null> {
  const [row] = await sql.all(
    "SELECT run_id, issue_id, life, record FROM issue_records WHERE run_id = ? AND issue_id = ?",
    [runId, issueId],
  );
  return row === undefined ? null : toIssue(row);
}

/** The whole record, as `runs export` prints it. */
export async function readRunRecord(sql: Sql, run: StoredRun): Promise<RunRecord> {
  const issues = await issueRecords(sql, run.runId);
  return { ...run.record, issues: Object.fromEntries(issues.map(({ issueId, record }) => [issueId, record])) };
}

/** What is known of an issue's lives, in whatever run. */
export interface PastLives {
  /** The number of its next one. */
  readonly next: number;
  /** What a resume of it builds on; null: there is nothing, or it was begun afresh since. */
  readonly last: StoredIssue | null;
  /** The one of them that had the session which a resume goes on with. */
  readonly inSession: StoredIssue | null;
}

export async function pastLives(sql: Sql, projectId: string, issueId: string): Promise<PastLives> {
  const givenUp = await readGivenUp(sql, { projectId, id: issueId });
  const rows = await sql.all(
    `SELECT run_id, issue_id, life, record FROM issue_records WHERE project_id = ? AND issue_id = ? AND ${notGivenUp}
      ORDER BY started_at DESC, life DESC LIMIT 100`,
    [projectId, issueId, givenUp.life, givenUp.at],
  );
  const [highest] = await sql.all(
    "SELECT max(coalesce(max(life), 0), ?) AS life FROM issue_records WHERE project_id = ? AND issue_id = ?",
    [givenUp.life, projectId, issueId],
  );
  const since = sinceSuccess(rows.map(toIssue));
  const next = (highest === undefined ? givenUp.life : number(highest, "life")) + 1;
  return { next, last: chooseRecord(since), inSession: newestSession(since) };
}

/** Newest first. */
export async function runsWith(sql: Sql, projectId: string, issueId: string): Promise<string[]> {
  const rows = await sql.all(
    "SELECT run_id FROM issue_records WHERE project_id = ? AND issue_id = ? ORDER BY started_at DESC, life DESC LIMIT 100",
    [projectId, issueId],
  );
  return rows.map((row) => text(row, "run_id"));
}

export async function lastRecord(sql: Sql, projectId: string, issueId: string): Promise<StoredIssue | null> {
  return (await pastLives(sql, projectId, issueId)).last;
}

/**
 * What a resume of the issue builds on: the newest record that is not older than a success. One that has neither a session
 * nor findings does not hide an earlier one that has; one that has only findings goes on in the last session there was.
 */
function chooseRecord(since: readonly StoredIssue[]): StoredIssue | null {
  const [newest] = since;
  if (newest === undefined) return null;
  const inSession = newestSession(since);
  const chosen = since.find((one) => one === inSession || (one.record.last_review_issues ?? []).length > 0) ?? newest;
  if (inSession === null || chosen === inSession) return chosen;
  const { session_id, agent } = inSession.record;
  return { ...chosen, record: { ...chosen.record, session_id, agent } };
}

/** What came after the last success, or that alone. */
function sinceSuccess(records: readonly StoredIssue[]): readonly StoredIssue[] {
  const success = records.findIndex(({ record }) => record.status === "success");
  return success === -1 ? records : records.slice(0, Math.max(success, 1));
}

function newestSession(records: readonly StoredIssue[]): StoredIssue | null {
  return records.find(({ record }) => (record.session_id ?? null) !== null) ?? null;
}

/**
 * The run, another than `runId`, in which the issue came to its last end since `runId` began; null: none. One that has
 * told the tracker and not yet its own record is coming to that end.
 */
export async function endedElsewhere(
  sql: Sql,
  { projectId, issueId, runId }: { readonly projectId: string; readonly issueId: string; readonly runId: string },
): Promise<string | null> {
  const [row] = await sql.all(
    `SELECT run_id, json_extract(record, '$.status') AS status, json_extract(record, '$.finished_at') AS finished,
      (SELECT started_at FROM runs WHERE run_id = ?) AS began FROM issue_records
      WHERE project_id = ? AND issue_id = ? AND run_id <> ? ORDER BY started_at DESC, life DESC LIMIT 1`,
    [runId, projectId, issueId, runId],
  );
  if (row === undefined) return null;
  const finished = Date.parse(textOrNull(row, "finished") ?? "");
  // One that is still to come was imported from a machine whose clock is ahead.
  const isSince = finished >= Date.parse(textOrNull(row, "began") ?? "") && finished <= Date.now();
  return isSince || textOrNull(row, "status") === "running" ? text(row, "run_id") : null;
}

function keptOptions(row: Row): KeptOptions {
  return JSON.parse(text(row, "options")) as KeptOptions;
}

function toRun(row: Row): StoredRun {
  const record = JSON.parse(text(row, "record")) as RunHead;
  const { maker: _, ...options } = keptOptions(row);
  return {
    runId: text(row, "run_id"),
    projectId: text(row, "project_id"),
    status: text(row, "status") as RunStatus,
    startedAt: record.started_at,
    record,
    settings: JSON.parse(text(row, "settings")) as Settings,
    options,
  };
}

function toIssue(row: Row): StoredIssue {
  return {
    runId: text(row, "run_id"),
    issueId: text(row, "issue_id"),
    life: number(row, "life"),
    record: JSON.parse(text(row, "record")) as IssueRecord,
  };
}
