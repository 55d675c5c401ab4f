import type { EpicName, Scope } from "../../core/ports/tracker.js";
import type { WorkItem } from "../../core/ports/work-items.js";
import { type Sql, text } from "../sql.js";
import { changed, freeDependents } from "./work-changes.js";
import { scopeCondition } from "./work-ready.js";
import { eventStatement, type ItemKey, idleClaim, itemColumns, readWorkEvents, toItem } from "./work-rows.js";

/**
 * An epic is due when it has children, none of them is open, and it waits for nothing else. It is claimed and completed
 * by compare-and-set on that, so a child or a dependency that is added meanwhile keeps it open, and of two runs one wins.
 * One that somebody blocked stays blocked.
 */
const isOpenEpic = "type = 'epic' AND status <> 'completed'";
const isDue = `${isOpenEpic} AND status <> 'blocked' AND waits_for = 0
  AND EXISTS (SELECT 1 FROM work_items AS children WHERE children.parent = work_items.no)
  AND NOT EXISTS (SELECT 1 FROM work_items AS children
    WHERE children.parent = work_items.no AND children.status <> 'completed')`;
/** Parameters: holder, now. */
const isFree = `(status <> 'claimed' OR claimed_by = ? OR (${idleClaim}))`;

interface By {
  readonly holder: string;
  readonly now: number;
}

export async function readDueEpics(
  sql: Sql,
  { projectId, scope, holder, now }: By & { readonly projectId: string; readonly scope: Scope },
): Promise<EpicName[]> {
  const within = scopeCondition({ projectId, scope });
  const rows = await sql.all(
    `SELECT id, parent FROM work_items WHERE project_id = ? AND ${isDue} AND ${isFree} ${within.sql} ORDER BY no`,
    [projectId, holder, now, ...within.params],
  );
  return rows.map((row) => ({ id: text(row, "id"), isTop: row.parent === null }));
}

export async function readChildren(sql: Sql, { projectId, id }: ItemKey, now: number): Promise<WorkItem[]> {
  const rows = await sql.all(
    `SELECT ${itemColumns} FROM work_items
      WHERE parent = (SELECT no FROM work_items AS epics WHERE epics.project_id = ? AND epics.id = ?) ORDER BY no`,
    [projectId, id],
  );
  return rows.map((row) => toItem(row, now));
}

export function claimEpic(sql: Sql, key: ItemKey, { holder, now }: By): Promise<boolean> {
  return changed(sql, [
    {
      sql: `UPDATE work_items SET status = 'claimed', claimed_by = ?, lease_until = NULL, updated_at = ?
        WHERE project_id = ? AND id = ? AND ${isDue} AND ${isFree}`,
      params: [holder, now, key.projectId, key.id, holder, now],
      expect: 1,
    },
    eventStatement(key, { type: "claimed", at: now, body: { holder, lease_until: null } }),
  ]);
}

/** One holder wins, and is told the same when it asks again after a crash. */
export async function completeEpic(
  sql: Sql,
  key: ItemKey,
  { holder, note, now }: By & { readonly note: string },
): Promise<boolean> {
  const won = await changed(sql, [
    {
      sql: `UPDATE work_items SET status = 'completed', claimed_by = NULL, lease_until = NULL, updated_at = ?
        WHERE project_id = ? AND id = ? AND ${isDue} AND ${isFree}`,
      params: [now, key.projectId, key.id, holder, now],
      expect: 1,
    },
    freeDependents(key, now),
    eventStatement(key, { type: "completed", at: now, body: { reason: note, commit: null, holder } }),
  ]);
  return won || (await wasCompletedBy(sql, key, holder));
}

async function wasCompletedBy(sql: Sql, item: ItemKey, holder: string): Promise<boolean> {
  const events = await readWorkEvents(sql, { cursor: 0, limit: 10_000, item });
  const last = events.findLast(({ type }) => type === "completed");
  return last !== undefined && "holder" in last && last.holder === holder;
}
