import type { Finding } from "../core/finding.js";
import type { WorkItem } from "../core/ports/work-items.js";
import type { RunRecord } from "../core/record.js";
import type { PublicEvent, RunReport } from "../core/report.js";
import type { RunOptions } from "../core/run/effects.js";
import type { Settings } from "../core/settings.js";
import type { Keyed, Log } from "../durable/types.js";
import { statsOf } from "../lib/files.js";
import type { Home } from "../lib/home.js";
import type { ProcessIdentity } from "../lib/process-identity.js";
import { deleteRun } from "./delete-run.js";
import { eventsAfter, followEvents } from "./events.js";
import {
  closeDirect,
  type DirectClose,
  type DirectWaiver,
  type FindingName,
  type FindingsQuery,
  findFinding,
  readFindings,
  waiveDirect,
} from "./findings.js";
import { prepareHome } from "./home-files.js";
import { findKnownRun, type ImportedRun, type ImportResult, importRun } from "./import-run.js";
import {
  dropSignal,
  type NamedSignal,
  nextSignal,
  passAnswersOn,
  readSignals,
  readSignalsOf,
  type Signal,
  sendSignal,
} from "./inbox.js";
import { type LogShared, MachineLog, type MachineLogOptions } from "./machine-log.js";
import { letGo, livingDriver, type MachineView, readJournal, readMachine, readMachines } from "./machines.js";
import { projectOutsideOfWorktrees } from "./not-a-project.js";
import { countOpenItems, listProjects, moveProject, type Project, registerProject, removeProject } from "./projects.js";
import { RecentSteps } from "./recent-steps.js";
import {
  createRun,
  endedElsewhere,
  findRun,
  issueRecord,
  issueRecords,
  lastRecord,
  listRuns,
  type PastLives,
  pastLives,
  type RunHead,
  readRunRecord,
  runsWith,
  type StoredIssue,
  type StoredRun,
  type UnfinishedRun,
  unfinishedRuns,
} from "./runs.js";
import { type Hit, searchBoard } from "./search.js";
import type { Sql } from "./sql.js";
import { openSqlite } from "./sqlite.js";
import { lastStepAt } from "./steps.js";
import { readUnfinishedLives, type UnfinishedLife } from "./unfinished-lives.js";
import { Wake } from "./wake.js";
import { exportItems } from "./work/work-export.js";
import { type Board, openBoard } from "./work/work-items.js";
import { type Observing, observeBoard } from "./work/work-observe.js";
import { readWorkEvents, type WorkEvent } from "./work/work-rows.js";
import { openWorkers, type Workers } from "./workers.js";

export type { ImportedIssue, ImportedRun, OnlyHistory } from "./import-run.js";
export type { Codec } from "./machine-log.js";
export type { MachineView } from "./machines.js";
export type { Project } from "./projects.js";
export type { RunHead, StoredIssue, StoredRun, UnfinishedRun } from "./runs.js";
export type { Hit } from "./search.js";
export type { Board } from "./work/work-items.js";
export type { WorkEvent } from "./work/work-rows.js";

/** All that Ratchet remembers. Every call is one short transaction, or a read that blocks nobody. */
export interface Store {
  log<S, E, F extends Keyed, R extends RunReport>(options: MachineLogOptions<S>): Log<S, E, F, R>;
  /** Accepted before the machine exists. Returns the signal's id. */
  signal(machine: string, body: unknown): Promise<number>;
  /** Waits for the first signal after `afterId`; rejects when aborted. The commit whose step names it takes it out. */
  nextSignal(machine: string, afterId: number, abort: AbortSignal): Promise<Signal>;
  /** Something waits in the machine's inbox. */
  hasSignals(machine: string): Promise<boolean>;
  /** For an inbox that no machine reads: what is in it, and out with what is done. */
  signals(machine: string): Promise<Signal[]>;
  dropSignal(machine: string, id: number): Promise<void>;
  /** Of every inbox whose name begins so. */
  signalsOf(prefix: string): Promise<NamedSignal[]>;
  /** Answers that a machine and its parts had not read when it ended, to the one that goes on in its place. */
  passAnswersOn(from: string, to: string): Promise<void>;
  machineState(id: string): Promise<MachineView | null>;
  /** Machines of kind `issue` in a run that have begun. */
  issueStates(runId: string): Promise<MachineView[]>;
  /** Every machine of a run that has begun, in the order they were opened. */
  machines(runId: string): Promise<MachineView[]>;
  livingDriver(machine: string): Promise<ProcessIdentity | null>;
  /** This process drives the machine no longer, although it lives on: whoever wants to may. */
  letGo(machine: string): Promise<void>;
  journal(machine: string): Promise<unknown[]>;

