import { pullRequestSources } from "../core/board/payload.js";
import type { Scope } from "../core/ports/tracker.js";
import type { WorkItem } from "../core/ports/work-items.js";
import type { Sql, Value } from "./sql.js";
import { idleClaim, itemColumns, toItem } from "./work-rows.js";

const priorities = [0, 1, 2, 3];
const base = [200, 100, 40, 10];
const dayMs = 86_400_000;

/** Priority counts, and so does age, for the first ten days. */
function scoreOf(item: { readonly priority: number | null; readonly createdAt: number }, now: number): number {
  const days = Math.max(0, now - item.createdAt) / dayMs;
  return (base[item.priority ?? 2] ?? 10) + Math.min(5 * days, 50);
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
 * heads of four index ranges: the cost does not depend on how many items there are. Items of pull requests have ranges
 * of their own besides, so that they are found behind any number of issues, too.
 */
export async function readReady(sql: Sql, query: ReadyQuery): Promise<WorkItem[]> {
  // Whose claim is given up meanwhile is then among the heads.
  const fresh = await readItems(sql, query, [idle(query), ...freshHeads(query)]);
  const begun = query.resume ? await readItems(sql, query, heads(query, wasBegun)) : [];
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

async function readItems(sql: Sql, query: ReadyQuery, from: readonly Range[]): Promise<WorkItem[]> {
  const items: WorkItem[] = [];
  for (const { where, params, order } of from) {
    // A limit that is a parameter has SQLite plan the statement anew each time, which takes longer than answering it.
    const text = `SELECT ${itemColumns} FROM work_items WHERE ${where} ORDER BY ${order} LIMIT ${query.limit}`;
    for (const row of await sql.all(text, params)) items.push(toItem(row, query.now));
  }
  return items;
}

/** Spelled as the partial indexes are, so that they are used. */
const waiting = "status = 'available' AND waits_for = 0 AND type = 'task'";
const wasBegun = "begun = 1 AND status IN ('available', 'failed') AND waits_for = 0 AND type = 'task'";

function freshHeads(query: ReadyQuery): Range[] {
  const { sources } = query;
  if (sources === undefined || sources === "issues") return heads(query, waiting);
  const made = pullRequestSources.filter((source) => sources.includes(source));
  const others = sources.filter((source) => !pullRequestSources.includes(source));
  return [
    ...made.flatMap((source) => heads({ ...query, sources: [source] }, `${waiting} AND ${isMade}`)),
    ...(others.length > 0 ? heads({ ...query, sources: others }, waiting) : []),
  ];
}
/** Spelled as its index is. */
const isMade = "source IN ('code_review', 'rework', 'pr_merge', 'merge_fix')";

function heads(query: ReadyQuery, state: string): Range[] {
  const scope = restriction(query);
  return priorities.map((priority) => ({
    where: `project_id = ? AND priority = ? AND ${state} ${scope.sql}`,
    params: [query.projectId, priority, ...scope.params],
    order: "created_at, no",
  }));
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
