import type { Finding } from "../core/finding.js";
import type { RowChange } from "../core/project.js";
import type { PublicEvent, RunReport } from "../core/report.js";
import { Driven, Fenced } from "../durable/fenced.js";
import type { Keyed, Log, Row as MachineRow, Step } from "../durable/types.js";
import { Bug } from "../lib/errors.js";
import { isAlive, type ProcessIdentity, selfIdentity } from "../lib/process-identity.js";
import { readFindings } from "./findings.js";
import type { RecentStep, RecentSteps } from "./recent-steps.js";
import { mergeChanges, rowStatements } from "./row-changes.js";
import { number, Refused, type Row, type Sql, type Statement, text, textOrNull, type Value } from "./sql.js";
import { readState, type WholeState, writeState } from "./state-text.js";
import { numberReports, readTail, stepId, type Tail, writeStep } from "./steps.js";

/** How a machine's state crosses the database. The ledger's findings are rows of their own, not part of the state's JSON. */
export interface Codec<S> {
  encode(state: S): unknown;
  decode(state: unknown, ledger: readonly Finding[]): S;
  readonly ledgerIssue?: { readonly projectId: string; readonly issueId: string };
  rows(event: PublicEvent, state: S): readonly RowChange[];
}

export interface MachineLogOptions<S> {
  readonly machine: string;
  readonly kind: string;
  readonly runId: string;
  readonly codec: Codec<S>;
  /** Take over from a living driver too; it is fenced at its next commit. */
  readonly force?: boolean;
}

/** What all logs of one store share. */
export interface LogShared {
  readonly sql: Sql;
  /** The ends of the journals as this process last saw them; a commit proves its guess or is refused. */
  readonly tails: Map<number, Tail>;
  readonly recent: RecentSteps;
  readonly committed: () => void;
}

interface Plan {
  readonly statements: readonly Statement[];
  readonly next: Tail;
  readonly told: RecentStep;
  readonly base: WholeState | null;
}

interface Opened {
  readonly no: number;
  readonly stream: number;
  readonly epoch: number;
}

/**
 * One machine's row and journal. A commit changes the row of the epoch it believes in and adds a step at the position it
 * expects to be free: a newer driver makes it Fenced, another machine of the same run that was faster makes it try again
 * one position on.
 */
export class MachineLog<S, E, F extends Keyed, R extends RunReport> implements Log<S, E, F, R> {
  readonly #options: MachineLogOptions<S>;
  readonly #shared: LogShared;
  #opened: Opened | null = null;
  /** The state as it was last written whole, where the machine's row has a patch of it. */
  #base: WholeState | null = null;

  constructor(options: MachineLogOptions<S>, shared: LogShared) {
    this.#options = options;
    this.#shared = shared;
  }

  async open(): Promise<MachineRow<S, F> | null> {
    const row = await this.#takeOver();
    this.#opened = { no: number(row, "no"), stream: number(row, "stream"), epoch: number(row, "epoch") };
    return row.state === null ? null : await this.#readState(row);
  }

  async commit(step: Step<S, E, F, R>): Promise<void> {
    const opened = this.#opened;
    if (opened === null) throw new Bug(`${this.#options.machine} was not opened`);
    const { sql, tails, recent, committed } = this.#shared;
    for (;;) {
      const tail = tails.get(opened.stream) ?? (await readTail(sql, opened.stream));
      const { statements, next, told, base } = this.#plan(step, opened, tail);
      try {
        // At once, so that no other machine of the run plans with an end that is out of date.
        await sql.batch(statements, () => {
          tails.set(opened.stream, next);
          recent.add(opened.stream, told);
          this.#base = base;
        });
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        await this.#whyRefused(statements[error.statement], opened);
        continue;
      }
      committed();
      return;
    }
  }

  #plan(step: Step<S, E, F, R>, opened: Opened, tail: Tail): Plan {
    const { codec, machine, runId } = this.#options;
    const next = { position: tail.position + 1, seq: tail.seq + step.reports.length };
    const { text: state, base, whole } = writeState(codec.encode(step.state), this.#base);
    const reports = step.reports.length === 0 ? null : JSON.stringify(step.reports);
    const events = numberReports(step.reports, { runId, seq: tail.seq, at: step.arrival.at });
    const changed = events.flatMap((event) => codec.rows(event, step.state).map((change) => ({ change, event })));
    const changes = mergeChanges(changed).flatMap(({ change, event }) =>
      rowStatements(change, event, codec.ledgerIssue),
    );
    const told = { position: next.position, events };
    const statements = [
      updateMachine(opened, { head: next.position, state, owed: JSON.stringify(step.owed) }, step.owed.length === 0),
      addStep(opened, { ...next, at: step.arrival.at }, writeStep(reports, JSON.stringify(step.arrival))),
      ...changes,
    ];
    if (whole !== null) statements.push(keepWhole(opened.no, whole));
    else if (base === null && this.#base !== null) statements.push(dropWhole(opened.no));
    if (step.signal !== null) statements.push(takeSignal(step.signal, machine));
    return { statements, next, told, base };
  }

  /** Fenced, or only beaten to the position: then the end of the journal is read anew. */
  async #whyRefused(statement: Statement | undefined, opened: Opened): Promise<void> {
    const { machine } = this.#options;
    const [row] = await this.#shared.sql.all("SELECT epoch FROM machines WHERE no = ?", [opened.no]);
    if (row === undefined || number(row, "epoch") !== opened.epoch) throw new Fenced(machine);
    if (statement?.sql !== insertStep)
      throw new Bug(`a step of ${machine} changes rows that are not there: ${statement?.sql}`);
    this.#shared.tails.delete(opened.stream);
  }

