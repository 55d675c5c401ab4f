import { createRequire } from "node:module";
import type { DatabaseSyncInstance, StatementSyncInstance } from "@photostructure/sqlite";
import { ExternalError, UserError } from "../lib/errors.js";
import { isAlive } from "../lib/process-identity.js";
import { BatchQueue, waitsForOthers } from "./batch-queue.js";
import { parseDriver } from "./machine-log.js";
import { addNumbers, mergeRecords } from "./merge-records.js";
import { migrations } from "./schema.js";
import { type Batch, Refused, type Row, type Sql, type Statement, text, type Value } from "./sql.js";
import { isBusy, toStoreError } from "./sqlite-errors.js";

export interface SqliteOptions {
  readonly path: string;
  readonly readonly: boolean;
  /** How long to wait for another program's transaction before giving up. */
  readonly patienceMs: number;
}

type Binding = typeof import("@photostructure/sqlite");

interface Prepared {
  readonly statement: StatementSyncInstance;
  readonly returnsRows: boolean;
}

/**
 * The one module that knows the binding. A transaction runs synchronously from BEGIN to COMMIT (batch-queue.ts says
 * when), so nothing of this process can come between; another process's lock is waited for outside of it, without
 * blocking the event loop.
 */
export async function openSqlite(options: SqliteOptions): Promise<Sql> {
  // An import would start the loader of modules first, which takes longer than the binding.
  const { DatabaseSync }: Binding = createRequire(import.meta.url)("@photostructure/sqlite");
  const { path, readonly } = options;
  const open = (readOnly: boolean) => patiently(options, () => new DatabaseSync(path, { readOnly, timeout: 0 }));
  let database = await open(readonly);
  try {
    if (readonly && (await patiently(options, () => versionOf(database, path))) < migrations.length) {
      // A reader is the first to meet an older database: it migrates like anyone else.
      database.close();
      database = await open(false);
    }
    await patiently(options, () => configure(database));
    await patiently(options, () => migrate(database, path));
    return new Sqlite(database, options);
  } catch (error) {
    if (database.isOpen) database.close();
    throw error;
  }
}

class Sqlite implements Sql {
  readonly #database: DatabaseSyncInstance;
  readonly #options: SqliteOptions;
  readonly #prepared = new Map<string, Prepared>();
  readonly #queue: BatchQueue;
  #version: unknown = null;

  constructor(database: DatabaseSyncInstance, options: SqliteOptions) {
    this.#database = database;
    this.#options = options;
    this.#queue = new BatchQueue({
      transaction: (work) => this.#transaction(work),
      execute: (statements) => statements.map((statement, index) => this.#execute(statement, index)),
      patienceMs: options.patienceMs,
      toError: (error) => (isBusy(error) ? locked(options.path, error) : toStoreError(error, options.path)),
    });
  }

  batch(batch: Batch): Promise<Row[][]> {
    return this.#queue.add(batch);
  }

  all(sql: string, params: readonly Value[]): Promise<Row[]> {
    return patiently(this.#options, () => this.#prepare(sql).statement.all(...params) as Row[]);
  }

  /** SQLite counts what other connections commit. Where it cannot tell just now, they may have. */
  othersCommitted(): boolean {
    try {
      const row: unknown = this.#prepare("PRAGMA data_version").statement.get();
      const version = Object.values(row as Row)[0];
      const changed = version !== this.#version;
      this.#version = version;
      return changed;
    } catch (error) {
      if (isBusy(error)) return true;
      throw toStoreError(error, this.#options.path);
    }
  }

  close(): void {
    this.#queue.close();
    this.#prepared.clear();
    if (this.#database.isOpen) this.#database.close();
  }

  /** Nothing of this process can come between: it runs from BEGIN to COMMIT at once. */
  #transaction(work: () => void): void {
    this.#prepare("BEGIN IMMEDIATE").statement.run();
    try {
      work();
      this.#prepare("COMMIT").statement.run();
    } catch (error) {
      // A full disk has already rolled it back.
      if (this.#database.isTransaction) this.#prepare("ROLLBACK").statement.run();
      throw error;
    }
  }

  #execute({ sql, params, expect }: Statement, index: number): Row[] {
    const { statement, returnsRows } = this.#prepare(sql);
    const rows = returnsRows ? (statement.all(...params) as Row[]) : [];
    const count = returnsRows ? rows.length : Number(statement.run(...params).changes);
    if (expect !== undefined && count !== expect) throw new Refused(index, sql);
    return rows;
  }

  #prepare(sql: string): Prepared {
    const known = this.#prepared.get(sql);
    if (known) return known;
    const statement = this.#database.prepare(sql);
    const prepared = { statement, returnsRows: statement.columns().length > 0 };
    this.#prepared.set(sql, prepared);
    return prepared;
  }
}

