import { renderHits, toHitJson } from "../../views/board.js";
import { boardScope, projectsIn, type ScopeOptions } from "../board-scope.js";
import type { Context } from "../context.js";
import { parseCount } from "../parse-count.js";

export interface SearchOptions extends ScopeOptions {
  readonly limit: string;
  readonly json?: boolean;
}

/** Several arguments are one text. Finding nothing is an answer: exit 0. */
export async function searchBoard(context: Context, words: readonly string[], options: SearchOptions): Promise<number> {
  const { app, out } = context;
  const limit = parseCount("--limit", options.limit);
  const store = await app.store("reader");
  const projectIds = await projectsIn(context, store, await boardScope(context, store, options));
  const text = words.join(" ");
  const hits = await store.search({ text, projectIds, limit });
  if (options.json) out.json(hits.map((hit) => toHitJson(hit, text)));
  else for (const line of renderHits(hits, text)) out.line(line);
  return 0;
}
