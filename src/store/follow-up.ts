import { newParagraphs } from "../core/follow-up.js";
import type { NewWorkItem } from "../core/ports/work-items.js";
import { Bug } from "../lib/errors.js";
import { Refused, type Sql, text } from "./sql.js";
import { addItem } from "./work-add.js";
import { eventStatement } from "./work-rows.js";

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
export async function appendFollowUp(sql: Sql, followUp: FollowUp): Promise<string> {
  for (let attempt = 1; attempt <= 100; attempt++) {
    const id = (await appendTo(sql, followUp)) ?? (await make(sql, followUp));
    if (id !== null) return id;
  }
  throw new Bug(`the follow-up of ${followUp.source} could not be made`);
}

/** null: there is none, or somebody else changed it at the same moment. */
async function appendTo(sql: Sql, { projectId, source, body, now }: FollowUp): Promise<string | null> {
  const [row] = await sql.all(
    "SELECT id, body FROM work_items WHERE project_id = ? AND follows = ? AND status <> 'completed'",
    [projectId, source],
  );
  if (row === undefined) return null;
  const id = text(row, "id");
  const old = text(row, "body");
  const added = newParagraphs(old, body);
  if (added.length === 0) return id;
  return refusedIsNull(async () => {
    await sql.batch([
      {
        sql: "UPDATE work_items SET body = ?, updated_at = ? WHERE project_id = ? AND id = ? AND body = ?",
        params: [[old, ...added].join("\n\n"), now, projectId, id, old],
        expect: 1,
      },
      eventStatement({ projectId, id }, { type: "appended", at: now, body: { source } }),
    ]);
    return id;
  });
}

async function make(sql: Sql, followUp: FollowUp): Promise<string | null> {
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
    const added = await addItem(sql, item, { now, follows: source });
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
