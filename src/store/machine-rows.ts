import { selfIdentity } from "../lib/process-identity.js";
import { type Row, type Statement, text, textOrNull, type Value } from "./sql.js";
import { readState, type WholeState } from "./state-text.js";

/**
 * A machine's row, and the statements of its log. What a machine owes is written with its state, so that a run with
 * dozens of lives, each of them owed, writes only which came and went; `owed` says so then. Older rows have it there.
 */
const withState = "@";

/** State and owed together, as they are written. */
export interface StateAndOwed {
  readonly state: unknown;
  readonly owed: readonly unknown[];
}

export function readRow(row: Row): StateAndOwed & { readonly base: WholeState | null } {
  const { state, base } = readState(text(row, "state"), textOrNull(row, "whole"));
  const owed = text(row, "owed");
  if (owed === withState) return { ...(state as StateAndOwed), base };
  return { state, owed: JSON.parse(owed) as unknown[], base };
}

export interface Opened {
  /** null: it is new, and its first commit makes its row. */
  readonly no: number | null;
  readonly stream: number;
  readonly epoch: number;
}

/** One row in any case: what is known of the machine, and of its run. */
export const selectMachine = `SELECT machines.no, stream, epoch, driver, done, machines.state, owed,
    states.state AS whole, streams.no AS run_stream
  FROM (SELECT ? AS machine, ? AS run) AS asked LEFT JOIN machines ON machines.id = asked.machine
  LEFT JOIN states ON states.machine = machines.no LEFT JOIN streams ON streams.run_id = asked.run`;

interface MachineColumns {
  readonly head: number;
  /** With what it owes. */
  readonly state: string;
  readonly done: boolean;
}

/** Refused where somebody else has made it meanwhile. */
export function addMachine(
  { machine, kind }: { readonly machine: string; readonly kind: string },
  { stream, epoch }: Opened,
  { head, state, done }: MachineColumns,
): Statement {
  return {
    sql: `INSERT INTO machines (id, kind, stream, epoch, driver, done, head, state, owed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO NOTHING RETURNING no`,
    params: [
      machine,
      kind,
      stream,
      epoch,
      done ? null : JSON.stringify(selfIdentity()),
      done ? 1 : 0,
      head,
      state,
      withState,
    ],
    expect: 1,
  };
}

/** Refused where a newer driver has raised the epoch. */
export function updateMachine(no: number, { epoch }: Opened, { head, state, done }: MachineColumns): Statement {
  return {
    sql: `UPDATE machines SET head = ?, state = ?, owed = ? ${done ? ", done = 1, driver = NULL" : ""}
      WHERE no = ? AND epoch = ?`,
    params: [head, state, withState, no, epoch],
    expect: 1,
  };
}

export function raiseEpoch(no: number, epoch: number): Statement {
  return {
    sql: "UPDATE machines SET epoch = epoch + 1, driver = ? WHERE no = ? AND epoch = ? AND done = 0 RETURNING no",
    params: [JSON.stringify(selfIdentity()), no, epoch],
  };
}

/** A machine by its number, or by its name where the same transaction has just made it. */
type Which = number | string;
function noOf(which: Which): string {
  return typeof which === "number" ? "?" : "(SELECT no FROM machines WHERE id = ?)";
}

/** Refused where another machine of the run was faster. */
export function addStep(
  which: Which,
  { id, at, seq }: { readonly id: number; readonly at: number; readonly seq: number },
  texts: readonly [Value, Value],
): Statement {
  return {
    sql: `INSERT INTO steps (id, machine, at, seq, reports, arrival) VALUES (?, ${noOf(which)}, ?, ?, ?, ?)
      ON CONFLICT (id) DO NOTHING`,
    params: [id, which, at, seq, ...texts],
    expect: 1,
  };
}

export function keepWhole(which: Which, state: Value): Statement {
  return {
    sql: `INSERT INTO states (machine, state) VALUES (${noOf(which)}, ?)
      ON CONFLICT (machine) DO UPDATE SET state = excluded.state`,
    params: [which, state],
  };
}
export function dropWhole(which: Which): Statement {
  return { sql: `DELETE FROM states WHERE machine = ${noOf(which)}`, params: [which] };
}

export function takeSignal(id: number, machine: string): Statement {
  return { sql: "DELETE FROM inbox WHERE id = ? AND machine = ?", params: [id, machine], expect: 1 };
}
