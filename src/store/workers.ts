import { hostname } from "node:os";
import { isAlive, type ProcessIdentity, selfIdentity } from "../lib/process-identity.js";
import { number, type Row, type Sql, text } from "./sql.js";

/**
 * Who works on which run, and where. A worker is registered while its process drives the run. Only the process itself
 * says whether it lives: one on this machine whose process is gone is cleared away by the next that registers; one that
 * lives stays, however old its last heartbeat is, because laptops sleep; one on another machine is never judged here.
 */
export interface Worker {
  readonly runId: string;
  readonly projectId: string;
  readonly machine: string;
  readonly process: ProcessIdentity;
  readonly startedAt: number;
  readonly seenAt: number;
  /** unknown: it is on another machine. */
  readonly state: "alive" | "dead" | "unknown";
}

export interface Workers {
  /** This process drives the run from now on. Sweeps first. */
  register(runId: string): Promise<void>;
  beat(runId: string): Promise<void>;
  end(runId: string): Promise<void>;
  /** Takes out those whose process is gone, and names them. */
  sweep(): Promise<Worker[]>;
  /** null: of every project. */
  list(projectId: string | null): Promise<Worker[]>;
}

export function openWorkers(sql: Sql, now: () => number): Workers {
  const workers: Workers = {
    register: async (runId) => {
      await workers.sweep();
      await sql.batch([
        {
          sql: `INSERT INTO workers (run_id, pid, start, boot, machine, project_id, started_at, seen_at)
            SELECT ?, ?, ?, ?, ?, project_id, ?, ? FROM runs WHERE run_id = ?
            ON CONFLICT (run_id, pid, start, boot) DO UPDATE SET seen_at = excluded.seen_at`,
          params: [...keyOf(runId, selfIdentity()), hostname(), now(), now(), runId],
        },
      ]);
    },
    beat: async (runId) => {
      await sql.batch([
        {
          sql: `UPDATE workers SET seen_at = ? WHERE ${isWorker}`,
          params: [now(), ...keyOf(runId, selfIdentity())],
        },
      ]);
    },
    end: async (runId) => {
      await sql.batch([deletion(runId, selfIdentity())]);
    },
    sweep: async () => {
      const dead = (await workers.list(null)).filter(({ state }) => state === "dead");
      if (dead.length > 0) await sql.batch(dead.map(({ runId, process }) => deletion(runId, process)));
      return dead;
    },
    list: async (projectId) => {
      const rows = await sql.all(
        `SELECT * FROM workers ${projectId === null ? "" : "WHERE project_id = ?"} ORDER BY started_at, run_id`,
        projectId === null ? [] : [projectId],
      );
      return rows.map(toWorker);
    },
  };
  return workers;
}

const isWorker = "run_id = ? AND pid = ? AND start = ? AND boot = ?";

function keyOf(runId: string, { pid, start, boot }: ProcessIdentity) {
  return [runId, pid, start, boot] as const;
}

function deletion(runId: string, process: ProcessIdentity) {
  return { sql: `DELETE FROM workers WHERE ${isWorker}`, params: keyOf(runId, process) };
}

function toWorker(row: Row): Worker {
  const process = { pid: number(row, "pid"), start: text(row, "start"), boot: text(row, "boot") };
  const machine = text(row, "machine");
  return {
    runId: text(row, "run_id"),
    projectId: text(row, "project_id"),
    machine,
    process,
    startedAt: number(row, "started_at"),
    seenAt: number(row, "seen_at"),
    state: machine !== hostname() ? "unknown" : isAlive(process) ? "alive" : "dead",
  };
}
