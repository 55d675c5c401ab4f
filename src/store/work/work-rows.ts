import { parsePayload, type WorkPayload } from "../../core/board/payload.js";
import type { ItemStatus } from "../../core/ports/tracker.js";
import type { WorkItem } from "../../core/ports/work-items.js";
import { toIsoTime } from "../../lib/clock.js";
import { Bug } from "../../lib/errors.js";
import { number, numberOrNull, type Row, type Sql, type Statement, text, textOrNull, type Value } from "../sql.js";

/** `work_items` as work_items' rows are read everywhere: with the parent's id and the ids it depends on. */
export const itemColumns = `work_items.*,
  (SELECT parents.id FROM work_items AS parents WHERE parents.no = work_items.parent) AS parent_id,
  (SELECT json_group_array(id) FROM (SELECT others.id FROM work_deps JOIN work_items AS others ON others.no = on_item
    WHERE item = work_items.no ORDER BY others.no)) AS deps`;

/** A claim that binds nobody any more: its lease ran out, or the run that held it has ended and owes nothing. */
export const idleClaim = `status = 'claimed' AND (lease_until <= ? OR (lease_until IS NULL
  AND EXISTS (SELECT 1 FROM runs WHERE run_id = claimed_by AND runs.status <> 'running')
  AND NOT EXISTS (SELECT 1 FROM machines JOIN streams ON streams.no = machines.stream
    WHERE streams.run_id = claimed_by AND machines.done = 0)))`;

/** An expired lease reads as free, whoever looks. */
export function toItem(row: Row, now: number): WorkItem {
  const lease = numberOrNull(row, "lease_until");
  const expired = row.status === "claimed" && lease !== null && lease <= now;
  return {
    id: text(row, "id"),
    projectId: text(row, "project_id"),
    title: text(row, "title"),
    body: text(row, "body"),
    type: text(row, "type") === "epic" ? "epic" : "task",
    parent: textOrNull(row, "parent_id"),
    deps: JSON.parse(text(row, "deps")) as string[],
    priority: number(row, "priority"),
    status: expired ? "available" : (text(row, "status") as ItemStatus),
    source: text(row, "source"),
    followUpOf: textOrNull(row, "follows"),
    claimedBy: expired ? null : textOrNull(row, "claimed_by"),
    leaseUntil: expired ? null : lease,
    begun: row.begun === 1,
    failureCount: number(row, "failure_count"),
    failureReason: textOrNull(row, "failure_reason"),
    payload: readPayload(row),
    createdAt: number(row, "created_at"),
    updatedAt: number(row, "updated_at"),
  };
}

/** What is written was parsed, so what is read can be; anything else is a damaged row and is told as such. */
export function readPayload(row: Row): WorkPayload | null {
  const stored = textOrNull(row, "payload");
  if (stored === null) return null;
  const parsed = parsePayload(JSON.parse(stored));
  if (!parsed.ok) throw new Bug(`the item ${text(row, "id")} is damaged: ${parsed.reason}`);
  return parsed.payload;
}

/** The payload as it is stored, and what the indexes repeat of it: payload, pr_number, cycle, escalated. */
export function payloadColumns(
  payload: WorkPayload | null,
): readonly [string | null, number | null, number | null, number] {
  if (payload === null) return [null, null, null, 0];
  const cycle = "rework_cycle" in payload ? (payload.rework_cycle ?? null) : null;
  const escalated = payload.source === "implement" && payload.human_review_required === true ? 1 : 0;
  return [JSON.stringify(payload), payload.pr_number ?? null, cycle, escalated];
}

/** The board's history: one row per change, in the transaction that makes it. */
export interface WorkEvent {
  readonly id: number;
  readonly time: string;
  readonly type: string;
  readonly project_id: string;
  readonly item_id: string;
}

export interface ItemKey {
  readonly projectId: string;
  readonly id: string;
}

