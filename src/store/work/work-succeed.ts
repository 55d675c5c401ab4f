import type { AddOnceResult, NamedWorkItem, ToldWith, WorkItem, WorkItems } from "../../core/ports/work-items.js";
import { Bug } from "../../lib/errors.js";
import { number, type Row, type Sql } from "../sql.js";
import { addStatements, type Checked, findWrong, tryAll } from "./work-add.js";
import { settleItem, settleStatements } from "./work-changes.js";
import { eventStatement, type ItemKey, itemColumns, readItem, toItem } from "./work-rows.js";

/**
 * Items that are made once, however often they are asked for: the id, and for a rework its pull request and cycle, say
 * whether it is there. A successor comes in the transaction that completes its predecessor, so that after a crash
 * there is neither a gap nor a second one.
 */
export async function addOnce(
  sql: Sql,
  item: NamedWorkItem,
  { told = [], now }: { readonly told?: readonly ToldWith[]; readonly now: number },
): Promise<AddOnceResult> {
  const wrong = await findProblem(sql, item);
  if (wrong !== null) return { ok: false, reason: wrong };
  const refusal = await tryAll(sql, [
    ...addStatements(item, { now, counter: null }),
    ...tellAll(item.projectId, told, now),
  ]);
  if (refusal === null) return { ok: true, id: item.id, isNew: true };
  return refusal === "taken" ? await thereAlready(sql, item, now) : { ok: false, reason: refusal };
}

type Next = Parameters<WorkItems["succeed"]>[2];

export async function succeedItem(
  sql: Sql,
  key: ItemKey,
  next: Next & { readonly now: number },
): Promise<AddOnceResult> {
  const { holder, note, commit, successor, told = [], now } = next;
  const wrong = await findProblem(sql, successor);
  if (wrong !== null) return { ok: false, reason: wrong };
  const settled = { holder, to: { status: "completed", reason: note, commit }, now } as const;
  const refusal = await tryAll(sql, [
    ...settleStatements(key, settled).map((statement) => ({ statement, refusal: notHeld })),
    ...addStatements(successor, { now, counter: null }),
    ...tellAll(key.projectId, told, now),
  ]);
  if (refusal === null) return { ok: true, id: successor.id, isNew: true };
  if (refusal !== notHeld && refusal !== "taken") return { ok: false, reason: refusal };
  if (refusal === "taken") await settleItem(sql, key, settled);
  const before = await readItem(sql, key, now);
  if (before?.status !== "completed") return { ok: false, reason: whyNot(key, before) };
  return await addOnce(sql, successor, { told, now });
}
const notHeld = "not held";

function whyNot({ projectId, id }: ItemKey, item: WorkItem | null): string {
  if (item === null) return `no item ${id} in ${projectId}`;
  return `${id} is ${item.status}${item.claimedBy === null ? "" : `, held by ${item.claimedBy}`}`;
}

async function findProblem(sql: Sql, item: NamedWorkItem): Promise<string | null> {
  const [project] = await sql.all("SELECT 1 AS there FROM projects WHERE id = ?", [item.projectId]);
  return project === undefined ? `no project ${item.projectId}` : findWrong(item);
}

function tellAll(projectId: string, told: readonly ToldWith[], at: number): Checked[] {
  return told.map(({ itemId, event: { type, ...body } }) => ({
    statement: eventStatement({ projectId, id: itemId }, { type, at, body }),
    refusal: "raced",
  }));
}

async function thereAlready(sql: Sql, item: NamedWorkItem, now: number): Promise<AddOnceResult> {
  const known = await readItem(sql, item, now);
  if (known !== null) return { ok: true, id: known.id, isNew: false };
  const { payload } = item;
  const same =
    payload?.source === "rework"
      ? await readRework(
          sql,
          { projectId: item.projectId, prNumber: payload.pr_number, cycle: payload.rework_cycle },
          now,
        )
      : null;
  if (same === null) throw new Bug(`${item.id} is taken and not there`);
  return { ok: true, id: same.id, isNew: false };
}

export async function readRework(
  sql: Sql,
  { projectId, prNumber, cycle }: { readonly projectId: string; readonly prNumber: number; readonly cycle: number },
  now: number,
): Promise<WorkItem | null> {
  const [row] = await sql.all(
    `SELECT ${itemColumns} FROM work_items WHERE project_id = ? AND pr_number = ? AND cycle = ? AND source = 'rework'`,
    [projectId, prNumber, cycle],
  );
  return row === undefined ? null : toItem(row, now);
}

export async function readOfPullRequest(
  sql: Sql,
  { projectId, prNumber }: { readonly projectId: string; readonly prNumber: number },
  now: number,
): Promise<WorkItem[]> {
  const rows = await sql.all(
    `SELECT ${itemColumns} FROM work_items WHERE project_id = ? AND pr_number = ? ORDER BY no`,
    [projectId, prNumber],
  );
  return rows.map((row) => toItem(row, now));
}

export async function readEscalated(
  sql: Sql,
  { projectIds, limit }: { readonly projectIds: readonly string[]; readonly limit: number },
  now: number,
): Promise<WorkItem[]> {
  const heads = await Promise.all(
    projectIds.map((project) =>
      sql.all(
        `SELECT ${itemColumns} FROM work_items WHERE project_id = ? AND escalated = 1 AND status <> 'completed'
          ORDER BY no LIMIT ?`,
        [project, limit],
      ),
    ),
  );
  const byAge = (one: Row, other: Row) => number(one, "no") - number(other, "no");
  return heads
    .flat()
    .sort(byAge)
    .slice(0, limit)
    .map((row) => toItem(row, now));
}
