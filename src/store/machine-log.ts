import type { Finding } from "../core/finding.js";
import type { RowChange } from "../core/project.js";
import type { PublicEvent, RunReport } from "../core/report.js";
import { Driven, Fenced } from "../durable/fenced.js";
import type { Keyed, Log, Row as MachineRow, Step } from "../durable/types.js";
import { Bug } from "../lib/errors.js";
import { isAlive, isSame, type ProcessIdentity, selfIdentity } from "../lib/process-identity.js";
import { readFindings } from "./findings.js";
import {
  addMachine,
  addStep,
  dropWhole,
  keepWhole,
  type Opened,
  raiseEpoch,
  readRow,
  type StateAndOwed,
  selectMachine,
  takeSignal,
  updateMachine,
} from "./machine-rows.js";
import type { RecentStep, RecentSteps } from "./recent-steps.js";
import { mergeChanges, rowStatements } from "./row-changes.js";
import { number, numberOrNull, type Planned, Refused, type Row, type Sql, type Statement, textOrNull } from "./sql.js";
import { type WholeState, writeState } from "./state-text.js";
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

/**
 * One machine's row and journal. A commit changes the row of the epoch it believes in and adds a step at the position it
 * expects to be free: a newer driver makes it Fenced, another machine of the same run that was faster makes it try again
 * one position on. A new machine's first commit makes its row: whoever else has made it meanwhile drives it.
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
    if (row.no === null) {
      this.#opened = { no: null, stream: numberOrNull(row, "run_stream") ?? (await this.#addStream()), epoch: 1 };
      return null;
    }
    this.#opened = { no: number(row, "no"), stream: number(row, "stream"), epoch: number(row, "epoch") };
    return row.state === null ? null : await this.#readState(row);
  }

  async commit(step: Step<S, E, F, R>): Promise<void> {
    const opened = this.#opened;
    if (opened === null) throw new Bug(`${this.#options.machine} was not opened`);
    const { sql, tails, committed } = this.#shared;
    for (;;) {
      const tail = tails.get(opened.stream) ?? (await readTail(sql, opened.stream));
      const planned = this.#planned(step, opened, tail);
      try {
        const [rows] = await sql.batch(planned);
        if (rows?.[0] !== undefined) this.#opened = { ...opened, no: number(rows[0], "no") };
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        await this.#whyRefused(error, opened);
        continue;
      }
      committed();
      return;
    }
  }

  /** When its turn comes it goes behind what the run's other machines have written by then. */
  #planned(step: Step<S, E, F, R>, opened: Opened, seen: Tail): Planned {
    const { tails, recent } = this.#shared;
    const { stream } = opened;
    let former = seen;
    let plan: Plan | null = null;
    return {
      plan: () => {
        former = tails.get(stream) ?? seen;
        plan = this.#plan(step, opened, former);
        tails.set(stream, plan.next);
        return plan.statements;
      },
      committed: () => {
        if (plan === null) return;
        recent.add(stream, plan.told);
        this.#base = plan.base;
      },
      undone: () => void tails.set(stream, former),
    };
  }

  #plan(step: Step<S, E, F, R>, opened: Opened, tail: Tail): Plan {
    const { codec, machine, runId } = this.#options;
    const next = { position: tail.position + 1, seq: tail.seq + step.reports.length };
    const now: StateAndOwed = { state: codec.encode(step.state), owed: step.owed };
    const { text: state, base, whole } = writeState(now, this.#base);
    const reports = step.reports.length === 0 ? null : JSON.stringify(step.reports);
    const events = numberReports(step.reports, { runId, seq: tail.seq, at: step.arrival.at });
    const changed = events.flatMap((event) => codec.rows(event, step.state).map((change) => ({ change, event })));
    const changes = mergeChanges(changed).flatMap(({ change, event }) =>
      rowStatements(change, event, codec.ledgerIssue),
    );
    const told = { position: next.position, events };
    const [no, done] = [opened.no, step.owed.length === 0];
    const row = { head: next.position, state, done };
    const which = no ?? machine;
    const statements = [
      no === null ? addMachine(this.#options, opened, row) : updateMachine(no, opened, row),
      addStep(
        which,
        { id: stepId(opened.stream, next.position), seq: next.seq, at: step.arrival.at },
        writeStep(reports, JSON.stringify(step.arrival)),
      ),
      ...changes,
    ];
    if (whole !== null) statements.push(keepWhole(which, whole));
    else if (base === null && this.#base !== null) statements.push(dropWhole(which));
    if (step.signal !== null) statements.push(takeSignal(step.signal, machine));
    return { statements, next, told, base };
  }

  /** Fenced, or only beaten to the position: then the end of the journal is read anew. */
  async #whyRefused({ statement, message }: Refused, opened: Opened): Promise<void> {
    const { machine } = this.#options;
    const [row] = await this.#shared.sql.all("SELECT no, epoch, driver FROM machines WHERE id = ?", [machine]);
    if (opened.no === null && row !== undefined) throw drivenElsewhere(machine, row) ?? new Fenced(machine);
    if (opened.no !== null && (row?.no !== opened.no || row.epoch !== opened.epoch)) throw new Fenced(machine);
    if (statement !== 1) throw new Bug(`a step of ${machine} changes rows that are not there: ${message}`);
    this.#shared.tails.delete(opened.stream);
  }

  /** Raises the machine's epoch, if there is one, unless another process that lives drives it. */
  async #takeOver(): Promise<Row> {
    const { machine, runId, force } = this.#options;
    const { sql } = this.#shared;
    const read: Statement = { sql: selectMachine, params: [machine, runId] };
    for (;;) {
      const [known] = await sql.all(read.sql, read.params);
      if (known === undefined) throw new Bug(`nothing is known of ${machine}, not even that it is new`);
      if (known.no === null || number(known, "done") === 1) return known;
      const driven = force ? null : drivenElsewhere(machine, known);
      if (driven !== null) throw driven;
      const [taken, row] = await sql.batch([raiseEpoch(number(known, "no"), number(known, "epoch")), read]);
      if (taken?.[0] !== undefined && row?.[0] !== undefined) return row[0];
    }
  }

  /** The run's number, for its first machine. */
  async #addStream(): Promise<number> {
    const { runId } = this.#options;
    const [, rows] = await this.#shared.sql.batch([
      { sql: "INSERT INTO streams (run_id) VALUES (?) ON CONFLICT (run_id) DO NOTHING", params: [runId] },
      { sql: "SELECT no FROM streams WHERE run_id = ?", params: [runId], expect: 1 },
    ]);
    const [row] = rows ?? [];
    if (row === undefined) throw new Bug(`the run ${runId} has no number`);
    return number(row, "no");
  }

  async #readState(row: Row): Promise<MachineRow<S, F>> {
    const { codec } = this.#options;
    const issue = codec.ledgerIssue;
    const ledger = issue === undefined ? [] : await readFindings(this.#shared.sql, { ...issue, all: true });
    const { state, owed, base } = readRow(row);
    this.#base = base;
    return { state: codec.decode(state, ledger), owed: owed as readonly F[] };
  }
}

/** null: nobody who lives, or we ourselves. */
function drivenElsewhere(machine: string, row: Row): Driven | null {
  const driver = parseDriver(textOrNull(row, "driver"));
  return driver !== null && !isSame(driver, selfIdentity()) && isAlive(driver) ? new Driven(machine, driver) : null;
}

export function parseDriver(json: string | null): ProcessIdentity | null {
  return json === null ? null : (JSON.parse(json) as ProcessIdentity);
}
