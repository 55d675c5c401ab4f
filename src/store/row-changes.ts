import type { RowChange } from "../core/project.js";
import type { PublicEvent } from "../core/report.js";
import { Bug } from "../lib/errors.js";
import { findingStatements } from "./finding-rows.js";
import { addNumbers } from "./merge-records.js";
import type { Statement, Value } from "./sql.js";

interface Changed {
  readonly change: RowChange;
  readonly event: PublicEvent;
}

/**
 * One step may raise a thousand findings, and each of them counts in the issue's record. Rows that several events of a
 * step change are written once: the last finding of an id, and the patches of a record laid over each other.
 */
export function mergeChanges(changes: readonly Changed[]): Changed[] {
  const merged = new Map<string, Changed>();
  for (const next of changes) {
    const key = rowOf(next.change);
    const known = merged.get(key);
    const both = known === undefined ? next : layOver(known, next);
    if (both === null) merged.set(`${key} ${merged.size}`, next);
    else merged.set(key, both);
  }
  return [...merged.values()];
}

function rowOf(change: RowChange): string {
  if (change.table === "finding") return `finding ${change.row.issue_id} ${change.row.id}`;
  return change.table === "run-record" ? `run ${change.runId}` : `issue ${change.runId} ${change.issueId}`;
}

/** null: both add numbers, so they stay apart. The event that began a life is the one that tells its number. */
function layOver(before: Changed, after: Changed): Changed | null {
  const [first, second] = [before.change, after.change];
  if (first.table === "finding" || second.table === "finding") return after;
  if (first.table === "run-record" || second.table === "run-record") {
    if (first.table !== second.table) return null;
  }
  if (first.add !== undefined && second.add !== undefined) return null;
  const add = first.add ?? second.add;
  const patch = { ...first.patch, ...second.patch };
  const change = { ...second, patch, ...(add === undefined ? {} : { add }) } as RowChange;
  return { change, event: before.event.type === "issue-started" ? before.event : after.event };
}

/** What a public event changes besides the journal, as statements of the same transaction. */
export function rowStatements(
  change: RowChange,
  event: PublicEvent,
  ledger: { readonly projectId: string; readonly issueId: string } | undefined,
): Statement[] {
  switch (change.table) {
    case "finding":
      if (ledger === undefined) throw new Bug(`a finding of ${change.row.issue_id} from a machine without a ledger`);
      return findingStatements(ledger.projectId, change.row);
    case "run-record":
      return [runStatement(change)];
    case "issue-record":
      return [issueStatement(change, event)];
  }
}

function runStatement(change: RowChange & { readonly table: "run-record" }): Statement {
  const { status, started_at } = change.patch;
  const merged = mergedInto("record", change);
  const columns = changedColumns({ status, started_at });
  return {
    sql: `UPDATE runs SET record = ${merged.sql}${columns.sql} WHERE run_id = ?`,
    params: [...merged.params, ...columns.params, change.runId],
    expect: 1,
  };
}

function issueStatement(change: RowChange & { readonly table: "issue-record" }, event: PublicEvent): Statement {
  const { runId, issueId, patch } = change;
  const { started_at, finished_at } = patch;
  const life = event.type === "issue-started" ? event.life : undefined;
  const merged = mergedInto("issue_records.record", change);
  const columns = changedColumns({ life, finished_at });
  const begins = started_at !== undefined;
  const started = begins ? ", started_at = excluded.started_at" : "";
  return {
    sql: `INSERT INTO issue_records (run_id, issue_id, project_id, life, started_at, finished_at, record)
      SELECT run_id, ?, project_id, ?, ${begins ? notBeforeOthers : "?"}, ?, ? FROM runs WHERE run_id = ?
      ON CONFLICT (run_id, issue_id) DO UPDATE SET record = ${merged.sql}${started}${columns.sql}`,
    params: [
      ...[issueId, life ?? 1, started_at ?? event.time, ...(begins ? [issueId] : [])],
      ...[finished_at ?? null, merged.fresh, runId],
      ...[...merged.params, ...columns.params],
    ],
    expect: 1,
  };
}

/**
 * The order of an issue's lives: one that begins here knows all that are recorded, so it is newer, whatever the clocks say
 * that those were recorded by.
 */
const notBeforeOthers = `max(?, coalesce((SELECT max(known.started_at) FROM issue_records AS known
  WHERE known.project_id = runs.project_id AND known.issue_id = ?), ''))`;

type Part = Pick<Statement, "sql" | "params">;
type RecordChange = Exclude<RowChange, { readonly table: "finding" }>;

/** What makes the stored record the changed one; `fresh`: the record where there is none yet. */
function mergedInto(record: string, { patch, add }: RecordChange): Part & { readonly fresh: string } {
  const fresh = JSON.stringify(patch);
  const merged = { sql: `merge_record(${record}, ?)`, params: [fresh], fresh };
  if (add === undefined) return merged;
  const more = JSON.stringify(add);
  return { sql: `add_numbers(${merged.sql}, ?)`, params: [fresh, more], fresh: addNumbers(fresh, more) };
}

/** Only those that are given: a column that is set to what it was has the pages of its indexes written all the same. */
function changedColumns(columns: Readonly<Record<string, Value | undefined>>): Part {
  const given = Object.entries(columns).filter((entry): entry is [string, Value] => (entry[1] ?? null) !== null);
  return { sql: given.map(([name]) => `, ${name} = ?`).join(""), params: given.map(([, value]) => value) };
}
