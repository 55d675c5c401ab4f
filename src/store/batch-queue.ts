import { setTimeout as wait } from "node:timers/promises";
import type { Batch, Planned, Row, Statement } from "./sql.js";
import { isBusy } from "./sqlite-errors.js";

/**
 * When transactions are written. Most of one is the wait for the disk, and the lives of a run often have something to
 * record at the same moment: what is asked for in one turn of the event loop is written as one, in that order, and
 * nobody is told before the disk has it. Where that fails each is tried by itself, so that none fails for another's sake.
 */
export class BatchQueue {
  readonly #database: Database;
  #pending: Job[] = [];
  #isAtWork = false;

  constructor(database: Database) {
    this.#database = database;
  }

  add(batch: Batch): Promise<Row[][]> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ batch, deadline: Date.now() + this.#database.patienceMs, resolve, reject });
      if (this.#isAtWork) return;
      this.#isAtWork = true;
      setImmediate(() => void this.#work());
    });
  }

  /** What was asked for is still written; what another program is in the way of fails. */
  close(): void {
    const error = this.#writeAll();
    this.#giveUp(error, () => true);
  }

  async #work(): Promise<void> {
    const waits = waitsForOthers();
    for (;;) {
      const error = this.#writeAll();
      this.#giveUp(error, ({ deadline }) => Date.now() > deadline);
      if (this.#pending.length === 0) break;
      await waits();
    }
    this.#isAtWork = false;
  }

  /** Why what is left is left; null: nothing is. */
  #writeAll(): unknown {
    const jobs = this.#pending;
    this.#pending = [];
    if (jobs.length === 0) return null;
    const failure = this.#write(jobs);
    if (failure === null) return null;
    if (isBusy(failure.error)) return this.#keep(jobs, failure.error);
    const [first] = jobs;
    if (jobs.length === 1) return first?.reject(this.#database.toError(failure.error)) ?? null;
    for (const [index, job] of jobs.entries()) {
      const alone = this.#write([job]);
      if (alone === null) continue;
      if (isBusy(alone.error)) return this.#keep(jobs.slice(index), alone.error);
      job.reject(this.#database.toError(alone.error));
    }
    return null;
  }

  #keep(jobs: readonly Job[], error: unknown): unknown {
    this.#pending.unshift(...jobs);
    return error;
  }

  #giveUp(error: unknown, isLate: (job: Job) => boolean): void {
    for (const job of this.#pending.filter(isLate)) job.reject(this.#database.toError(error));
    this.#pending = this.#pending.filter((job) => !isLate(job));
  }

  /** All of them or none. */
  #write(jobs: readonly Job[]): { readonly error: unknown } | null {
    const { transaction, execute } = this.#database;
    const planned: Planned[] = [];
    const written: Row[][][] = [];
    try {
      transaction(() => {
        for (const { batch } of jobs) written.push(execute(statementsOf(batch, planned)));
      });
    } catch (error) {
      for (const { undone } of planned.reverse()) undone();
      return { error };
    }
    for (const { committed } of planned) committed();
    for (const [index, { resolve }] of jobs.entries()) resolve(written[index] ?? []);
    return null;
  }
}

export interface Database {
  /** Throws whatever `work` throws, and has then written nothing. */
  readonly transaction: (work: () => void) => void;
  readonly execute: (statements: readonly Statement[]) => Row[][];
  /** How long another program's transaction is waited for. */
  readonly patienceMs: number;
  /** What is told of a failure; a lock that is still there counts as one. */
  readonly toError: (error: unknown) => unknown;
}

interface Job {
  readonly batch: Batch;
  readonly deadline: number;
  readonly resolve: (rows: Row[][]) => void;
  readonly reject: (error: unknown) => void;
}

function statementsOf(batch: Batch, planned: Planned[]): readonly Statement[] {
  if (!("plan" in batch)) return batch;
  const statements = batch.plan();
  planned.push(batch);
  return statements;
}

/** From one try to the next, ever a little longer: nothing tells when another program's lock is gone. */
export function waitsForOthers(): () => Promise<void> {
  let waitMs = 1;
  return async () => {
    await wait(waitMs * (0.5 + Math.random()));
    waitMs = Math.min(waitMs * 2, 25);
  };
}
