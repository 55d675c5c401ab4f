import type { ItemStatus } from "../../core/ports/tracker.js";
import { Refusal } from "../../lib/errors.js";
import { Refused, type Sql, type Statement } from "../sql.js";
import { circleThrough, countDeps, insertDep } from "./work-add.js";
import { eventStatement, type ItemKey, idleClaim, readItem } from "./work-rows.js";

/** At this many failures, those of resumes left out, an item is taken out of the queue until somebody retries it. */
const quarantineAt = 3;

export interface Claim {
  readonly holder: string;
  readonly leaseUntil: number | null;
  readonly now: number;
  readonly any?: boolean;
}

/** Compare-and-set: no epic, and free, failed or idle; already this holder's own counts too, unless it must be `fresh`. */
export function claimItem(
  sql: Sql,
  key: ItemKey,
  { holder, leaseUntil, now, any = false, fresh = false }: Claim & { readonly fresh?: boolean },
): Promise<boolean> {
  return changed(sql, [
    {
      sql: `UPDATE work_items SET status = 'claimed', claimed_by = ?, lease_until = ?, begun = 1, updated_at = ?
        WHERE project_id = ? AND id = ? AND waits_for = 0 AND type = 'task'
        AND (status IN ('available', 'failed'${any ? ", 'waiting_for_response', 'quarantined'" : ""}) OR (status = 'claimed' AND claimed_by = ?) OR (${idleClaim}))`,
      params: [holder, leaseUntil, now, key.projectId, key.id, fresh ? null : holder, now],
      expect: 1,
    },
    eventStatement(key, { type: "claimed", at: now, body: { holder, lease_until: leaseUntil } }),
  ]);
}

interface Release {
  readonly holder: string | null;
  readonly to: ItemStatus;
  readonly now: number;
}

export function releaseItem(sql: Sql, key: ItemKey, { holder, to, now }: Release): Promise<boolean> {
  return changed(sql, [
    {
      sql: `UPDATE work_items SET status = ?, claimed_by = NULL, lease_until = NULL, updated_at = ?
        WHERE project_id = ? AND id = ? AND status = 'claimed' AND claimed_by = coalesce(?, claimed_by)`,
      params: [to, now, key.projectId, key.id, holder],
      expect: 1,
    },
    eventStatement(key, { type: "released", at: now, body: { holder, ...(to === "available" ? {} : { to }) } }),
  ]);
}

export interface Settlement {
  readonly status: "completed" | "failed" | "waiting_for_response";
  readonly reason: string | null;
  readonly commit: string | null;
  readonly mayQuarantine?: true;
  readonly resumed?: true;
}

interface Settling {
  readonly holder: string | null;
  readonly to: Settlement;
  readonly now: number;
}

export function settleItem(sql: Sql, key: ItemKey, settling: Settling): Promise<boolean> {
  return changed(sql, settleStatements(key, settling));
}

export function settleStatements(key: ItemKey, { holder, to, now }: Settling): Statement[] {
  const quarantine = to.mayQuarantine ? `WHEN ${quarantines} THEN 'quarantined'` : "";
  const status =
    to.status === "failed"
      ? `CASE ${quarantine} WHEN ${wasFreed} THEN 'available' ELSE 'failed' END`
      : `'${to.status}'`;
  return [
    {
      sql: `UPDATE work_items SET status = ${status}, claimed_by = NULL, lease_until = NULL, failure_reason = ?,
        failure_count = failure_count + ?, updated_at = ?
        WHERE project_id = ? AND id = ? AND ${holder === null ? openToAnyone : "status = 'claimed' AND claimed_by = ?"}`,
      params: [
        to.status === "completed" ? null : to.reason,
        to.status === "failed" ? 1 : 0,
        now,
        key.projectId,
        key.id,
        ...(holder === null ? [] : [holder]),
      ],
      expect: 1,
    },
    ...(to.status === "completed" ? [decided(key), freeDependents(key, now)] : []),
    eventStatement(key, {
      type: to.status,
      at: now,
      body: { reason: to.reason, commit: to.commit, ...(to.resumed ? { resumed: true } : {}) },
    }),
  ];
}
/** A resume's failure is counted and takes nothing out of the queue, whatever fails later: the next resume may go on. */
const quarantines = `failure_count + 1 >= ${quarantineAt} + (SELECT count(*) FROM work_events AS failures
  WHERE failures.project_id = work_items.project_id AND failures.item_id = work_items.id
    AND failures.type = 'failed' AND json_extract(failures.body, '$.resumed')
    AND failures.id > coalesce((SELECT max(retries.id) FROM work_events AS retries
      WHERE retries.project_id = work_items.project_id AND retries.item_id = work_items.id AND retries.type = 'retried'), 0))`;