  /** Registers the machine if it is new and raises its epoch, unless another process that lives drives it. */
  async #takeOver(): Promise<Row> {
    const { machine, kind, runId, force } = this.#options;
    const { sql } = this.#shared;
    for (;;) {
      const [known] = await sql.all(selectMachine, [machine]);
      const added = known === undefined ? await register(sql, { machine, kind, runId }) : undefined;
      if (added !== undefined) return added;
      if (known === undefined) continue;
      if (number(known, "done") === 1) return known;
      const driver = parseDriver(textOrNull(known, "driver"));
      if (driver !== null && !force && !isSelf(driver) && isAlive(driver)) throw new Driven(machine, driver);
      const [taken, row] = await sql.batch([
        raiseEpoch(number(known, "no"), number(known, "epoch")),
        { sql: selectMachine, params: [machine] },
      ]);
      if (taken?.[0] !== undefined && row?.[0] !== undefined) return row[0];
    }
  }

  async #readState(row: Row): Promise<MachineRow<S, F>> {
    const { codec } = this.#options;
    const issue = codec.ledgerIssue;
    const ledger = issue === undefined ? [] : await readFindings(this.#shared.sql, { ...issue, all: true });
    const { state, base } = readState(text(row, "state"), textOrNull(row, "whole"));
    this.#base = base;
    return {
      state: codec.decode(state, ledger),
      owed: JSON.parse(text(row, "owed")) as F[],
    };
  }
}

const selectMachine = `SELECT no, stream, epoch, driver, done, machines.state, owed, states.state AS whole
  FROM machines LEFT JOIN states ON states.machine = no WHERE id = ?`;
const insertStep = `INSERT INTO steps (id, machine, at, seq, reports, arrival) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO NOTHING`;

function addStep(
  opened: Opened,
  { position, at, seq }: Tail & { readonly at: number },
  texts: readonly [Value, Value],
): Statement {
  return {
    sql: insertStep,
    params: [stepId(opened.stream, position), opened.no, at, seq, ...texts],
    expect: 1,
  };
}

/** Refused where a newer driver has raised the epoch. */
function updateMachine(
  { no, epoch }: Opened,
  now: { readonly head: number; readonly state: string; readonly owed: string },
  done: boolean,
): Statement {
  return {
    sql: `UPDATE machines SET head = ?, state = ?, owed = ? ${done ? ", done = 1, driver = NULL" : ""}
      WHERE no = ? AND epoch = ?`,
    params: [now.head, now.state, now.owed, no, epoch],
    expect: 1,
  };
}

function keepWhole(no: number, state: Value): Statement {
  return {
    sql: "INSERT INTO states (machine, state) VALUES (?, ?) ON CONFLICT (machine) DO UPDATE SET state = excluded.state",
    params: [no, state],
  };
}
function dropWhole(no: number): Statement {
  return { sql: "DELETE FROM states WHERE machine = ?", params: [no] };
}

/** The new machine, ours; undefined: another process was faster. */
async function register(
  sql: Sql,
  { machine, kind, runId }: { readonly machine: string; readonly kind: string; readonly runId: string },
): Promise<Row | undefined> {
  const [, added] = await sql.batch([
    { sql: "INSERT INTO streams (run_id) VALUES (?) ON CONFLICT (run_id) DO NOTHING", params: [runId] },
    {
      sql: `INSERT INTO machines (id, kind, stream, epoch, driver) SELECT ?, ?, no, 1, ? FROM streams WHERE run_id = ?
        ON CONFLICT (id) DO NOTHING RETURNING no, stream, epoch, state`,
      params: [machine, kind, JSON.stringify(selfIdentity()), runId],
    },
  ]);
  return added?.[0];
}

function raiseEpoch(no: number, epoch: number): Statement {
  return {
    sql: "UPDATE machines SET epoch = epoch + 1, driver = ? WHERE no = ? AND epoch = ? AND done = 0 RETURNING no",
    params: [JSON.stringify(selfIdentity()), no, epoch],
  };
}

function takeSignal(id: number, machine: string): Statement {
  return { sql: "DELETE FROM inbox WHERE id = ? AND machine = ?", params: [id, machine], expect: 1 };
}

function isSelf(driver: ProcessIdentity): boolean {
  const self = selfIdentity();
  return driver.pid === self.pid && driver.start === self.start && driver.boot === self.boot;
}

export function parseDriver(json: string | null): ProcessIdentity | null {
  return json === null ? null : (JSON.parse(json) as ProcessIdentity);
}
