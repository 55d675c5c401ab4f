import { number, numberOrNull, type Sql } from "../sql.js";
import type { Wake } from "../wake.js";

/** The number of the board's newest event, of whatever project. */
export async function boardCursor(sql: Sql): Promise<number> {
  const [row] = await sql.all("SELECT coalesce(max(id), 0) AS id FROM work_events", []);
  return row === undefined ? 0 : number(row, "id");
}

/**
 * Only these may make an item ready, an epic due or a pull request go on. A claim never does, nor the end of an item that
 * nothing waits for, in no epic and no pull request: so a run is hardly ever woken by its own. The events after a cursor are few and those of a project
 * are many: the plus keeps SQLite from looking through the latter.
 */
const readying = `SELECT max(id) AS newest, max(+project_id = ? AND (type IN
    ('added', 'appended', 'released', 'retried', 'unblocked', 'dep-removed', 'failed')
    OR (type = 'completed' AND EXISTS (SELECT 1 FROM work_items AS done
      WHERE done.project_id = work_events.project_id AND done.id = item_id
      AND (parent IS NOT NULL OR pr_number IS NOT NULL OR EXISTS (SELECT 1 FROM work_deps WHERE on_item = done.no)))))) AS readies
  FROM work_events WHERE id > ?`;

/** Waits for such an event of the project after the cursor; woken by commits, in whatever process. */
export async function boardChanged(
  { sql, wake }: { readonly sql: Sql; readonly wake: Wake },
  { projectId, cursor }: { readonly projectId: string; readonly cursor: number },
  abort: AbortSignal,
): Promise<void> {
  const bell = wake.listen("board");
  try {
    for (let after = cursor; ; ) {
      abort.throwIfAborted();
      const [row] = await sql.all(readying, [projectId, after]);
      if (row?.readies === 1) return;
      after = (row && numberOrNull(row, "newest")) ?? after;
      await bell.rung(abort);
    }
  } finally {
    bell.close();
  }
}
