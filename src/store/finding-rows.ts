import type { Finding } from "../core/finding.js";
import { packText } from "./packed-text.js";
import { type Row, type Statement, text, textOrNull } from "./sql.js";

/**
 * A finding is long, mostly for what was said, and that does not change when it is closed. So how it stands is apart: in
 * its row as it stood when it was raised, and, once that has changed, in a short row of `finding_changes`, which holds
 * then. `open_findings` has those that are open. What is the same for most findings is not written.
 */
export const findingColumns = `findings.issue_id, findings.id, findings.finding,
  coalesce(finding_changes.stands, findings.stands) AS stands
  FROM findings LEFT JOIN finding_changes ON finding_changes.finding = findings.no`;

const usual = { file: "", line_start: 0, line_end: 0, priority: null };
const usualStanding = { reason: null, resolved_at: null };

export function toFinding(row: Row): Finding {
  const stands = textOrNull(row, "stands");
  const standing = stands === null ? {} : { ...usualStanding, ...(JSON.parse(stands) as object) };
  const said = JSON.parse(text(row, "finding")) as Finding;
  return { ...usual, ...said, id: text(row, "id"), issue_id: text(row, "issue_id"), ...standing };
}

const named = "project_id = ? AND issue_id = ? AND id = ?";

/** Writes it as it is now, new or not. */
export function findingStatements(projectId: string, finding: Finding): Statement[] {
  const { id, issue_id, status, reason, resolved_at, resolved_commit, stages, rejected, ...more } = finding;
  const { repeated, let_go, ...said } = more;
  const standing = { status, reason, resolved_at, resolved_commit, stages, rejected, repeated, let_go };
  const stands = write(standing, usualStanding);
  const name = [projectId, issue_id, id];
  return [
    {
      sql: `INSERT INTO findings (project_id, issue_id, id, finding, stands) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (project_id, issue_id, id) DO UPDATE SET finding = excluded.finding WHERE finding <> excluded.finding`,
      params: [...name, packText(write(said, usual)), stands],
    },
    {
      sql: `INSERT INTO finding_changes (finding, stands) SELECT no, ? FROM findings WHERE ${named} AND (stands IS NOT ?
        OR EXISTS (SELECT 1 FROM finding_changes WHERE finding = no))
        ON CONFLICT (finding) DO UPDATE SET stands = excluded.stands`,
      params: [stands, ...name, stands],
    },
    status === "open"
      ? {
          sql: `INSERT INTO open_findings (project_id, finding) SELECT project_id, no FROM findings WHERE ${named}
            ON CONFLICT DO NOTHING`,
          params: name,
        }
      : {
          sql: `DELETE FROM open_findings WHERE project_id = ? AND finding = (SELECT no FROM findings WHERE ${named})`,
          params: [projectId, ...name],
        },
  ];
}

function write(fields: object, leaveOut: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(Object.fromEntries(Object.entries(fields).filter(([key, value]) => leaveOut[key] !== value)));
}