  createRun(run: {
    readonly record: RunHead;
    readonly settings: Settings;
    readonly options: RunOptions;
  }): Promise<void>;
  /** Takes out a run that is over, with its journal, events and records. False: it is not over, or not there. */
  deleteRun(runId: string): Promise<boolean>;
  /** Takes over a run that was driven elsewhere and is over: its records, and findings for its issues' ledgers. */
  importRun(run: ImportedRun): Promise<ImportResult>;
  /** Under which id the project knows a run of this id already, driven here or imported; null: it does not. */
  findKnownRun(name: Pick<RunHead, "run_id" | "project_id">): Promise<string | null>;
  runs(projectId: string | null, limit: number): Promise<StoredRun[]>;
  /** A unique beginning of its id, or `last` (of the project, when given). Throws Refusal. */
  run(which: string, projectId?: string | null): Promise<StoredRun>;
  runRecord(run: StoredRun): Promise<RunRecord>;
  unfinishedRuns(projectId: string | null): Promise<UnfinishedRun[]>;
  /** Lives of issues that have not ended, of runs that have not; `besides`: of other runs than this one. */
  unfinishedLives(projectId: string, besides?: string): Promise<UnfinishedLife[]>;
  lastStepAt(runId: string): Promise<number | null>;
  issueRecords(runId: string): Promise<StoredIssue[]>;
  issueRecord(runId: string, issueId: string): Promise<StoredIssue | null>;
  lastRecord(projectId: string, issueId: string): Promise<StoredIssue | null>;
  /** The runs that have worked on the issue, newest first. */
  runsWith(projectId: string, issueId: string): Promise<string[]>;
  pastLives(projectId: string, issueId: string): Promise<PastLives>;
  /** The other run in which the issue came to its last end since this one began; null: none. */
  endedElsewhere(issue: {
    readonly projectId: string;
    readonly issueId: string;
    readonly runId: string;
  }): Promise<string | null>;

  eventsAfter(runId: string, seq: number, limit: number): Promise<PublicEvent[]>;
  followEvents(runId: string, fromSeq: number, abort: AbortSignal): AsyncIterable<readonly PublicEvent[]>;
  /** Events of the board after a cursor, which is the last event's id. */
  observeAfter(cursor: number, limit: number): Promise<WorkEvent[]>;
  /** The board's events in order, with `follow` those to come too, until aborted. */
  observe(what: Observing, abort: AbortSignal): AsyncIterable<WorkEvent>;
  /** Whatever is typed: text that has no word in it finds nothing. */
  search(query: {
    readonly text: string;
    readonly projectIds: readonly string[];
    readonly limit: number;
  }): Promise<Hit[]>;
  /** Every item of a project, page by page. */
  exportItems(projectId: string): AsyncIterable<WorkItem>;

  findings(query: FindingsQuery): Promise<Finding[]>;
  /** By a unique beginning of its id; of several with the same id the only open one. Throws Refusal. */
  finding(name: FindingName): Promise<Finding>;
  /** Only where no driver of the issue lives. */
  waiveDirect(waived: DirectWaiver): Promise<Finding>;
  closeDirect(closed: DirectClose): Promise<Finding>;

  registerProject(repoPath: string): Promise<Project>;
  projectAt(repoPath: string): Promise<Project | null>;
  projects(which?: "removed too"): Promise<Project[]>;
  /** Items that are not completed, counted no further than `most`. */
  openItems(projectId: string, most: number): Promise<number>;
  /** No longer shown; its next use brings it back. False: there is none. */
  removeProject(projectId: string): Promise<boolean>;
  /** Its repository is in another place now. What was made of it there meanwhile is removed. False: it is elsewhere. */
  moveProject(project: Project, repoPath: string): Promise<boolean>;
  readonly workItems: Board;
  readonly workers: Workers;
  close(): void;
}

export interface StoreOptions {
  readonly home: Home;
  /** For readers: nothing is made or migrated unless the database is missing. */
  readonly readonly?: boolean;
  readonly clock?: { now(): number };
  /** How long to wait for another program that holds the database. */
  readonly patienceMs?: number;
}

