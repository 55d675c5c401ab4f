import { number, type Sql } from "./sql.js";
import type { Wake } from "./wake.js";

/** The number of the board's newest event, of whatever project. */
export async function boardCursor(sql: Sql): Promise<number> {
  const [row] = await sql.all("SELECT coalesce(max(id), 0) AS id FROM work_events", []);
  return row === undefined ? 0 : number(row, "id");
}

/**
 * Only these may make an item ready. A claim never does, so a run is not woken by its own. The events after a cursor are
 * few and those of a project are many: the plus keeps SQLite from looking through the latter.
 */
const readying = `SELECT id FROM work_events WHERE id > ? AND id <= ? AND +project_id = ? AND type IN
  ('added', 'appended', 'released', 'retried', 'unblocked', 'completed', 'dep-removed', 'failed') LIMIT 1`;

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
      const newest = await boardCursor(sql);
      const [row] = await sql.all(readying, [after, newest, projectId]);
      if (row !== undefined) return;
      after = newest;
      await bell.rung(abort);
    }
  } finally {
    bell.close();
  }
}
