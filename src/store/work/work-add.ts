import { parsePayload, payloadSourceOf } from "../../core/board/payload.js";
import { isRunSource, runSource } from "../../core/follow-up.js";
import { type AddResult, isItemId, type NewWorkItem } from "../../core/ports/work-items.js";
import { number, Refused, type Sql, type Statement } from "../sql.js";
import { eventStatement, type ItemKey, payloadColumns, readItem } from "./work-rows.js";

/** A statement, and what it means when it finds no row. */
export interface Checked {
  readonly statement: Statement;
  /** The reason in words, or: taken, raced, followed. */
  readonly refusal: string;
}

/** Whose follow-up an item is, where there is none but those that were `seen`. */
export interface Follows {
  readonly source: string;
  /** Open ones; where the source is a run, those of all runs. */
  readonly seen: readonly string[];
}

/** `follows`: when there is another follow-up by now, the batch is Refused. */
export async function addItem(
  sql: Sql,
  item: NewWorkItem,
  { now, follows = null }: { readonly now: number; readonly follows?: Follows | null },
): Promise<AddResult> {
  const wrong = findWrong(item);
  if (wrong !== null) return { ok: false, reason: wrong };
  for (;;) {
    const counter = await readCounter(sql, item.projectId);
    if (counter === null) return { ok: false, reason: `no project ${item.projectId}` };
    const id = item.id ?? `${item.projectId}-${counter}`;
    const checked = addStatements({ ...item, id }, { now, counter: item.id === null ? counter : null });
    if (follows !== null) checked.push({ statement: setFollows(item.projectId, id, follows), refusal: "followed" });
    else if (item.parent !== null) checked.push(mustBeOpen(item.projectId, item.parent));
    const refusal = await tryAll(sql, checked);
    if (refusal === null) return { ok: true, id };
    if (refusal === "followed") throw new Refused(checked.length - 1, refusal);
    if (refusal === "taken" && item.id === null) await skipNumber(sql, item.projectId, counter);
    else if (refusal === "taken") return { ok: false, reason: `the id ${id} is taken` };
    else if (refusal !== "raced") return { ok: false, ...(await whyRefused(sql, item, refusal)) };
  }
}

/** A new item is in nobody's way yet: one that depends on something that exists closes a circle only through its epic. */
async function whyRefused(sql: Sql, { projectId, parent, deps }: NewWorkItem, refusal: string) {
  if (parent !== null && refusal === isCompleted(parent)) {
    return { reason: refusal, hint: 'leave out --parent, or begin another epic: ratchet work add "…" --type epic' };
  }
  const dep = deps.find((each) => refusal === noSuchItem(each, projectId));
  if (dep === undefined || parent === null || (await readItem(sql, { projectId, id: dep }, 0)) === null) {
    return { reason: refusal };
  }
  return circleThrough(dep, parent);
}

/** An epic is completed after its issues, so none of them can wait for it. */
export function circleThrough(dep: string, epic: string): { readonly reason: string; readonly hint: string } {
  const waits = dep === epic ? "" : `${dep} waits for the epic ${epic}, and `;
  return {
    reason: `${waits}${epic} is completed only after its issues: one of them that waits for ${dep} would never begin`,
    hint: "let it depend on other issues of the epic, or leave it outside of the epic",
  };
}

/** What is wrong with an item before anybody looks at the board. */
export function findWrong({ id, source, payload = null }: NewWorkItem): string | null {
  if (id !== null && !isItemId(id, payload === null ? 64 : longestMade)) {
    return `"${id}" is no valid id: letters, digits, ".", "_" and "-", at most 64`;
  }
  if (payload === null) return null;
  const parsed = parsePayload(payload);
  if (!parsed.ok) return parsed.reason;
  return parsed.payload.source === payloadSourceOf(source)
    ? null
    : `a payload of ${parsed.payload.source} in an item of ${source}`;
}
/** Ids that are made of a project's name and a pull request's number may be longer than those that people choose. */
const longestMade = 128;

export function addStatements(
  item: NewWorkItem & { readonly id: string },
  { now, counter }: { readonly now: number; readonly counter: number | null },
): Checked[] {
  const key = { projectId: item.projectId, id: item.id };
  const deps = [...new Set(item.deps)];
  return [
    ...(counter === null ? [] : [{ statement: countUp(item.projectId, counter), refusal: "raced" }]),
    { statement: insertItem(item, now), refusal: "taken" },
    ...(item.parent === null
      ? []
      : [{ statement: setParent(key, item.parent), refusal: `no epic ${item.parent} in ${item.projectId}` }]),
    ...deps.map((dep) => ({
      statement: insertDep(key, dep),
      refusal: dep === item.id ? `${dep} cannot depend on itself` : noSuchItem(dep, item.projectId),
    })),
    { statement: countDeps(key), refusal: "raced" },
    { statement: eventStatement(key, { type: "added", at: now, body: { title: item.title } }), refusal: "raced" },
  ];
}

/** It is completed once, and what waited for it has gone on: nobody would see to a child that it gets later. */
function mustBeOpen(projectId: string, epic: string): Checked {
  const sql = "UPDATE work_items SET status = status WHERE project_id = ? AND id = ? AND status <> 'completed'";
  return { statement: { sql, params: [projectId, epic], expect: 1 }, refusal: isCompleted(epic) };
}