export function eventStatement(
  { projectId, id }: ItemKey,
  event: { readonly type: string; readonly at: number; readonly body?: Readonly<Record<string, Value | boolean>> },
): Statement {
  return {
    sql: "INSERT INTO work_events (project_id, item_id, at, type, body) VALUES (?, ?, ?, ?, ?)",
    params: [projectId, id, event.at, event.type, JSON.stringify(event.body ?? {})],
  };
}

/** What no later life builds on. */
export interface GivenUp {
  /** Those up to this one that were known then; 0: none. */
  readonly life: number;
  /** When; "": never. What is imported later tells how it stood then, if it began before. */
  readonly at: string;
}

export async function readGivenUp(sql: Sql, { projectId, id }: ItemKey): Promise<GivenUp> {
  const [row] = await sql.all(
    `SELECT json_extract(body, '$.after_life') AS life, at FROM work_events
      WHERE project_id = ? AND item_id = ? AND type = 'begun-afresh' ORDER BY id DESC LIMIT 1`,
    [projectId, id],
  );
  if (row === undefined) return { life: 0, at: "" };
  return { life: number(row, "life"), at: new Date(number(row, "at")).toISOString() };
}

/** Which of an issue's records are not given up, with `life` and `at`: what was lived here goes by its number, whatever clocks say. */
export const notGivenUp = "life > ? AND (started_at > ? OR run_id IN (SELECT run_id FROM streams))";

export async function readItem(sql: Sql, { projectId, id }: ItemKey, now: number): Promise<WorkItem | null> {
  const [row] = await sql.all(`SELECT ${itemColumns} FROM work_items WHERE project_id = ? AND id = ?`, [projectId, id]);
  return row === undefined ? null : toItem(row, now);
}

/** A retry is in the history alone: of an item that was available already it changes nothing else. */
export async function isRetried(sql: Sql, { projectId, id }: ItemKey): Promise<boolean> {
  const [row] = await sql.all(
    `SELECT type FROM work_events WHERE project_id = ? AND item_id = ? AND type IN ('claimed', 'released', 'retried')
      ORDER BY id DESC LIMIT 1`,
    [projectId, id],
  );
  return row !== undefined && text(row, "type") === "retried";
}

/** That it was stopped by name is in the history alone, too: until somebody says retry or takes it, it holds. */
export async function isStopped(sql: Sql, { projectId, id }: ItemKey, runId: string): Promise<boolean> {
  const [row] = await sql.all(
    `SELECT type, at, (SELECT started_at FROM runs WHERE run_id = ?) AS began FROM work_events
      WHERE project_id = ? AND item_id = ? AND type IN ('claimed', 'stopped', 'retried') ORDER BY id DESC LIMIT 1`,
    [runId, projectId, id],
  );
  if (row === undefined || text(row, "type") !== "stopped") return false;
  return number(row, "at") >= Date.parse(textOrNull(row, "began") ?? "");
}

/** Board events after `cursor`, oldest first; of one item, or of all. */
export async function readWorkEvents(
  sql: Sql,
  query: { readonly cursor: number; readonly limit: number; readonly item?: ItemKey },
): Promise<WorkEvent[]> {
  const rows = await sql.all(
    `SELECT id, project_id, item_id, at, type, body FROM work_events
      WHERE id > ? ${query.item ? "AND project_id = ? AND item_id = ?" : ""} ORDER BY id LIMIT ?`,
    [query.cursor, ...(query.item ? [query.item.projectId, query.item.id] : []), query.limit],
  );
  return rows.map(toWorkEvent);
}

/** Rows have the end of a claim as a number. */
export function toWorkEvent(row: Row): WorkEvent {
  const body = JSON.parse(text(row, "body")) as Record<string, Value | boolean>;
  const { lease_until: until } = body;
  return {
    id: number(row, "id"),
    time: new Date(number(row, "at")).toISOString(),
    type: text(row, "type"),
    project_id: text(row, "project_id"),
    item_id: text(row, "item_id"),
    ...body,
    ...(typeof until === "number" && { lease_until: toIsoTime(until) }),
  };
}
