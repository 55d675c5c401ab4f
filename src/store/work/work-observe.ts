import { number, type Sql } from "../sql.js";
import type { Wake } from "../wake.js";
import { boardCursor } from "./work-changed.js";
import { readWorkEvents, type WorkEvent } from "./work-rows.js";

const pageSize = 500;

export interface Observing {
  /** Milliseconds; null: from the beginning. */
  readonly since: number | null;
  /** null: of every project. */
  readonly projectId: string | null;
  /** Also what is yet to come, until aborted. */
  readonly follow: boolean;
}

/** The board's events in order, read page by page. */
export async function* observeBoard(
  { sql, wake }: { readonly sql: Sql; readonly wake: Wake },
  { since, projectId, follow }: Observing,
  abort: AbortSignal,
): AsyncGenerator<WorkEvent> {
  const bell = follow ? wake.listen("board") : null;
  try {
    for (let cursor = since === null ? 0 : await cursorBefore(sql, since); !abort.aborted; ) {
      const page = await readWorkEvents(sql, { cursor, limit: pageSize });
      for (const event of page) {
        if (abort.aborted) return;
        if (projectId === null || event.project_id === projectId) yield event;
      }
      cursor = page.at(-1)?.id ?? cursor;
      if (page.length > 0) continue;
      if (bell === null) return;
      await bell.rung(abort);
    }
  } finally {
    bell?.close();
  }
}

/** The last event before a moment. Events are numbered in the order of time, so this is found by halving. */
export async function cursorBefore(sql: Sql, moment: number): Promise<number> {
  let [low, high] = [0, await boardCursor(sql)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const [row] = await sql.all("SELECT id, at FROM work_events WHERE id <= ? ORDER BY id DESC LIMIT 1", [middle]);
    if (row === undefined) low = middle;
    else if (number(row, "at") < moment) low = middle;
    else high = number(row, "id") - 1;
  }
  return low;
}