function isCompleted(epic: string): string {
  return `the epic ${epic} is completed and gets no further issues`;
}

function noSuchItem(id: string, projectId: string): string {
  return `no item ${id} in ${projectId}`;
}

/** What stood in the way; null: all of it was done. */
export async function tryAll(sql: Sql, checked: readonly Checked[]): Promise<string | null> {
  try {
    await sql.batch(checked.map(({ statement }) => statement));
    return null;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return checked[error.statement]?.refusal ?? "raced";
  }
}

async function readCounter(sql: Sql, projectId: string): Promise<number | null> {
  const [row] = await sql.all("SELECT next_item FROM projects WHERE id = ?", [projectId]);
  return row === undefined ? null : number(row, "next_item");
}

/** Somebody chose this number by hand. */
async function skipNumber(sql: Sql, projectId: string, counter: number): Promise<void> {
  const { expect: _any, ...statement } = countUp(projectId, counter);
  await sql.batch([statement]);
}

function countUp(projectId: string, counter: number): Statement {
  return {
    sql: "UPDATE projects SET next_item = next_item + 1 WHERE id = ? AND next_item = ?",
    params: [projectId, counter],
    expect: 1,
  };
}

function insertItem(item: NewWorkItem & { readonly id: string }, now: number): Statement {
  const { projectId, id, title, body, type, priority, source, createdAt, payload = null, status = "available" } = item;
  const columns = payloadColumns(payload);
  return {
    sql: `INSERT INTO work_items (project_id, id, title, body, type, priority, status, source, created_at, updated_at,
        payload, pr_number, cycle, escalated)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    params: [
      projectId,
      id,
      whole(title),
      whole(body),
      type,
      priority,
      status,
      source,
      createdAt ?? now,
      now,
      ...columns,
    ],
    expect: 1,
  };
}

/** The database reads a text up to its first NUL. */
function whole(text: string): string {
  return text.replaceAll("\0", "\ufffd");
}

function setFollows(projectId: string, id: string, { source, seen }: Follows): Statement {
  const { sql, params } = sameFollows(source);
  const isNew = seen.length === 0 ? "" : `AND others.id NOT IN (${seen.map(() => "?").join(", ")})`;
  return {
    sql: `UPDATE work_items SET follows = ? WHERE project_id = ? AND id = ? AND NOT EXISTS (SELECT 1
      FROM work_items AS others WHERE others.project_id = ? AND others.status <> 'completed' AND others.${sql} ${isNew})`,
    params: [source, projectId, id, projectId, ...params, ...seen],
    expect: 1,
  };
}

/** The condition by which an item is a follow-up of the source; those of all runs count as one. */
export function sameFollows(source: string): Pick<Statement, "sql" | "params"> {
  if (!isRunSource(source)) return { sql: "follows = ?", params: [source] };
  // "." is the character behind "-": all that begins like a run's.
  return { sql: "follows BETWEEN ? AND ?", params: [runSource(""), "run."] };
}

/** A parent is an epic, and no epic is its own ancestor. */
function setParent({ projectId, id }: ItemKey, parent: string): Statement {
  return {
    sql: `UPDATE work_items SET parent = (SELECT no FROM work_items AS epics
        WHERE project_id = ? AND id = ? AND type = 'epic')
      WHERE project_id = ? AND id = ? AND EXISTS (SELECT 1 FROM work_items AS epics
        WHERE project_id = ? AND id = ? AND type = 'epic')
        AND no NOT IN (WITH RECURSIVE above (no, parent) AS (
          SELECT no, parent FROM work_items WHERE project_id = ? AND id = ?
          UNION SELECT work_items.no, work_items.parent FROM work_items JOIN above ON work_items.no = above.parent
        ) SELECT no FROM above)`,
    params: [projectId, parent, projectId, id, projectId, parent, projectId, parent],
    expect: 1,
  };
}

/** Refused when the other item is missing, or already waits for this one, however far away; an epic waits for its issues. */
export function insertDep({ projectId, id }: ItemKey, on: string): Statement {
  return {
    sql: `INSERT INTO work_deps (item, on_item) SELECT one.no, other.no FROM work_items AS one, work_items AS other
      WHERE one.project_id = ? AND one.id = ? AND other.project_id = ? AND other.id = ?
        AND one.no NOT IN (WITH RECURSIVE reach (no) AS (
          SELECT no FROM work_items WHERE project_id = ? AND id = ?
          UNION SELECT on_item FROM work_deps JOIN reach ON item = reach.no
          UNION SELECT issues.no FROM work_items AS issues JOIN reach ON issues.parent = reach.no
            WHERE issues.status <> 'completed'
        ) SELECT no FROM reach)
      ON CONFLICT (item, on_item) DO UPDATE SET item = excluded.item`,
    params: [projectId, id, projectId, on, projectId, on],
    expect: 1,
  };
}

/** The one place where the number of unfinished dependencies is set from the dependencies themselves. */
export function countDeps({ projectId, id }: ItemKey): Statement {
  return {
    sql: `UPDATE work_items SET waits_for = (SELECT count(*) FROM work_deps JOIN work_items AS others ON others.no = on_item
        WHERE item = work_items.no AND others.status <> 'completed') WHERE project_id = ? AND id = ?`,
    params: [projectId, id],
    expect: 1,
  };
}
