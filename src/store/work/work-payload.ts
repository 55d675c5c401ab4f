import type { BoardEvent } from "../../core/board/board-event.js";
import {
  type PayloadPatch,
  parsePayload,
  payloadSourceOf,
  type ReworkPayload,
  type WorkPayload,
} from "../../core/board/payload.js";
import type { MoreRework, ToldWith } from "../../core/ports/work-items.js";
import { Bug } from "../../lib/errors.js";
import { number, Refused, type Row, type Sql, type Statement, text, textOrNull } from "../sql.js";
import { changed } from "./work-changes.js";
import { eventStatement, type ItemKey, payloadColumns, readPayload } from "./work-rows.js";

/**
 * Changes of a payload are compare-and-set on its stored text: whoever comes second reads again. An item without one
 * gets one where its source has no key that must be there.
 */
interface Change {
  readonly payload: WorkPayload;
  /** Further statements of the same transaction. */
  readonly along: readonly Statement[];
}

/** False: `decide` wants no change, or there is no such item. */
async function changePayload(
  sql: Sql,
  key: ItemKey,
  { now, decide }: { readonly now: number; readonly decide: (row: Row) => Change | null },
): Promise<boolean> {
  for (let attempt = 1; attempt <= 100; attempt++) {
    const [row] = await sql.all(
      "SELECT id, source, status, begun, payload FROM work_items WHERE project_id = ? AND id = ?",
      [key.projectId, key.id],
    );
    const change = row === undefined ? null : decide(row);
    if (row === undefined || change === null) return false;
    const write: Statement = {
      sql: `UPDATE work_items SET payload = ?, pr_number = ?, cycle = ?, escalated = ?, updated_at = ?
        WHERE project_id = ? AND id = ? AND payload IS ?`,
      params: [...payloadColumns(change.payload), now, key.projectId, key.id, textOrNull(row, "payload")],
      expect: 1,
    };
    try {
      await sql.batch([write, ...change.along]);
      return true;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
    }
  }
  throw new Bug(`the payload of ${key.id} is changed all the time`);
}

function patched(row: Row, patch: PayloadPatch): WorkPayload | null {
  const parsed = parsePayload({ ...(readPayload(row) ?? { source: payloadSourceOf(text(row, "source")) }), ...patch });
  return parsed.ok ? parsed.payload : null;
}

export function setPayload(
  sql: Sql,
  key: ItemKey,
  { patch, now }: { readonly patch: PayloadPatch; readonly now: number },
): Promise<boolean> {
  const decide = (row: Row) => {
    const payload = patched(row, patch);
    return payload === null ? null : { payload, along: [] };
  };
  return changePayload(sql, key, { now, decide });
}

/** What is added is there before the claim that begins it, or not at all. */
export async function joinRework(
  sql: Sql,
  key: ItemKey,
  { name, now, ...more }: MoreRework & { readonly now: number },
): Promise<boolean> {
  let isThere = false;
  const decide = (row: Row) => {
    const before = readPayload(row);
    const payload = before === null ? null : withMore(before, { ...more, name });
    isThere = before?.source === "rework" && before.joined?.includes(name) === true;
    const isFree = number(row, "begun") === 0 && ["available", "blocked"].includes(text(row, "status"));
    if (payload === null || isThere || !isFree) return null;
    return { payload, along: [stillUnbegun(key), ...tellAll(key.projectId, more.told, now)] };
  };
  return (await changePayload(sql, key, { now, decide })) || isThere;
}

function withMore(payload: WorkPayload, { name, feedback, comments }: Omit<MoreRework, "told">): ReworkPayload | null {
  if (payload.source !== "rework" && payload.source !== "merge_fix") return null;
  const { rework_cycle = 1 } = payload;
  const before =
    payload.source === "rework"
      ? { said: payload.review_feedback, comments: payload.inline_comments, joined: payload.joined ?? [] }
      : { said: `The branch conflicts with ${payload.base_branch}.`, comments: [], joined: [] };
  return {
    ...payload,
    source: "rework",
    rework_cycle,
    review_feedback: [before.said, ...feedback].filter((text) => text !== "").join("\n\n"),
    inline_comments: [...before.comments, ...comments],
    joined: [...before.joined, name],
  };
}

function stillUnbegun({ projectId, id }: ItemKey): Statement {
  return {
    sql: `UPDATE work_items SET source = 'rework' WHERE project_id = ? AND id = ? AND begun = 0
      AND status IN ('available', 'blocked')`,
    params: [projectId, id],
    expect: 1,
  };
}

function tellAll(projectId: string, told: readonly ToldWith[], at: number): Statement[] {
  return told.map(({ itemId, event: { type, ...body } }) =>
    eventStatement({ projectId, id: itemId }, { type, at, body }),
  );
}

/** Once: of two that ask, one is told true, and the event is there once. */
export function escalateItem(
  sql: Sql,
  key: ItemKey,
  { reason, event, now }: { readonly reason: string; readonly event: BoardEvent; readonly now: number },
): Promise<boolean> {
  const { type, ...body } = event;
  const decide = (row: Row) => {
    if (readPayload(row)?.human_review_required === true) return null;
    const payload = patched(row, {
      human_review_required: true,
      escalation_reason: reason,
      escalated_at: new Date(now).toISOString(),
    });
    if (payload === null) return null;
    return { payload, along: [outOfQueue(key, reason), eventStatement(key, { type, at: now, body })] };
  };
  return changePayload(sql, key, { now, decide });
}

function outOfQueue({ projectId, id }: ItemKey, reason: string): Statement {
  return {
    sql: `UPDATE work_items SET status = 'waiting_for_response', failure_reason = ?
      WHERE project_id = ? AND id = ? AND status IN ('available', 'failed')`,
    params: [reason, projectId, id],
  };
}

/** `retry` of an escalated item: a person has decided. False: it is not escalated, or done all the same. */
export function liftEscalation(
  sql: Sql,
  key: ItemKey,
  { along, now }: { readonly along: readonly Statement[]; readonly now: number },
): Promise<boolean> {
  const decide = (row: Row) => {
    const payload = readPayload(row);
    if (payload?.human_review_required !== true || row.status === "completed") return null;
    const { escalation_reason, escalated_at: _then, ...rest } = payload;
    const lifted: WorkPayload = { ...rest, human_review_required: false };
    const body = { human_review_required: false, escalation_reason: escalation_reason ?? null };
    return { payload: lifted, along: [...along, eventStatement(key, { type: "retried", at: now, body })] };
  };
  return changePayload(sql, key, { now, decide });
}

export function appendEvent(
  sql: Sql,
  { projectId, id }: ItemKey,
  { event, now }: { readonly event: BoardEvent; readonly now: number },
): Promise<boolean> {
  const { type, ...body } = event;
  return changed(sql, [
    {
      sql: `INSERT INTO work_events (project_id, item_id, at, type, body)
        SELECT project_id, id, ?, ?, ? FROM work_items WHERE project_id = ? AND id = ?`,
      params: [now, type, JSON.stringify(body), projectId, id],
      expect: 1,
    },
  ]);
}
