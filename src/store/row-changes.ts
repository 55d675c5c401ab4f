import type { Finding } from "../core/finding.js";
import type { RowChange } from "../core/project.js";
import type { PublicEvent } from "../core/report.js";
import { Bug } from "../lib/errors.js";
import type { Statement } from "./sql.js";

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
      return [findingStatement(ledger.projectId, change.row)];
    case "run-record":
      return [runStatement(change)];
    case "issue-record":
      return issueStatements(change, event);
  }
}

export function findingStatement(projectId: string, finding: Finding): Statement {
  return {
    sql: `INSERT INTO findings (project_id, issue_id, id, status, finding) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (project_id, issue_id, id) DO UPDATE SET status = excluded.status, finding = excluded.finding`,
    params: [projectId, finding.issue_id, finding.id, finding.status, JSON.stringify(finding)],
  };
}

function runStatement(change: RowChange & { readonly table: "run-record" }): Statement {
  return {
    sql: `UPDATE runs SET record = add_numbers(merge_record(record, ?), ?), status = coalesce(?, status),
      started_at = coalesce(?, started_at) WHERE run_id = ?`,
    params: [
      JSON.stringify(change.patch),
      JSON.stringify(change.add ?? {}),
      change.patch.status ?? null,
      change.patch.started_at ?? null,
      change.runId,
    ],
    expect: 1,
  };
}

function issueStatements(change: RowChange & { readonly table: "issue-record" }, event: PublicEvent): Statement[] {
  const { runId, issueId, patch } = change;
  const life = event.type === "issue-started" ? event.life : null;
  return [
    {
      sql: `INSERT INTO issue_records (run_id, issue_id, project_id, life, started_at, record)
        SELECT run_id, ?, project_id, 1, ?, '{}' FROM runs WHERE run_id = ? ON CONFLICT (run_id, issue_id) DO NOTHING`,
      params: [issueId, event.time, runId],
    },
    {
      sql: `UPDATE issue_records SET record = add_numbers(merge_record(record, ?), ?), life = coalesce(?, life),
        started_at = coalesce(?, started_at), finished_at = coalesce(?, finished_at) WHERE run_id = ? AND issue_id = ?`,
      params: [
        JSON.stringify(patch),
        JSON.stringify(change.add ?? {}),
        life,
        patch.started_at ?? null,
        patch.finished_at ?? null,
        runId,
        issueId,
      ],
      expect: 1,
    },
  ];
}
