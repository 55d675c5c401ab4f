import type { FinishedEpic } from "../core/ports/tracker.js";
import type { Sql } from "./sql.js";
import { changed, freeDependents } from "./work-changes.js";
import { eventStatement, type ItemKey, readItem, readWorkEvents } from "./work-rows.js";

/**
 * Completes the epic above an item when none of its children is open any more. One holder wins, and is told the same
 * when it asks again after a crash. An epic that somebody blocked stays blocked.
 */
export async function finishEpic(
  sql: Sql,
  child: ItemKey,
  { holder, now }: { readonly holder: string; readonly now: number },
): Promise<FinishedEpic | null> {
  const { projectId } = child;
  const parent = (await readItem(sql, child, now))?.parent ?? null;
  if (parent === null) return null;
  const key: ItemKey = { projectId, id: parent };
  const epic = await readItem(sql, key, now);
  if (epic === null) return null;
  const won = (await complete(sql, key, { holder, now })) || (await wasCompletedBy(sql, key, holder));
  return won ? { id: epic.id, isTop: epic.parent === null } : null;
}

function complete(sql: Sql, key: ItemKey, { holder, now }: { readonly holder: string; readonly now: number }) {
  const body = { reason: "all of its children are completed", commit: null, holder };
  return changed(sql, [
    {
      sql: `UPDATE work_items SET status = 'completed', claimed_by = NULL, lease_until = NULL, updated_at = ?
        WHERE project_id = ? AND id = ? AND type = 'epic' AND status NOT IN ('completed', 'blocked')
        AND NOT EXISTS (SELECT 1 FROM work_items AS children
          WHERE children.parent = work_items.no AND children.status <> 'completed')`,
      params: [now, key.projectId, key.id],
      expect: 1,
    },
    freeDependents(key, now),
    eventStatement(key, { type: "completed", at: now, body }),
  ]);
}

async function wasCompletedBy(sql: Sql, item: ItemKey, holder: string): Promise<boolean> {
  const events = await readWorkEvents(sql, { cursor: 0, limit: 10_000, item });
  const last = events.findLast(({ type }) => type === "completed");
  return last !== undefined && "holder" in last && last.holder === holder;
}
