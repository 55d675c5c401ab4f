import { toSearchQuery } from "../core/board/search-query.js";
import type { WorkItem } from "../core/ports/work-items.js";
import { number, type Row, type Sql } from "./sql.js";
import { itemColumns, toItem, toWorkEvent, type WorkEvent } from "./work/work-rows.js";

export type Hit =
  | { readonly kind: "item"; readonly item: WorkItem }
  | { readonly kind: "event"; readonly event: WorkEvent };

export interface SearchQuery {
  readonly text: string;
  readonly projectIds: readonly string[];
  readonly limit: number;
  readonly now: number;
}

/** Items first, the one whose id was typed before all; then events. Best first. */
export async function searchBoard(sql: Sql, query: SearchQuery): Promise<Hit[]> {
  const match = toSearchQuery(query.text);
  const projects = JSON.stringify(query.projectIds);
  const named = await sql.all(
    `SELECT ${itemColumns} FROM work_items WHERE project_id IN (SELECT value FROM json_each(?)) AND id = ? LIMIT ?`,
    [projects, query.text.trim(), query.limit],
  );
  const matching = match === null ? [] : await matchItems(sql, { match, projects, limit: query.limit });
  const seen = new Set<number>();
  const items = [...named, ...matching].filter((row) => !seen.has(number(row, "no")) && seen.add(number(row, "no")));
  const room = query.limit - items.length;
  const events = match === null || room <= 0 ? [] : await matchEvents(sql, { match, projects, limit: room });
  return [
    ...items.slice(0, query.limit).map((row) => ({ kind: "item", item: toItem(row, query.now) }) as const),
    ...events.map((row) => ({ kind: "event", event: toWorkEvent(row) }) as const),
  ];
}

interface Match {
  readonly match: string;
  readonly projects: string;
  readonly limit: number;
}

/** Ids and titles weigh more than bodies. */
function matchItems(sql: Sql, { match, projects, limit }: Match): Promise<Row[]> {
  return sql.all(
    `SELECT ${itemColumns} FROM (SELECT rowid AS hit, bm25(work_text, 8.0, 4.0, 1.0, 1.0) AS rank_of FROM work_text
        WHERE work_text MATCH ?) JOIN work_items ON work_items.no = hit
      WHERE project_id IN (SELECT value FROM json_each(?)) ORDER BY rank_of, no LIMIT ?`,
    [match, projects, limit],
  );
}

function matchEvents(sql: Sql, { match, projects, limit }: Match): Promise<Row[]> {
  return sql.all(
    `SELECT work_events.* FROM (SELECT rowid AS hit FROM event_text WHERE event_text MATCH ?)
      JOIN work_events ON work_events.id = hit
      WHERE project_id IN (SELECT value FROM json_each(?)) ORDER BY id DESC LIMIT ?`,
    [match, projects, limit],
  );
}
