import type { Finding } from "../../core/finding.js";
import { findingStatements } from "../finding-rows.js";
import { type Sql, type Statement, text } from "../sql.js";
import { changed, decided, retryStatements } from "./work-changes.js";
import { eventStatement, type ItemKey } from "./work-rows.js";

/**
 * That an issue is begun afresh is said in one transaction, with all that follows on the board, or not at all. What was
 * put aside of it has then to be settled in git: that is owed until it is noted, and whoever opens its next worktree
 * sees to it first.
 */
export interface Afresh {
  /** Its open findings, closed. */
  readonly closed: readonly Finding[];
  /** It is an item of our own board, which may be taken again by it. */
  readonly retried: boolean;
}

/** False: somebody has it, or its status does not allow it. */
export function beginAfresh(
  sql: Sql,
  key: ItemKey,
  { closed, retried, now }: Afresh & { readonly now: number },
): Promise<boolean> {
  return changed(sql, [
    ...(retried ? [...retryStatements(key, now), decided(key)] : []),
    afreshStatement(key, now),
    ...closed.flatMap((finding) => findingStatements(key.projectId, finding)),
  ]);
}

/** By their number, not by the time: the lives of an issue are counted, whatever clocks say. */
function afreshStatement({ projectId, id }: ItemKey, now: number): Statement {
  return {
    sql: `INSERT INTO work_events (project_id, item_id, at, type, body)
      SELECT ?, ?, ?, 'begun-afresh', json_object('after_life', coalesce(max(life), 0), 'to_settle', json('true'))
      FROM issue_records WHERE project_id = ? AND issue_id = ?`,
    params: [projectId, id, now, projectId, id],
  };
}

export async function noteSettled(sql: Sql, key: ItemKey, now: number): Promise<void> {
  await sql.batch([eventStatement(key, { type: "put-aside", at: now })]);
}

/** Older versions settled first, and said so by leaving it out. */
export async function isToSettle(sql: Sql, { projectId, id }: ItemKey): Promise<boolean> {
  const [row] = await sql.all(
    `SELECT type, json_extract(body, '$.to_settle') AS owed FROM work_events
      WHERE project_id = ? AND item_id = ? AND type IN ('begun-afresh', 'put-aside') ORDER BY id DESC LIMIT 1`,
    [projectId, id],
  );
  return row !== undefined && text(row, "type") === "begun-afresh" && row.owed === 1;
}