/** Something it depends on was completed while it was worked on: it began without that, and is as free as one that failed before. */
const wasFreed = `waits_for = 0 AND EXISTS (SELECT 1 FROM work_deps JOIN work_items AS done ON done.no = on_item
  JOIN work_events ON work_events.project_id = done.project_id AND item_id = done.id AND work_events.type = 'completed'
  WHERE item = work_items.no AND work_events.id > (SELECT max(claims.id) FROM work_events AS claims
    WHERE claims.project_id = work_items.project_id AND claims.item_id = work_items.id AND claims.type = 'claimed'))`;
const openToAnyone = "status <> 'completed'";

/** What is done, or begun afresh, waits for no person any more, whoever said so. */
export function decided({ projectId, id }: ItemKey): Statement {
  return {
    sql: `UPDATE work_items SET escalated = 0, payload = json_set(payload, '$.human_review_required', json('false'))
      WHERE project_id = ? AND id = ? AND escalated = 1`,
    params: [projectId, id],
  };
}

/** In the transaction that completes: each dependent waits for one less; one that had failed may be tried again when that was the last. */
export function freeDependents({ projectId, id }: ItemKey, now: number): Statement {
  return {
    sql: `UPDATE work_items SET waits_for = waits_for - 1, updated_at = ?,
        status = CASE WHEN status = 'failed' AND waits_for = 1 THEN 'available' ELSE status END
      WHERE no IN (SELECT item FROM work_deps WHERE on_item =
        (SELECT no FROM work_items AS done WHERE done.project_id = ? AND done.id = ?))`,
    params: [now, projectId, id],
  };
}

/** `work fail`: back into the queue until the third failure, then quarantined. Returns what it became. */
export async function failItem(
  sql: Sql,
  key: ItemKey,
  { reason, now }: { readonly reason: string; readonly now: number },
): Promise<ItemStatus> {
  await mustChange(sql, { ...key, what: "failed" }, [
    {
      sql: `UPDATE work_items SET failure_count = failure_count + 1, failure_reason = ?, claimed_by = NULL,
        lease_until = NULL, updated_at = ?,
        status = CASE WHEN ${quarantines} THEN 'quarantined' ELSE 'available' END
        WHERE project_id = ? AND id = ? AND status IN ('available', 'claimed', 'failed')`,
      params: [reason, now, key.projectId, key.id],
      expect: 1,
    },
    eventStatement(key, { type: "failed", at: now, body: { reason } }),
  ]);
  return (await readItem(sql, key, now))?.status ?? "failed";
}

/** An operator's word. `retry` alone forgets the failures; `unblock` lifts only an operator's block. */
export function changeStatus(sql: Sql, key: ItemKey, change: OperatorChange): Promise<void> {
  return mustChange(sql, { ...key, what: operatorChanges[change.how].event }, changeStatements(key, change));
}

function changeStatements(key: ItemKey, change: OperatorChange): Statement[] {
  const { event } = operatorChanges[change.how];
  return [
    { ...operatorStatement(key, change), expect: 1 },
    eventStatement(key, { type: event, at: change.now, body: { reason: change.reason } }),
  ];
}

export function retryStatements(key: ItemKey, now: number): Statement[] {
  return changeStatements(key, { how: "retry", reason: null, now });
}

interface OperatorChange {
  readonly how: "block" | "unblock" | "retry";
  readonly reason: string | null;
  readonly now: number;
}

