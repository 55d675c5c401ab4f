import { isAlive, type ProcessIdentity, selfIdentity } from "../lib/process-identity.js";
import { parseDriver } from "./machine-log.js";
import { number, numberOrNull, type Row, type Sql, text, textOrNull } from "./sql.js";
import { baseOf, readState } from "./state-text.js";
import { readTail, stepId } from "./steps.js";

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

const columns = `SELECT machines.no, machines.id, kind, stream, run_id, done, driver, head
  FROM machines JOIN streams ON streams.no = machines.stream`;

/** null: there is none, or it has not recorded its first step. */
export async function readMachine(sql: Sql, id: string): Promise<MachineView | null> {
  const [view] = await readViews(sql, `${columns} WHERE machines.id = ?`, id);
  return view ?? null;
}

/** Every machine of a run that has begun, in the order they were opened. */
export async function readMachines(sql: Sql, runId: string): Promise<MachineView[]> {
  return readViews(
    sql,
    `${columns} WHERE stream = (SELECT no FROM streams WHERE run_id = ?) ORDER BY machines.no`,
    runId,
  );
}

async function readViews(sql: Sql, query: string, param: string): Promise<MachineView[]> {
  for (;;) {
    const rows = await sql.all(query, [param]);
    const stream = rows[0] === undefined ? 0 : number(rows[0], "stream");
    const { heads } = await readTail(sql, stream);
    const views = await Promise.all(rows.map((row) => readView(sql, row, heads)));
    // A step recorded between the two looks has emptied the row we went to.
    if (!views.includes("moved")) return views.filter((view) => view !== "moved" && view !== null);
  }
}

async function readView(
  sql: Sql,
  row: Row,
  heads: Readonly<Record<string, number>>,
): Promise<MachineView | "moved" | null> {
  const head = numberOrNull(row, "head") ?? heads[number(row, "no")];
  if (head === undefined) return null;
  const id = stepId(number(row, "stream"), head);
  const [step] = await sql.all("SELECT at, state, owed FROM steps WHERE id = ?", [id]);
  if (step === undefined || step.state === null) return "moved";
  const base = baseOf(text(step, "state"));
  const [earlier] = base === null ? [] : await sql.all("SELECT state FROM steps WHERE id = ?", [base]);
  if (base !== null && (earlier === undefined || earlier.state === null)) return "moved";
  const driver = parseDriver(textOrNull(row, "driver"));
  return {
    id: text(row, "id"),
    kind: text(row, "kind"),
    runId: text(row, "run_id"),
    done: number(row, "done") === 1,
    driver,
    driverAlive: driver !== null && isAlive(driver),
    at: number(step, "at"),
    state: readState(text(step, "state"), earlier && JSON.parse(text(earlier, "state"))),
    owed: JSON.parse(text(step, "owed")) as unknown[],
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
  const steps = await sql.all("SELECT arrival FROM steps WHERE id > ? AND id < ? AND machine = ? ORDER BY id", [
    stepId(stream, 0),
    stepId(stream + 1, 0),
    number(row, "no"),
  ]);
  return steps.map((step) => JSON.parse(text(step, "arrival")));
}

export async function letGo(sql: Sql, machine: string): Promise<void> {
  await sql.batch([
    {
      sql: "UPDATE machines SET driver = NULL WHERE id = ? AND driver = ?",
      params: [machine, JSON.stringify(selfIdentity())],
    },
  ]);
}
