import type { PublicEvent, RunReport } from "../core/report.js";
import { toIsoTime } from "../lib/clock.js";
import { packText } from "./packed-text.js";
import { number, type Row, type Sql, text, textOrNull, type Value } from "./sql.js";

/** The key of a step: its run's number and its position there, from 1 without gaps. */
const span = 2 ** 32;
export function stepId(stream: number, position: number): number {
  return stream * span + position;
}

/** Longer ones do not fit a page. */
const longestStep = 900;

/**
 * What a step's row has as reports and arrival. They say much of the same, so where they are long they are packed together,
 * in place of the reports, a line each.
 */
export function writeStep(reports: string | null, arrival: string): readonly [Value, Value] {
  if ((reports?.length ?? 0) + arrival.length <= longestStep) return [reports, arrival];
  return reports === null ? [null, packText(arrival)] : [packText(`${reports}\n${arrival}`), ""];
}
function reportsOf(row: Row): string | null {
  return textOrNull(row, "reports")?.split("\n", 1)[0] ?? null;
}
export function arrivalOf(row: Row): string {
  const arrival = text(row, "arrival");
  if (arrival !== "") return arrival;
  const both = text(row, "reports");
  return both.slice(both.indexOf("\n") + 1);
}

/** The end of a run's journal. */
export interface Tail {
  readonly position: number;
  /** The number of the run's last public event. */
  readonly seq: number;
}

export async function readStream(sql: Sql, runId: string): Promise<number | null> {
  const [row] = await sql.all("SELECT no FROM streams WHERE run_id = ?", [runId]);
  return row === undefined ? null : number(row, "no");
}

export async function readTail(sql: Sql, stream: number): Promise<Tail> {
  const [row] = await sql.all("SELECT id, seq FROM steps WHERE id > ? AND id < ? ORDER BY id DESC LIMIT 1", [
    stepId(stream, 0),
    stepId(stream + 1, 0),
  ]);
  if (row === undefined) return { position: 0, seq: 0 };
  return { position: number(row, "id") - stepId(stream, 0), seq: number(row, "seq") };
}

/** null: the run has made no step. */
export async function lastStepAt(sql: Sql, runId: string): Promise<number | null> {
  const stream = await readStream(sql, runId);
  if (stream === null) return null;
  const [row] = await sql.all("SELECT at FROM steps WHERE id > ? AND id < ? ORDER BY id DESC LIMIT 1", [
    stepId(stream, 0),
    stepId(stream + 1, 0),
  ]);
  return row === undefined ? null : number(row, "at");
}

/** Events after `seq`, by way of the step they begin in; `position` is where to go on. */
export interface EventPage {
  readonly events: readonly PublicEvent[];
  readonly position: number;
}

export async function readEvents(
  sql: Sql,
  run: { readonly runId: string; readonly stream: number },
  from: { readonly position: number; readonly limit: number },
): Promise<EventPage> {
  const rows = await sql.all(
    "SELECT id, at, seq, reports FROM steps WHERE id > ? AND id < ? AND reports IS NOT NULL ORDER BY id LIMIT ?",
    [stepId(run.stream, from.position), stepId(run.stream + 1, 0), from.limit],
  );
  const last = rows.at(-1);
  return {
    events: rows.flatMap((row) =>
      toEvents({ at: number(row, "at"), seq: number(row, "seq"), reports: reportsOf(row) }, run.runId),
    ),
    position: last === undefined ? from.position : number(last, "id") - stepId(run.stream, 0),
  };
}

/** The position before the first step whose events go beyond `seq`. Numbers rise with positions, so halving finds it. */
export async function positionOf(sql: Sql, stream: number, seq: number): Promise<number> {
  if (seq <= 0) return 0;
  let low = 0;
  let high = (await readTail(sql, stream)).position;
  while (low < high) {
    const middle = Math.floor((low + high) / 2) + 1;
    const [row] = await sql.all("SELECT seq FROM steps WHERE id = ?", [stepId(stream, middle)]);
    if (row !== undefined && number(row, "seq") <= seq) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** `seq`: the number of the last of them. */
function toEvents(
  step: { readonly at: number; readonly seq: number; readonly reports: string | null },
  runId: string,
): PublicEvent[] {
  if (step.reports === null) return [];
  const reports = JSON.parse(step.reports) as RunReport[];
  return numberReports(reports, { runId, seq: step.seq - reports.length, at: step.at });
}

/** A step's reports as public events, numbered on from `seq`. */
export function numberReports(
  reports: readonly RunReport[],
  from: { readonly runId: string; readonly seq: number; readonly at: number },
): PublicEvent[] {
  if (reports.length === 0) return [];
  const time = new Date(from.at).toISOString();
  return reports.map((report, index) => {
    const head = { seq: from.seq + index + 1, time, run_id: from.runId };
    return "until" in report ? { ...head, ...report, until: toIsoTime(report.until) } : { ...head, ...report };
  });
}
