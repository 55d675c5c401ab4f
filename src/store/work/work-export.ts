import type { WorkItem } from "../../core/ports/work-items.js";
import { number, type Sql } from "../sql.js";
import { itemColumns, toItem } from "./work-rows.js";

const pageSize = 200;

/** Every item of a project in the order they were added, never more than a page of them in memory. */
export async function* exportItems(sql: Sql, projectId: string, now: number): AsyncGenerator<WorkItem> {
  for (let after = 0; ; ) {
    const rows = await sql.all(
      `SELECT ${itemColumns} FROM work_items WHERE project_id = ? AND no > ? ORDER BY no LIMIT ?`,
      [projectId, after, pageSize],
    );
    for (const row of rows) yield toItem(row, now);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = number(last, "no");
  }
}