/**
 * A commit writes every page it touches as a whole, and most of them for a few hundred bytes: small pages are less to
 * write. A database keeps the size it was made with.
 */
const pageBytes = 1024;
/** How long the journal beside the database becomes before it is worked in. */
const journalBytes = 4_096_000;

/** Every connection starts with weaker settings than the file was made with: they are set each time. */
function configure(database: DatabaseSyncInstance): void {
  database.exec("PRAGMA busy_timeout = 0; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
  database.function("merge_record", { deterministic: true }, mergeRecords);
  database.function("add_numbers", { deterministic: true }, addNumbers);
  if (textPragma(database, "journal_mode") !== "wal")
    database.exec(`PRAGMA page_size = ${pageBytes}; PRAGMA journal_mode = WAL`);
  const pages = Math.round(journalBytes / Number(textPragma(database, "page_size")));
  database.exec(`PRAGMA wal_autocheckpoint = ${pages}`);
}

function migrate(database: DatabaseSyncInstance, path: string): void {
  if (versionOf(database, path) === migrations.length) return;
  database.exec("BEGIN IMMEDIATE");
  try {
    const version = versionOf(database, path);
    if (version > 0 && version < migrations.length) requireNobodyAtWork(database, path);
    for (const script of migrations.slice(version)) database.exec(script);
    database.exec(`PRAGMA user_version = ${migrations.length}; COMMIT`);
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/** An older Ratchet that drives a run would find its tables changed under it and break off. */
function requireNobodyAtWork(database: DatabaseSyncInstance, path: string): void {
  const sql =
    "SELECT run_id, driver FROM machines JOIN streams ON streams.no = stream WHERE done = 0 AND driver IS NOT NULL";
  for (const row of database.prepare(sql).all() as Row[]) {
    const driver = parseDriver(text(row, "driver"));
    if (driver === null || !isAlive(driver)) continue;
    throw new UserError(
      `${path} is in use by an older Ratchet: process ${driver.pid} works on run ${text(row, "run_id")}`,
      {
        code: "older-at-work",
        hint: `wait for its end, or stop it with kill ${driver.pid} and go on with --resume`,
      },
    );
  }
}

function versionOf(database: DatabaseSyncInstance, path: string): number {
  const version = Number(textPragma(database, "user_version"));
  if (version <= migrations.length) return version;
  throw new UserError(
    `${path} was written by a newer Ratchet (format ${version}, this one knows ${migrations.length})`,
    {
      code: "newer-database",
      hint: "update Ratchet, or set RATCHET_HOME to another folder",
    },
  );
}

function textPragma(database: DatabaseSyncInstance, name: string): string {
  const row: unknown = database.prepare(`PRAGMA ${name}`).get();
  return String(Object.values(row as Row)[0]);
}

/** Tries until the other program's lock is gone; every other failure is told in our own words. */
async function patiently<T>({ path, patienceMs }: SqliteOptions, attempt: () => T): Promise<T> {
  const deadline = Date.now() + patienceMs;
  const waits = waitsForOthers();
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error)) throw toStoreError(error, path);
      if (Date.now() > deadline) throw locked(path, error);
    }
    await waits();
  }
}

function locked(path: string, cause: unknown): ExternalError {
  return new ExternalError("database", `the database is locked by another program: ${path}`, {
    retryable: true,
    hint: `find it with: fuser ${path}`,
    cause,
  });
}
