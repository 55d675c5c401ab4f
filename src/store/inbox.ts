import { number, type Sql, text } from "./sql.js";
import type { Wake } from "./wake.js";

export interface Signal {
  readonly id: number;
  readonly body: unknown;
}

export interface NamedSignal extends Signal {
  readonly machine: string;
  /** When it was put there. */
  readonly at: number;
}

/** Where a run notes the follow-ups that it has made. */
export function followUpsName(runId: string): string {
  return `follow-ups:${runId}`;
}

/** Puts a signal into a machine's inbox, whether or not the machine exists yet. Returns its id. */
export async function sendSignal(
  sql: Sql,
  signal: { readonly machine: string; readonly body: unknown; readonly now: number },
): Promise<number> {
  const [rows] = await sql.batch([
    {
      sql: "INSERT INTO inbox (machine, body, at) VALUES (?, ?, ?) RETURNING id",
      params: [signal.machine, JSON.stringify(signal.body), signal.now],
      expect: 1,
    },
  ]);
  return rows?.[0] === undefined ? 0 : number(rows[0], "id");
}

/** All that waits in an inbox, oldest first. */
export async function readSignals(sql: Sql, machine: string): Promise<Signal[]> {
  const rows = await sql.all("SELECT id, body FROM inbox WHERE machine = ? ORDER BY id", [machine]);
  return rows.map((row) => ({ id: number(row, "id"), body: JSON.parse(text(row, "body")) }));
}

/** All that waits in the inboxes whose names begin so, oldest first. */
export async function readSignalsOf(sql: Sql, prefix: string): Promise<NamedSignal[]> {
  const rows = await sql.all("SELECT id, machine, body, at FROM inbox WHERE machine >= ? AND machine < ? ORDER BY id", [
    prefix,
    `${prefix}\u{10ffff}`,
  ]);
  return rows.map((row) => ({
    id: number(row, "id"),
    machine: text(row, "machine"),
    body: JSON.parse(text(row, "body")),
    at: number(row, "at"),
  }));
}

/** Takes a signal out of an inbox that no machine reads. */
export async function dropSignal(sql: Sql, machine: string, id: number): Promise<void> {
  await sql.batch([{ sql: "DELETE FROM inbox WHERE id = ? AND machine = ?", params: [id, machine] }]);
}

/** Answers to a machine that had ended before it read them, or to a part of it, are for the one that goes on in its place. */
export async function passAnswersOn(sql: Sql, from: string, to: string): Promise<void> {
  await sql.batch([
    {
      sql: `UPDATE inbox SET machine = ? || substr(machine, ?)
        WHERE (machine = ? OR substr(machine, 1, ?) = ?) AND json_extract(body, '$.name') = 'answer'`,
      params: [to, from.length + 1, from, from.length + 1, `${from}/`],
    },
  ]);
}

/** The first signal after `afterId`; waits for it. It stays in the inbox until the commit that records it takes it out. */
export async function nextSignal(
  { sql, wake }: { readonly sql: Sql; readonly wake: Wake },
  wanted: { readonly machine: string; readonly afterId: number },
  abort: AbortSignal,
): Promise<Signal> {
  const bell = wake.listen("signal");
  try {
    for (;;) {
      abort.throwIfAborted();
      const [row] = await sql.all("SELECT id, body FROM inbox WHERE machine = ? AND id > ? ORDER BY id LIMIT 1", [
        wanted.machine,
        wanted.afterId,
      ]);
      if (row !== undefined) return { id: number(row, "id"), body: JSON.parse(text(row, "body")) };
      await bell.rung(abort);
    }
  } finally {
    bell.close();
  }
}
