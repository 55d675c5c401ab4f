import { isAlive, type ProcessIdentity, selfIdentity } from "../lib/process-identity.js";
import { parseDriver } from "./machine-log.js";
import { readRow } from "./machine-rows.js";
import { number, type Row, type Sql, text, textOrNull } from "./sql.js";
import { arrivalOf, stepId } from "./steps.js";

/** A machine as a reader in any process sees it. */
export interface MachineView {
  readonly id: string;
  readonly kind: string;
  readonly runId: string;
  readonly done: boolean;
  readonly driver: ProcessIdentity | null;
  readonly driverAlive: boolean;
  /** When its newest step was recorded. */
  readonly at: number;
  readonly state: unknown;
  readonly owed: readonly unknown[];
}

export const columns = `SELECT machines.id, kind, run_id, done, driver, machines.state, owed, states.state AS whole, steps.at
  FROM machines JOIN streams ON streams.no = machines.stream
  JOIN steps ON steps.id = machines.stream * ${stepId(1, 0)} + head LEFT JOIN states ON states.machine = machines.no`;

/** null: there is none, or it has not recorded its first step. */
export async function readMachine(sql: Sql, id: string): Promise<MachineView | null> {
  const [row] = await sql.all(`${columns} WHERE machines.id = ?`, [id]);
  return row === undefined ? null : toView(row);
}

/** Every machine of a run that has begun, in the order they were opened. */
export async function readMachines(sql: Sql, runId: string): Promise<MachineView[]> {
  const rows = await sql.all(
    `${columns} WHERE stream = (SELECT no FROM streams WHERE run_id = ?) ORDER BY machines.no`,
    [runId],
  );
  return rows.map(toView);
}

export function toView(row: Row): MachineView {
  const driver = parseDriver(textOrNull(row, "driver"));
  const { state, owed } = readRow(row);
  return {
    id: text(row, "id"),
    kind: text(row, "kind"),
    runId: text(row, "run_id"),
    done: number(row, "done") === 1,
    driver,
    driverAlive: driver !== null && isAlive(driver),
    at: number(row, "at"),
    state,
    owed,
  };
}

/** Who drives it now; null: nobody who lives. */
export async function livingDriver(sql: Sql, machine: string): Promise<ProcessIdentity | null> {
  const [row] = await sql.all("SELECT driver FROM machines WHERE id = ?", [machine]);
  const driver = row === undefined ? null : parseDriver(textOrNull(row, "driver"));
  return driver !== null && isAlive(driver) ? driver : null;
}

/** The arrivals of a machine, oldest first: folding them gives its row. */
export async function readJournal(sql: Sql, machine: string): Promise<unknown[]> {
  const [row] = await sql.all("SELECT no, stream FROM machines WHERE id = ?", [machine]);
  if (row === undefined) return [];
  const stream = number(row, "stream");
  const steps = await sql.all(
    "SELECT reports, arrival FROM steps WHERE id > ? AND id < ? AND machine = ? ORDER BY id",
    [stepId(stream, 0), stepId(stream + 1, 0), number(row, "no")],
  );
  return steps.map((step) => JSON.parse(arrivalOf(step)));
}

export async function letGo(sql: Sql, machine: string): Promise<void> {
  await sql.batch([
    {
      sql: "UPDATE machines SET driver = NULL WHERE id = ? AND driver = ?",
      params: [machine, JSON.stringify(selfIdentity())],
    },
  ]);
}
