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
import { number, Refused, type Row, type Sql, type Statement, text, textOrNull } from "./sql.js";
import { baseOf, readState, type WholeState, writeState } from "./state-text.js";
import { numberReports, readTail, stepId, type Tail } from "./steps.js";

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

/** The machine's newest step. */
interface Head {
  readonly id: number;
  /** Its state weighs more than the rest of it: not worth keeping once it is out of date. */
  readonly heavy: boolean;
}

interface Plan {
  readonly statements: readonly Statement[];
  readonly next: Tail;
  readonly told: RecentStep;
  readonly head: Head;
  readonly base: WholeState | null;
}

interface Opened {
  readonly no: number;
  readonly stream: number;
  readonly epoch: number;
}

/**
 * One machine's journal. A commit is a single insert guarded by the epoch and by the position it expects to be free:
 * a newer driver makes it Fenced, another machine of the same run that was faster makes it try again one position on.
 */
export class MachineLog<S, E, F extends Keyed, R extends RunReport> implements Log<S, E, F, R> {
  readonly #options: MachineLogOptions<S>;
  readonly #shared: LogShared;
  #opened: Opened | null = null;
  #head: Head | null = null;
  /** The newest row whose state is whole. */
  #base: WholeState | null = null;

  constructor(options: MachineLogOptions<S>, shared: LogShared) {
    this.#options = options;
    this.#shared = shared;
  }