export async function openStore(options: StoreOptions): Promise<Store> {
  const { home, readonly = false, clock = Date, patienceMs = 60_000 } = options;
  const asReader = readonly && statsOf(home.database)?.isFile() === true;
  if (!asReader) prepareHome(home);
  const sql = await openSqlite({ path: home.database, readonly: asReader, patienceMs });
  const wake = new Wake(home.wake, () => sql.othersCommitted());
  const now = () => clock.now();
  const recent = new RecentSteps();
  const shared: LogShared = { sql, tails: new Map(), recent, committed: () => wake.touch("event") };
  return {
    log: (options) => new MachineLog(options, shared),
    signal: async (machine, body) => {
      const id = await sendSignal(sql, { machine, body, now: now() });
      wake.touch("signal");
      return id;
    },
    nextSignal: (machine, afterId, abort) => nextSignal({ sql, wake }, { machine, afterId }, abort),
    hasSignals: async (machine) =>
      (await sql.all("SELECT 1 AS there FROM inbox WHERE machine = ? LIMIT 1", [machine])).length > 0,
    signals: (machine) => readSignals(sql, machine),
    signalsOf: (prefix) => readSignalsOf(sql, prefix),
    dropSignal: (machine, id) => dropSignal(sql, machine, id),
    passAnswersOn: async (from, to) => {
      await passAnswersOn(sql, from, to);
      wake.touch("signal");
    },
    machineState: (id) => readMachine(sql, id),
    issueStates: async (runId) => (await readMachines(sql, runId)).filter((machine) => machine.kind === "issue"),
    machines: (runId) => readMachines(sql, runId),
    livingDriver: (machine) => livingDriver(sql, machine),
    letGo: (machine) => letGo(sql, machine),
    journal: (machine) => readJournal(sql, machine),
    ...runQueries(sql),
    eventsAfter: (runId, seq, limit) => eventsAfter(sql, runId, { seq, limit }),
    followEvents: (runId, fromSeq, abort) => followEvents({ sql, wake, recent }, { runId, seq: fromSeq }, abort),
    observeAfter: (cursor, limit) => readWorkEvents(sql, { cursor, limit }),
    observe: (what, abort) => observeBoard({ sql, wake }, what, abort),
    search: (query) => searchBoard(sql, { ...query, now: now() }),
    exportItems: (projectId) => exportItems(sql, projectId, now()),
    findings: (query) => readFindings(sql, query),
    finding: (name) => findFinding(sql, name),
    waiveDirect: (waived) => waiveDirect(sql, { ...waived, now: now() }),
    closeDirect: (closed) => closeDirect(sql, closed),
    registerProject: async (repoPath) =>
      (await projectOutsideOfWorktrees(sql, home, repoPath)) ?? (await registerProject(sql, repoPath, now())),
    projectAt: (repoPath) => projectOutsideOfWorktrees(sql, home, repoPath),
    projects: (which) => listProjects(sql, which),
    openItems: (projectId, most) => countOpenItems(sql, projectId, most),
    removeProject: (projectId) => removeProject(sql, projectId, now()),
    moveProject: (project, repoPath) => moveProject(sql, project, { repoPath, now: now() }),
    workers: openWorkers(sql, now),
    workItems: openBoard({ sql, now, committed: () => wake.touch("board"), wake }),
    close: () => {
      wake.close();
      sql.close();
    },
  };
}

function runQueries(sql: Sql) {
  return {
    createRun: (run) => createRun(sql, run),
    deleteRun: (runId) => deleteRun(sql, runId),
    importRun: (run) => importRun(sql, run),
    findKnownRun: (name) => findKnownRun(sql, name),
    runs: (projectId, limit) => listRuns(sql, projectId, limit),
    run: (which, projectId) => findRun(sql, which, projectId ?? null),
    runRecord: (run) => readRunRecord(sql, run),
    unfinishedRuns: (projectId) => unfinishedRuns(sql, projectId, "run"),
    unfinishedLives: (projectId, besides = "") => readUnfinishedLives(sql, projectId, besides),
    lastStepAt: (runId) => lastStepAt(sql, runId),
    issueRecords: (runId) => issueRecords(sql, runId),
    issueRecord: (runId, issueId) => issueRecord(sql, runId, issueId),
    lastRecord: (projectId, issueId) => lastRecord(sql, projectId, issueId),
    runsWith: (projectId, issueId) => runsWith(sql, projectId, issueId),
    pastLives: (projectId, issueId) => pastLives(sql, projectId, issueId),
    endedElsewhere: (issue) => endedElsewhere(sql, issue),
  } satisfies Partial<Store>;
}
