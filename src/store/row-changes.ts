import type { Finding } from "../core/finding.js";
import type { RowChange } from "../core/project.js";
import type { PublicEvent } from "../core/report.js";
import { Bug } from "../lib/errors.js";
import type { Statement } from "./sql.js";

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
    sql: `UPDATE runs SET record = merge_record(record, ?), status = coalesce(?, status),
      started_at = coalesce(?, started_at) WHERE run_id = ?`,
    params: [JSON.stringify(change.patch), change.patch.status ?? null, change.patch.started_at ?? null, change.runId],
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