  async open(): Promise<MachineRow<S, F> | null> {
    const row = await this.#takeOver();
    this.#opened = { no: number(row, "no"), stream: number(row, "stream"), epoch: number(row, "epoch") };
    const { sql, tails } = this.#shared;
    const tail = await readTail(sql, this.#opened.stream);
    tails.set(this.#opened.stream, tail);
    const position = row.head === null ? tail.heads[this.#opened.no] : number(row, "head");
    if (position === undefined) return null;
    this.#head = { id: stepId(this.#opened.stream, position), heavy: true };
    return this.#readState(this.#head.id);
  }

  async commit(step: Step<S, E, F, R>): Promise<void> {
    const opened = this.#opened;
    if (opened === null) throw new Bug(`${this.#options.machine} was not opened`);
    const { sql, tails, recent, committed } = this.#shared;
    for (;;) {
      const tail = tails.get(opened.stream) ?? (await readTail(sql, opened.stream));
      const { statements, next, told, head, base } = this.#plan(step, opened, tail);
      try {
        await sql.batch(statements);
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        await this.#whyRefused(statements[error.statement], opened);
        continue;
      }
      tails.set(opened.stream, next);
      recent.add(opened.stream, told);
      this.#head = head;
      this.#base = base;
      committed();
      return;
    }
  }

  #plan(step: Step<S, E, F, R>, opened: Opened, tail: Tail): Plan {
    const { codec, machine, runId } = this.#options;
    const done = step.owed.length === 0;
    const next = nextTail(tail, opened.no, { reports: step.reports.length, done });
    const id = stepId(opened.stream, next.position);
    const state = codec.encode(step.state);
    const written = writeState(state, this.#base);
    const row = { ...toJson(step), state: written.text };
    const events = numberReports(step.reports, { runId, seq: tail.seq, at: step.arrival.at });
    const changed = events.flatMap((event) => codec.rows(event, step.state).map((change) => ({ change, event })));
    const changes = mergeChanges(changed).flatMap(({ change, event }) =>
      rowStatements(change, event, codec.ledgerIssue),
    );
    const base = written.isPatch ? this.#base : { id, state, length: written.text.length };
    // Old states go first: the room they leave on the page is where the new row goes.
    const statements = this.#outdated(base).map(forgetState);
    statements.push(insertStatement(opened, next, { id, at: step.arrival.at, ...row }), ...changes);
    if (step.signal !== null) statements.push(takeSignal(step.signal, machine));
    if (done) statements.push(endMachine(opened.no, next.position));
    const kept = row.arrival.length + (row.reports?.length ?? 0);
    const told = { position: next.position, seq: next.seq, at: step.arrival.at, reports: row.reports };
    return { statements, next, told, base, head: { id, heavy: row.state.length + row.owed.length > kept } };
  }

  /** Rows whose states are of no use once there is a newer one, which may be a patch of one of them. */
  #outdated(base: WholeState | null): number[] {
    const [head, whole] = [this.#head, this.#base];
    const heads = head?.heavy ? [head.id] : [];
    const rows = whole === null || whole.id === head?.id ? heads : [...heads, whole.id];
    return rows.filter((id) => id !== base?.id);
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
      const known = (await sql.all(selectMachine, [machine]))[0] ?? (await register(sql, { machine, kind, runId }));
      if (number(known, "done") === 1) return known;
      const driver = parseDriver(textOrNull(known, "driver"));
      if (driver !== null && !force && !isSelf(driver) && isAlive(driver)) throw new Driven(machine, driver);
      const [taken] = await sql.batch([raiseEpoch(number(known, "no"), number(known, "epoch"))]);
      if (taken?.[0] !== undefined) return taken[0];
    }
  }

  async #readState(id: number): Promise<MachineRow<S, F>> {
    const { sql } = this.#shared;
    const { codec, machine } = this.#options;
    const [row] = await sql.all("SELECT state, owed FROM steps WHERE id = ?", [id]);
    if (row === undefined) throw new Bug(`the newest step of ${machine} is missing`);
    const issue = codec.ledgerIssue;
    const ledger = issue === undefined ? [] : await readFindings(sql, { ...issue, all: true });
    const { state, base } = await readWhole(sql, { id, text: text(row, "state") });
    this.#base = base;
    return {
      state: codec.decode(state, ledger),
      owed: JSON.parse(text(row, "owed")) as F[],
    };
  }
}

const selectMachine = "SELECT no, stream, epoch, driver, done, head FROM machines WHERE id = ?";
const insertStep = `INSERT INTO steps (id, machine, at, seq, heads, reports, arrival, state, owed)
  SELECT ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE (SELECT epoch FROM machines WHERE no = ?) = ? ON CONFLICT (id) DO NOTHING`;

/** No other driver can have gone on since: the rows are as they were left. */
async function readWhole(
  sql: Sql,
  row: { readonly id: number; readonly text: string },
): Promise<{ readonly state: unknown; readonly base: WholeState }> {
  const earlier = baseOf(row.text);
  if (earlier === null) {
    const state = readState(row.text, undefined);
    return { state, base: { id: row.id, state, length: row.text.length } };
  }
  const [found] = await sql.all("SELECT state FROM steps WHERE id = ?", [earlier]);
  if (found === undefined) throw new Bug(`step ${earlier} is missing`);
  const { base } = await readWhole(sql, { id: earlier, text: text(found, "state") });
  return { state: readState(row.text, base.state), base };
}

interface StepJson {
  readonly arrival: string;
  readonly reports: string | null;
  readonly owed: string;
}

function toJson<S>(step: Step<S, unknown, unknown, RunReport>): StepJson {
  return {
    arrival: JSON.stringify(step.arrival),
    reports: step.reports.length === 0 ? null : JSON.stringify(step.reports),
    owed: JSON.stringify(step.owed),
  };
}

interface NewRow extends StepJson {
  readonly id: number;
  readonly at: number;
  readonly state: string;
}

function insertStatement(opened: Opened, next: Tail, row: NewRow): Statement {
  return {
    sql: insertStep,
    params: [
      row.id,
      opened.no,
      row.at,
      next.seq,
      JSON.stringify(next.heads),
      row.reports,
      row.arrival,
      row.state,
      row.owed,
      opened.no,
      opened.epoch,
    ],
    expect: 1,
  };
}

async function register(
  sql: Sql,
  { machine, kind, runId }: { readonly machine: string; readonly kind: string; readonly runId: string },
): Promise<Row> {
  const rows = await sql.batch([
    { sql: "INSERT INTO streams (run_id) VALUES (?) ON CONFLICT (run_id) DO NOTHING", params: [runId] },
    {
      sql: `INSERT INTO machines (id, kind, stream, epoch) SELECT ?, ?, no, 0 FROM streams WHERE run_id = ?
        ON CONFLICT (id) DO NOTHING`,
      params: [machine, kind, runId],
    },
    { sql: selectMachine, params: [machine], expect: 1 },
  ]);
  const row = rows[2]?.[0];
  if (row === undefined) throw new Bug(`${machine} was not registered`);
  return row;
}

function raiseEpoch(no: number, epoch: number): Statement {
  return {
    sql: `UPDATE machines SET epoch = epoch + 1, driver = ? WHERE no = ? AND epoch = ? AND done = 0
      RETURNING no, stream, epoch, driver, done, head`,
    params: [JSON.stringify(selfIdentity()), no, epoch],
  };
}

function nextTail(tail: Tail, machine: number, step: { readonly reports: number; readonly done: boolean }): Tail {
  const { [machine]: _old, ...others } = tail.heads;
  const position = tail.position + 1;
  return { position, seq: tail.seq + step.reports, heads: step.done ? others : { ...others, [machine]: position } };
}

function forgetState(id: number): Statement {
  return { sql: "UPDATE steps SET state = NULL, owed = NULL WHERE id = ?", params: [id] };
}
function takeSignal(id: number, machine: string): Statement {
  return { sql: "DELETE FROM inbox WHERE id = ? AND machine = ?", params: [id, machine], expect: 1 };
}
function endMachine(no: number, position: number): Statement {
  return {
    sql: "UPDATE machines SET done = 1, driver = NULL, head = ? WHERE no = ?",
    params: [position, no],
    expect: 1,
  };
}

function isSelf(driver: ProcessIdentity): boolean {
  const self = selfIdentity();
  return driver.pid === self.pid && driver.start === self.start && driver.boot === self.boot;
}

export function parseDriver(json: string | null): ProcessIdentity | null {
  return json === null ? null : (JSON.parse(json) as ProcessIdentity);
}
