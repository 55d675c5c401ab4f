import { type OpenFollowUp, placeFollowUp } from "../core/follow-up.js";
import type { FollowUpTold } from "../core/ports/tracker.js";
import type { NewWorkItem } from "../core/ports/work-items.js";
import { Bug } from "../lib/errors.js";
import { Refused, type Sql, text } from "./sql.js";
import { addItem, sameFollows } from "./work/work-add.js";
import { eventStatement } from "./work/work-rows.js";

export interface FollowUp {
  readonly projectId: string;
  readonly source: string;
  readonly title: string;
  readonly body: string;
  /** The source is an epic, and this becomes its child. */
  readonly inEpic?: boolean;
  readonly now: number;
}

/** One open follow-up per source item: made, or appended to; what it says already is not added again. */
export async function appendFollowUp(sql: Sql, followUp: FollowUp): Promise<FollowUpTold> {
  for (let attempt = 1; attempt <= 100; attempt++) {
    const open = await readOpen(sql, followUp);
    const { to, added, older } = placeFollowUp(open, followUp);
    const id = to
      ? await appendTo(sql, followUp, { to, added })
      : await make(sql, { ...followUp, body: join(added) }, open);
    if (id !== null) return { id, older };
  }
  throw new Bug(`the follow-up of ${followUp.source} could not be made`);
}

interface Open extends OpenFollowUp {
  readonly status: string;
}

async function readOpen(sql: Sql, { projectId, source }: FollowUp): Promise<Open[]> {
  const same = sameFollows(source);
  const rows = await sql.all(
    `SELECT id, body, follows, status FROM work_items WHERE project_id = ? AND ${same.sql} AND status <> 'completed'`,
    [projectId, ...same.params],
  );
  return rows.map((row) => {
    const status = text(row, "status");
    return {
      id: text(row, "id"),
      body: text(row, "body"),
      source: text(row, "follows"),
      status,
      isTaken: status === "claimed",
    };
  });
}

/** null: somebody else changed it at the same moment. */
async function appendTo(
  sql: Sql,
  { projectId, source, now }: FollowUp,
  { to, added }: { readonly to: Open; readonly added: readonly string[] },
): Promise<string | null> {
  const { id, body: old, status } = to;
  if (added.length === 0) return id;
  return refusedIsNull(async () => {
    await sql.batch([
      {
        sql: "UPDATE work_items SET body = ?, updated_at = ? WHERE project_id = ? AND id = ? AND body = ? AND status = ?",
        params: [join([old, ...added]), now, projectId, id, old, status],
        expect: 1,
      },
      eventStatement({ projectId, id }, { type: "appended", at: now, body: { source } }),
    ]);
    return id;
  });
}

function join(paragraphs: readonly string[]): string {
  return paragraphs.join("\n\n");
}

/** null: somebody else made it at the same moment. */
async function make(sql: Sql, followUp: FollowUp, open: readonly Open[]): Promise<string | null> {
  const { projectId, source, title, body, inEpic = false, now } = followUp;
  const item: NewWorkItem = {
    projectId,
    id: null,
    title,
    body,
    type: "task",
    parent: inEpic ? source : null,
    deps: [],
    priority: inEpic ? 1 : 3,
    source: "review-followup",
    createdAt: null,
  };
  return refusedIsNull(async () => {
    const added = await addItem(sql, item, { now, follows: { source, seen: open.map((one) => one.id) } });
    if (!added.ok) throw new Bug(added.reason);
    return added.id;
  });
}

async function refusedIsNull(write: () => Promise<string>): Promise<string | null> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof Refused) return null;
    throw error;
  }
}
