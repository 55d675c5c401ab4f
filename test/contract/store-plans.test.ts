import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { countOpenItems, registerProject } from "../../src/store/projects.js";
import { type Sql, type Statement, text } from "../../src/store/sql.js";
import { openSqlite } from "../../src/store/sqlite.js";
import { Wake } from "../../src/store/wake.js";
import { addItem } from "../../src/store/work/work-add.js";
import { boardChanged } from "../../src/store/work/work-changed.js";
import { claimItem, settleItem } from "../../src/store/work/work-changes.js";
import { listItems } from "../../src/store/work/work-list.js";
import { cursorBefore } from "../../src/store/work/work-observe.js";
import { readInPullRequests } from "../../src/store/work/work-pull-requests.js";
import { readReady } from "../../src/store/work/work-ready.js";
import { isStopped } from "../../src/store/work/work-rows.js";
import { addOnce, readEscalated, readOfPullRequest, readRework } from "../../src/store/work/work-succeed.js";
import { newItem } from "./new-item.js";
import { reworkItem } from "./pull-request-items.js";

const now = 1_700_000_000_000;
let folder: string;
let real: Sql;
let asked: Statement[];
/** The real database, which also writes down what it is asked. */
let sql: Sql;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "ratchet-plans-"));
  real = await openSqlite({ path: join(folder, "ratchet.db"), readonly: false, patienceMs: 1000 });
  asked = [];
  sql = {
    ...{ othersCommitted: () => real.othersCommitted(), close: () => real.close() },
    all: (statement, params) => {
      asked.push({ sql: statement, params });
      return real.all(statement, params);
    },
    batch: (batch) => {
      asked.push(...("plan" in batch ? batch.plan() : batch));
      return real.batch(batch);
    },
  };
  await registerProject(sql, "/work/p", now);
  await addItem(sql, newItem("p", { id: "a" }), { now });
  await addOnce(sql, reworkItem("p"), { now });
  asked = [];
});
afterEach(() => {
  real.close();
  rmSync(folder, { recursive: true, force: true });
});

const query = { projectId: "p", scope: { type: "all" }, resume: true, limit: 1, now } as const;
const open = ["available", "claimed", "blocked", "waiting_for_response", "failed", "quarantined"] as const;
const key = { projectId: "p", id: "a" };
const never = new AbortController().signal;
const waiting = () => ({ sql, wake: new Wake(join(folder, "wake"), () => false) });

it.each([
  ["claim-next", () => readReady(sql, query), "work_ready"],
  ["claim-next of a source", () => readReady(sql, { ...query, sources: ["rework"] }), "work_ready_of_pull_requests"],
  ["a list of 50", () => listItems(sql, { projectId: "p", statuses: open, limit: 50 }, now), "work_by_status"],
  ["a list of all", () => listItems(sql, { projectId: "p", statuses: null, limit: 50 }, now), "work_by_project"],
  ["a rework", () => readRework(sql, { projectId: "p", prNumber: 42, cycle: 1 }, now), "work_rework"],
  ["a pull request", () => readOfPullRequest(sql, { projectId: "p", prNumber: 42 }, now), "work_of_pull_request"],
  ["issues in pull requests", () => readInPullRequests(sql, "p", now), "work_in_pull_requests"],
  ["escalations", () => readEscalated(sql, { projectIds: ["p"], limit: 9 }, now), "work_escalated"],
  ["open items", () => countOpenItems(sql, "p", 9), "work_by_status"],
  ["adding", () => addItem(sql, newItem("p", { deps: ["a"] }), { now }), "sqlite_autoindex_work_items_1"],
  ["adding once", () => addOnce(sql, reworkItem("p", 2), { now }), "sqlite_autoindex_work_items_1"],
  ["claiming", () => claimItem(sql, key, { holder: "r", leaseUntil: null, now }), "sqlite_autoindex_work_items_1"],
  [
    "completing",
    () => settleItem(sql, key, { holder: null, to: { status: "completed", reason: null, commit: null }, now }),
    "work_dependents",
  ],
  ["whether somebody stopped it", () => isStopped(sql, key, "r"), "work_events_of_item"],
  ["the start of observe", () => cursorBefore(sql, now), "INTEGER PRIMARY KEY"],
  ["waiting for a change", () => boardChanged(waiting(), { projectId: "p", cursor: 0 }, never), "(rowid>?)"],
])("%s reads by an index and never a whole table", async (_name, act, index) => {
  await act();
  const plan: { readonly line: string; readonly isOuter: boolean }[] = [];
  for (const { sql: statement, params } of asked) {
    const steps = await real.all(`EXPLAIN QUERY PLAN ${statement}`, params);
    plan.push(...steps.map((row) => ({ line: text(row, "detail"), isOuter: row.parent === 0 })));
  }
  const lines = plan.map(({ line }) => line);
  expect(lines.join("\n")).toContain(index);
  // What was found by an index, and a list of values, are no tables.
  expect(lines.filter((line) => /^SCAN (?!\(subquery|json_each|reach|above|below|CONSTANT)/.test(line))).toEqual([]);
  // A list merges the heads of its ranges; nothing else is put in order after it was read.
  const isSorted = plan.some(({ line, isOuter }) => isOuter && line.includes("TEMP B-TREE FOR ORDER BY"));
  // Following dependencies and epics is one too, but in a part of its own.
  expect(isSorted).toBe(plan.some(({ line, isOuter }) => isOuter && line === "COMPOUND QUERY"));
});
