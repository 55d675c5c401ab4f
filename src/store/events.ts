import type { PublicEvent } from "../core/report.js";
import type { RecentSteps } from "./recent-steps.js";
import type { Sql } from "./sql.js";
import { type EventPage, positionOf, readEvents, readStream } from "./steps.js";
import type { Wake } from "./wake.js";

const pageSize = 500;
const nothing: EventPage = { events: [], position: 0 };

/** Events of a run after number `seq`, at most `limit`. */
export async function eventsAfter(
  sql: Sql,
  runId: string,
  { seq, limit }: { readonly seq: number; readonly limit: number },
): Promise<PublicEvent[]> {
  const stream = await readStream(sql, runId);
  if (stream === null) return [];
  const position = await positionOf(sql, stream, seq);
  const page = await readEvents(sql, { runId, stream }, { position, limit: limit + 1 });
  return page.events.filter((event) => event.seq > seq).slice(0, limit);
}

/**
 * Every event of a run after number `seq`, those to come too, until aborted: all that there are together, each time the
 * next are asked for. What this process committed itself is not read back; whoever is woken and knows of nothing new
 * looks into the database.
 */
export async function* followEvents(
  { sql, wake, recent }: { readonly sql: Sql; readonly wake: Wake; readonly recent: RecentSteps },
  { runId, seq }: { readonly runId: string; readonly seq: number },
  abort: AbortSignal,
): AsyncGenerator<readonly PublicEvent[]> {
  const bell = wake.listen("event");
  try {
    let from: { readonly stream: number; readonly position: number } | null = null;
    while (!abort.aborted) {
      from ??= await startOf(sql, runId, seq);
      const known: EventPage | null = from === null ? nothing : recent.after(from);
      const page: EventPage = known ?? (from === null ? nothing : await readPage(sql, runId, from));
      if (from !== null) from = { ...from, position: page.position };
      const events = page.events.filter((event) => event.seq > seq);
      if (events.length > 0 && !abort.aborted) yield events;
      if (known !== null || page.events.length === 0) await bell.rung(abort);
    }
  } finally {
    bell.close();
  }
}

async function startOf(sql: Sql, runId: string, seq: number) {
  const stream = await readStream(sql, runId);
  return stream === null ? null : { stream, position: await positionOf(sql, stream, seq) };
}

function readPage(sql: Sql, runId: string, from: { readonly stream: number; readonly position: number }) {
  return readEvents(sql, { runId, stream: from.stream }, { position: from.position, limit: pageSize });
}
