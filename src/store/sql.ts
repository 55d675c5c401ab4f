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

export interface Sql {
  /** One transaction. The rows that each statement returned. `committed` is called before anything else can happen. */
  batch(statements: readonly Statement[], committed?: () => void): Promise<Row[][]>;
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
  constructor(statement: number) {
    super(`statement ${statement} of the transaction found the rows changed`);
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
