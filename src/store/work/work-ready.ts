import { pullRequestSources } from "../../core/board/payload.js";
import type { Scope } from "../../core/ports/tracker.js";
import type { WorkItem } from "../../core/ports/work-items.js";
import type { Sql, Value } from "../sql.js";
import { idleClaim, itemColumns, toItem } from "./work-rows.js";

const priorities = [0, 1, 2, 3];
const base = [200, 100, 40, 10];
const dayMs = 86_400_000;
const mostForAge = 50;

/** Priority counts, and so does age, for the first ten days. */
function scoreOf(item: { readonly priority: number | null; readonly createdAt: number }, now: number): number {
  const days = Math.max(0, now - item.createdAt) / dayMs;
  return baseOf(item.priority) + Math.min(5 * days, mostForAge);
}
function baseOf(priority: number | null): number {
  return base[priority ?? 2] ?? 10;
}
/** `first` are the first by priority and age. Of these priorities there may be older ones that come before some of them. */
function overtaking(first: readonly WorkItem[]): number[] {
  const last = first.at(-1)?.priority ?? 0;
  const mayPass = (lower: number, { priority }: WorkItem) =>
    (priority ?? 2) < lower && baseOf(priority) < baseOf(lower) + mostForAge;
  return priorities.filter((lower) => lower >= last && first.some((item) => mayPass(lower, item)));
}

export interface ReadyQuery {
  readonly projectId: string;
  readonly scope: Scope;
  readonly resume: boolean;
  readonly limit: number;
  readonly now: number;
  readonly sources?: readonly string[] | "issues";
}

/**
 * Items that may start now. Within one priority the older is never behind the younger, so the best few are among the
 * first by priority and age, and the first of those lower priorities that may overtake some of them: the cost does
 * not depend on how many items there are. Items of pull requests have ranges of their own besides, so that they are
 * found behind any number of issues, too.
 */
export async function readReady(sql: Sql, query: ReadyQuery): Promise<WorkItem[]> {
  // Whose claim is given up meanwhile is then among the heads.
  const fresh = [...(await readItems(sql, query, idle(query))), ...(await readFresh(sql, query))];
  const begun = query.resume ? await readHeads(sql, query, wasBegun) : [];
  const seen = new Set<string>();
  return [...sortByScore(begun, query.now), ...sortByScore(fresh, query.now)]
    .filter((item) => !seen.has(item.id) && seen.add(item.id))
    .slice(0, query.limit);
}

/** Which items, of one range of an index: several short questions are answered sooner than one of many parts. */
interface Range {
  readonly where: string;
  readonly params: readonly Value[];
  readonly order: string;
}

async function readItems(sql: Sql, query: ReadyQuery, { where, params, order }: Range): Promise<WorkItem[]> {
  // A limit that is a parameter has SQLite plan the statement anew each time, which takes longer than answering it.
  const text = `SELECT ${itemColumns} FROM work_items WHERE ${where} ORDER BY ${order} LIMIT ${query.limit}`;
  return (await sql.all(text, params)).map((row) => toItem(row, query.now));
}

/** Spelled as the partial indexes are, so that they are used. */
const waiting = "status = 'available' AND waits_for = 0 AND type = 'task'";
const wasBegun = "begun = 1 AND status IN ('available', 'failed') AND waits_for = 0 AND type = 'task'";

async function readFresh(sql: Sql, query: ReadyQuery): Promise<WorkItem[]> {
  const { sources } = query;
  if (sources === undefined || sources === "issues") return await readHeads(sql, query, waiting);
  const made = pullRequestSources.filter((source) => sources.includes(source));
  const others = sources.filter((source) => !pullRequestSources.includes(source));
  const items = others.length > 0 ? await readHeads(sql, { ...query, sources: others }, waiting) : [];
  for (const source of made)
    items.push(...(await readHeads(sql, { ...query, sources: [source] }, `${waiting} AND ${isMade}`)));
  return items;
}
/** Spelled as its index is. */
const isMade = "source IN ('code_review', 'rework', 'pr_merge', 'merge_fix')";

async function readHeads(sql: Sql, query: ReadyQuery, state: string): Promise<WorkItem[]> {
  const scope = restriction(query);
  // That there is a priority has SQLite take the index that has the source, too, where one is asked for.
  const where = `project_id = ? AND priority >= 0 AND ${state} ${scope.sql}`;
  const params = [query.projectId, ...scope.params];
  const items = await readItems(sql, query, { where, params, order: "priority, created_at, no" });
  if (items.length < query.limit) return items;
  for (const priority of overtaking(items)) {
    // Some of them may be there twice.
    const lower = { where: `${where} AND priority = ?`, params: [...params, priority], order: "created_at, no" };
    items.push(...(await readItems(sql, query, lower)));
  }
  return items;
}

/** Held by nobody who lives, few at any time. */
function idle(query: ReadyQuery): Range {
  const scope = restriction(query);
  return {
    where: `project_id = ? AND type = 'task' AND ${idleClaim} ${scope.sql}`,
    params: [query.projectId, query.now, ...scope.params],
    order: "no",
  };
}

function restriction(query: ReadyQuery): { sql: string; params: Value[] } {
  const scope = scopeCondition(query);
  const { sources } = query;
  if (sources === undefined) return scope;
  if (sources === "issues") return { ...scope, sql: `${scope.sql} AND NOT (${isMade})` };
  // One alone is compared by =, so that its own index range is used.
  const among = sources.length === 1 ? "= ?" : `IN (${sources.map(() => "?").join(", ")})`;
  return { sql: `${scope.sql} AND source ${among}`, params: [...scope.params, ...sources] };
}

export function scopeCondition({ projectId, scope }: Pick<ReadyQuery, "projectId" | "scope">): {
  sql: string;
  params: Value[];
} {
  switch (scope.type) {
    case "all":
      return { sql: "", params: [] };
    case "orphans":
      return { sql: "AND parent IS NULL", params: [] };
    case "ids":
      return { sql: `AND id IN (${scope.ids.map(() => "?").join(", ")})`, params: [...scope.ids] };
    case "epic":
      return {
        sql: `AND no IN (WITH RECURSIVE below (no) AS (
            SELECT no FROM work_items WHERE project_id = ? AND id = ?
            UNION SELECT work_items.no FROM work_items JOIN below ON work_items.parent = below.no
          ) SELECT no FROM below)`,
        params: [projectId, scope.epic],
      };
  }
}

function sortByScore(items: readonly WorkItem[], now: number): WorkItem[] {
  return [...items].sort(
    (one, other) =>
      scoreOf(other, now) - scoreOf(one, now) || one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1),
  );
}