export function operatorStatement(key: ItemKey, { how, reason, now }: OperatorChange): Statement {
  const { from, to, reset } = operatorChanges[how];
  return {
    sql: `UPDATE work_items SET status = ?, failure_reason = ?, updated_at = ?
      ${reset ? ", failure_count = 0, claimed_by = NULL, lease_until = NULL" : ""}
      WHERE project_id = ? AND id = ? AND (status IN (${from.map(() => "?").join(", ")}) ${reset ? `OR (${idleClaim})` : ""})`,
    params: [to, reason, now, key.projectId, key.id, ...from, ...(reset ? [now] : [])],
  };
}
const operatorChanges: Record<
  OperatorChange["how"],
  { from: ItemStatus[]; to: ItemStatus; reset: boolean; event: string }
> = {
  block: { from: ["available", "failed"], to: "blocked", reset: false, event: "blocked" },
  unblock: { from: ["blocked"], to: "available", reset: false, event: "unblocked" },
  retry: {
    from: ["available", "failed", "quarantined", "waiting_for_response"],
    to: "available",
    reset: true,
    event: "retried",
  },
};

export async function addDeps(sql: Sql, key: ItemKey, on: readonly string[], now: number): Promise<void> {
  const { status } = await mustExist(sql, key, now);
  if (status === "completed")
    throw new Refusal(`${key.id} is completed and waits for nothing any more`, { code: "wrong-status" });
  const added = [...new Set(on)];
  const statements = [...added.map((dep) => insertDep(key, dep)), countDeps(key)];
  const history = eventStatement(key, { type: "dep-added", at: now, body: { on: added.join(" ") } });
  try {
    await sql.batch([...statements, history]);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const { parent } = await mustExist(sql, key, now);
    const dep = added[error.statement] ?? "";
    const { deps } = await mustExist(sql, { ...key, id: dep }, now);
    throw toCircle({ ...key, parent }, { dep, itsDeps: deps });
  }
}

function toCircle(
  { id, parent }: { readonly id: string; readonly parent: string | null },
  { dep, itsDeps }: { readonly dep: string; readonly itsDeps: readonly string[] },
): Refusal {
  if (dep === id) return new Refusal(`${id} cannot wait for itself: that would be a circle`, { code: "cycle" });
  if (parent !== null && (dep === parent || itsDeps.includes(parent))) {
    const { reason, hint } = circleThrough(dep, parent);
    return new Refusal(reason, { code: "cycle", hint });
  }
  return new Refusal(`${dep} already waits for ${id}: that would be a circle`, {
    code: "cycle",
    hint: `ratchet explain ${dep} says what it waits for; an epic waits for all of its issues`,
  });
}

export async function removeDeps(sql: Sql, key: ItemKey, on: readonly string[], now: number): Promise<void> {
  await mustExist(sql, key, now);
  const removed = [...new Set(on)];
  for (const id of removed) await mustExist(sql, { ...key, id }, now);
  await sql.batch([
    ...removed.map((dep) => ({
      sql: `DELETE FROM work_deps WHERE item = (SELECT no FROM work_items WHERE project_id = ? AND id = ?)
        AND on_item = (SELECT no FROM work_items WHERE project_id = ? AND id = ?)`,
      params: [key.projectId, key.id, key.projectId, dep],
    })),
    countDeps(key),
    eventStatement(key, { type: "dep-removed", at: now, body: { on: removed.join(" ") } }),
  ]);
}

export async function changed(sql: Sql, statements: readonly Statement[]): Promise<boolean> {
  try {
    await sql.batch(statements);
    return true;
  } catch (error) {
    if (error instanceof Refused) return false;
    throw error;
  }
}

/** `what` is not done to it when its status is another. */
async function mustChange(
  sql: Sql,
  { what, ...key }: ItemKey & { readonly what: string },
  statements: readonly Statement[],
): Promise<void> {
  if (await changed(sql, statements)) return;
  const item = await mustExist(sql, key, 0);
  const hint = `ratchet explain ${key.id} says how it stands`;
  throw new Refusal(`${key.id} is ${item.status}, so it cannot be ${what}`, { code: "wrong-status", hint });
}

async function mustExist(sql: Sql, key: ItemKey, now: number) {
  const item = await readItem(sql, key, now);
  if (item === null)
    throw new Refusal(`no item ${key.id} in ${key.projectId}`, { code: "not-found", hint: "ratchet work list --all" });
  return item;
}
