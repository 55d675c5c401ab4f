import { unpackText } from "./packed-text.js";

/**
 * All that the store asks of a database, small enough for SQLite and Postgres alike: portable SQL with `?`
 * placeholders, and transactions that are data. No transaction spans an await on the caller's side.
 */
export type Value = string | number | null | Uint8Array;
export type Row = Readonly<Record<string, Value>>;

export interface Statement {
  readonly sql: string;
  readonly params: readonly Value[];
  /** How many rows it must change (or return); otherwise the whole batch is rolled back and Refused. */
  readonly expect?: number;
}

/** Statements that depend on what was written before them: they are asked for when their turn comes. */
export interface Planned {
  readonly plan: () => readonly Statement[];
  /** They are written. Called before anything else can happen, in the order in which they were planned. */
  readonly committed: () => void;
  /** They are not written, so that the next plan must not count on them. The last one planned is told first. */
  readonly undone: () => void;
}
export type Batch = readonly Statement[] | Planned;

export interface Sql {
  /**
   * One transaction: all of it or nothing. The rows that each statement returned. What is asked for in the same turn of the
   * event loop may be written together with it, in that order; it is neither told before the disk has it, nor refused for others.
   */
  batch(batch: Batch): Promise<Row[][]>;
  all(sql: string, params: readonly Value[]): Promise<Row[]>;
  /** Whether another connection has committed anything since this was last asked. */
  othersCommitted(): boolean;
  close(): void;
}

/** A statement of the batch did not find what it expected: nothing was written. */
export class Refused extends Error {
  override readonly name = "Refused";
  /** Which one, counted from 0. */
  readonly statement: number;
  constructor(statement: number, what: string) {
    super(`statement ${statement} of the transaction found the rows changed: ${what}`);
    this.statement = statement;
  }
}

export function text(row: Row, column: string): string {
  const value = row[column];
  if (value instanceof Uint8Array) return unpackText(value);
  if (typeof value !== "string") throw new TypeError(`${column} is no text`);
  return value;
}
export function textOrNull(row: Row, column: string): string | null {
  return row[column] === null ? null : text(row, column);
}
export function number(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== "number") throw new TypeError(`${column} is no number`);
  return value;
}
export function numberOrNull(row: Row, column: string): number | null {
  return row[column] === null ? null : number(row, column);
}
