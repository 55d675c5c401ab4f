import type { WorkItem } from "../../core/ports/work-items.js";
import { type Sql, textOrNull } from "../sql.js";
import { type ItemKey, itemColumns, toItem } from "./work-rows.js";

/** By the index of pull requests' items: an issue is one of them until its work is merged. */
export async function readInPullRequests(sql: Sql, projectId: string, now: number): Promise<WorkItem[]> {
  const rows = await sql.all(
    `SELECT ${itemColumns} FROM work_items WHERE project_id = ? AND pr_number IS NOT NULL
      AND source NOT IN ('code_review', 'rework', 'pr_merge', 'merge_fix') AND status <> 'completed' ORDER BY no`,
    [projectId],
  );
  return rows.map((row) => toItem(row, now));
}

export async function readCompletion(
  sql: Sql,
  { projectId, id }: ItemKey,
): Promise<{ readonly commit: string | null; readonly note: string | null } | null> {
  const [row] = await sql.all(
    `SELECT json_extract(body, '$.commit') AS commit_id, json_extract(body, '$.reason') AS note FROM work_events
      WHERE project_id = ? AND item_id = ? AND type = 'completed' ORDER BY id DESC LIMIT 1`,
    [projectId, id],
  );
  return row === undefined ? null : { commit: textOrNull(row, "commit_id"), note: textOrNull(row, "note") };
}
