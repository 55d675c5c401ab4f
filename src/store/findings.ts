import type { Finding } from "../core/finding.js";
import { Refusal } from "../lib/errors.js";
import { findingStatement } from "./row-changes.js";
import { type Row, type Sql, text } from "./sql.js";

export interface FindingsQuery {
  readonly projectId: string;
  readonly issueId?: string;
  /** Every status; otherwise open ones only. */
  readonly all: boolean;
}

/** In the order first raised. */
export async function readFindings(sql: Sql, { projectId, issueId, all }: FindingsQuery): Promise<Finding[]> {
  const where = [
    "project_id = ?",
    ...(issueId === undefined ? [] : ["issue_id = ?"]),
    ...(all ? [] : ["status = 'open'"]),
  ];
  const rows = await sql.all(
    `SELECT finding FROM findings WHERE ${where.join(" AND ")} ORDER BY no`,
    issueId === undefined ? [projectId] : [projectId, issueId],
  );
  return rows.map(toFinding);
}

/** By a unique beginning of its id. */
export async function findFinding(sql: Sql, projectId: string, prefix: string): Promise<Finding> {
  const rows = await sql.all(
    "SELECT finding FROM findings WHERE project_id = ? AND substr(id, 1, ?) = ? ORDER BY (id = ?) DESC, no LIMIT 2",
    [projectId, prefix.length, prefix, prefix],
  );
  const [first, second] = rows.map(toFinding);
  if (first === undefined)
    throw new Refusal(`no finding ${prefix}`, { code: "not-found", hint: "ratchet findings --all" });
  if (second !== undefined && first.id !== prefix) {
    throw new Refusal(`${prefix} fits more than one finding`, { code: "ambiguous", hint: "give more of the id" });
  }
  return first;
}

/** For an issue that nobody drives; a driven one gets a `waive` signal instead. */
export async function waiveDirect(
  sql: Sql,
  waived: { readonly projectId: string; readonly id: string; readonly reason: string; readonly now: number },
): Promise<Finding> {
  const finding = await findFinding(sql, waived.projectId, waived.id);
  if (finding.status !== "open") throw new Refusal(`finding ${finding.id} is ${finding.status}, not open`);
  const now: Finding = { ...finding, status: "waived", reason: waived.reason, resolved_at: waived.now };
  await sql.batch([findingStatement(waived.projectId, now)]);
  return now;
}

function toFinding(row: Row): Finding {
  return JSON.parse(text(row, "finding")) as Finding;
}
