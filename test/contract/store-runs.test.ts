import { DatabaseSync } from "@photostructure/sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Finding } from "../../src/core/finding.js";
import type { RowChange } from "../../src/core/project.js";
import { project } from "../../src/core/project.js";
import type { IssueRecord } from "../../src/core/record.js";
import type { RunReport } from "../../src/core/report.js";
import type { RunOptions } from "../../src/core/run/effects.js";
import type { Settings } from "../../src/core/settings.js";
import type { Codec, RunHead } from "../../src/store/store.js";
import { newItem } from "./new-item.js";
import { type TempStore, tempStore } from "./temp-store.js";

let temp: TempStore;
beforeEach(async () => {
  temp = await tempStore();
  await temp.store.registerProject("/work/p");
});
afterEach(() => temp.done());

const settings = { max_agents: 3 } as Settings;
const options: RunOptions = { scope: { type: "all" }, resume: false, maxIssues: null, strict: false, fresh: false };
const iso = (n: number) => new Date(Date.UTC(2026, 0, 1, 0, n)).toISOString();

async function createRun(runId: string, minute = 0): Promise<void> {
  const record: RunHead = {
    run_id: runId,
    started_at: iso(minute),
    completed_at: null,
    version: "0",
    repo_path: "/work/p",
    project_id: "p",
    status: "running",
    exit_code: null,
    target_branch: "main",
    run_start_commit: "c0",
    config: settings,
    run_end: null,
  };
  await temp.store.createRun({ record, settings, options });
}

/** Commits one step of a machine whose reports change these rows. */
async function change(
  runId: string,
  changes: readonly RowChange[],
  parts: { readonly machine?: string; readonly done?: boolean; readonly report?: RunReport } = {},
): Promise<void> {
  const codec: Codec<null> = {
    encode: () => null,
    decode: () => null,
    ledgerIssue: { projectId: "p", issueId: "i" },
    rows: () => changes,
  };
  const { machine = `run:${runId}`, done = false, report = { type: "log", level: "info", text: "" } } = parts;
  const log = temp.store.log<null, { type: string }, { key: string }, RunReport>({
    machine,
    kind: "run",
    runId,
    codec,
  });
  await log.open();
  const owed = done ? [] : [{ key: "k" }];
  await log.commit({
    arrival: { type: "x", at: 0 },
    settled: null,
    signal: null,
    state: null,
    owed,
    reports: [report],
  });
}
const issue = (runId: string, patch: Partial<IssueRecord>) =>
  ({ table: "issue-record", runId, issueId: "i", patch }) as const satisfies RowChange;

describe("runs", () => {
  it("are found by a unique beginning of their id, or as the last", async () => {
    await createRun("abc1", 1);
    await createRun("abd2", 3);
    await createRun("ab", 2);
    expect((await temp.store.run("abc")).runId).toBe("abc1");
    expect((await temp.store.run("ab")).runId).toBe("ab");
    expect((await temp.store.run("last")).runId).toBe("abd2");
    expect((await temp.store.runs("p", 2)).map((run) => run.runId)).toEqual(["abd2", "ab"]);
    await expect(temp.store.run("a")).rejects.toMatchObject({ name: "Refusal", code: "ambiguous" });
    await expect(temp.store.run("zzz")).rejects.toMatchObject({ name: "Refusal", code: "not-found" });
    await expect(temp.store.run("last", "q")).rejects.toMatchObject({ name: "Refusal", code: "not-found" });
    await expect(temp.store.run("%")).rejects.toMatchObject({ code: "not-found" });
  });

  it("keep the settings and options they were started with", async () => {
    await createRun("r");
    expect(await temp.store.run("r")).toMatchObject({ settings, options, status: "running", projectId: "p" });
  });

  it("have records that events change key by key, and that are whole at every moment", async () => {
    await createRun("r");
    const started: RunReport = { type: "issue-started", issue_id: "i", title: "Title", life: 2, agent: "command" };
    const event = { seq: 1, time: iso(5), run_id: "r", ...started };
    await change("r", project(event, { issueId: "i", findings: [] }), { report: started });
    await change("r", [
      {
        ...issue("r", { session_id: "s1", error: null }),
        add: { usage: { input_tokens: 5, output_tokens: 1, cost_usd: 0.5 } },
      },
      { table: "run-record", runId: "r", patch: { status: "failed", exit_code: 1, completed_at: iso(9) } },
    ]);
    const run = await temp.store.run("r");
    expect(run.status).toBe("failed");
    const record = await temp.store.runRecord(run);
    expect(record).toMatchObject({ status: "failed", exit_code: 1, target_branch: "main" });
    expect(record.issues.i).toMatchObject({ title: "Title", session_id: "s1", started_at: iso(5), finished_at: null });
    expect(record.issues.i?.usage).toEqual({ input_tokens: 5, output_tokens: 1, cost_usd: 0.5 });
    expect((await temp.store.issueRecords("r"))[0]?.life).toBe(2);
    expect(await temp.store.pastLives("p", "i")).toMatchObject({ next: 3 });
    expect(await temp.store.pastLives("p", "j")).toEqual({ next: 1, last: null, inSession: null });
  });

  it("are unfinished while their machine is not done, or was never opened", async () => {
    for (const [index, run] of ["never-opened", "killed", "owes", "done"].entries()) await createRun(run, index);
    const database = new DatabaseSync(temp.home.database);
    database.exec("UPDATE runs SET options = json_set(options, '$.maker.start', 'before') WHERE run_id = 'killed'");
    database.close();
    await change("owes", [{ table: "run-record", runId: "owes", patch: { status: "failed" } }]);
    await change("done", [], { done: true });
    const unfinished = await temp.store.unfinishedRuns("p");
    expect(unfinished.map(({ run, driverAlive }) => [run.runId, driverAlive])).toEqual([
      // Whoever made it drives it at once, if that process lives.
      ["never-opened", true],
      ["killed", false],
      ["owes", true],
    ]);
    expect((await temp.store.run("never-opened")).options).toEqual(options);
    expect(await temp.store.unfinishedRuns("q")).toEqual([]);
    expect(await temp.store.unfinishedRuns(null)).toHaveLength(3);
  });
});

describe("what a run has claimed", () => {
  it("is free once the run has ended and its machines owe nothing", async () => {
    const { workItems } = temp.store;
    await createRun("r");
    await workItems.add(newItem("p", { id: "i" }));
    await workItems.claim("p", "i", { holder: "r", leaseUntil: null, now: 0 });
    const taken = () => workItems.claim("p", "i", { holder: "r2", leaseUntil: null, now: 0 });
    const ready = () => workItems.ready({ projectId: "p", scope: { type: "all" }, resume: false, limit: 9, now: 0 });
    await change("r", [{ table: "run-record", runId: "r", patch: { status: "interrupted" } }]);
    expect(await taken()).toBe(false);
    expect(await ready()).toEqual([]);
    await change("r", [], { done: true });
    expect((await ready()).map((item) => item.id)).toEqual(["i"]);
    expect(await taken()).toBe(true);
  });
});

describe("the record a resume builds on", () => {
  const session = (id: string | null, status: IssueRecord["status"] = "failed") => ({ session_id: id, status });
  async function history(...records: readonly Partial<IssueRecord>[]): Promise<string | null> {
    for (const [index, patch] of records.entries()) {
      await createRun(`r${index}`, index);
      await change(`r${index}`, [issue(`r${index}`, { ...patch, started_at: iso(index) })]);
    }
    return (await temp.store.lastRecord("p", "i"))?.runId ?? null;
  }

  it("is none for an issue that never ran", async () => expect(await history()).toBeNull());
  it("is the newest", async () => expect(await history(session("s0"), session("s1"))).toBe("r1"));
  it("is not hidden by a later one without a session", async () =>
    expect(await history(session("s0"), session(null))).toBe("r0"));
  it("is the newest where none has a session", async () =>
    expect(await history(session(null), session(null))).toBe("r1"));
  it("is never older than a success", async () =>
    expect(await history(session("s0"), session("s1", "success"), session(null))).toBe("r2"));
  it("is the success where nothing came after it", async () =>
    expect(await history(session("s0"), session("s1", "success"))).toBe("r1"));
});

describe("findings", () => {
  const finding = (id: string, parts: Partial<Finding> = {}): Finding => ({
    id,
    issue_id: "i",
    source: "review",
    stage: "per_issue_review",
    reviewer: "command",
    reviewers: ["command"],
    outcome: "fail",
    file: "a.ts",
    line_start: 1,
    line_end: 2,
    priority: 1,
    title: "Title",
    body: { text: "Body" },
    visit: 1,
    status: "open",
    reason: null,
    raised_at: 1,
    resolved_at: null,
    commit: null,
    run_id: "r",
    ...parts,
  });
  const row = (id: string, parts: Partial<Finding> = {}): RowChange => ({ table: "finding", row: finding(id, parts) });

  it("are kept per project and issue, in the order first raised, open ones by default", async () => {
    await createRun("r");
    await change("r", [row("zz"), row("aa"), row("bb", { issue_id: "j" })]);
    await change("r", [row("zz", { status: "resolved" })]);
    const ids = async (query: { issueId?: string; all: boolean }) =>
      (await temp.store.findings({ projectId: "p", ...query })).map((each) => each.id);
    expect(await ids({ all: false })).toEqual(["aa", "bb"]);
    expect(await ids({ all: true })).toEqual(["zz", "aa", "bb"]);
    expect(await ids({ issueId: "i", all: true })).toEqual(["zz", "aa"]);
    expect(await temp.store.findings({ projectId: "q", all: true })).toEqual([]);
  });

  it("are handed to the machine that is opened again", async () => {
    await createRun("r");
    await change("r", [row("one"), row("two", { status: "waived" })], { machine: "m" });
    const ledgers: string[][] = [];
    const codec: Codec<null> = {
      encode: () => null,
      decode: (_state, ledger) => {
        ledgers.push(ledger.map((each) => each.id));
        return null;
      },
      ledgerIssue: { projectId: "p", issueId: "i" },
      rows: () => [],
    };
    await temp.store.log({ machine: "m", kind: "issue", runId: "r", codec }).open();
    expect(ledgers).toEqual([["one", "two"]]);
  });

  it("that have the same id are told apart by their issue, or by being open", async () => {
    await createRun("r");
    await change("r", [row("abc", { issue_id: "i" }), row("abc", { issue_id: "j" })]);
    const name = { projectId: "p", id: "ab", reason: "why" };
    await expect(temp.store.waiveDirect(name)).rejects.toMatchObject({
      code: "ambiguous",
      message: "finding abc is open in i, j",
      hint: "say in which: --issue i",
    });
    await expect(temp.store.finding({ ...name, issueId: "k" })).rejects.toMatchObject({ code: "not-found" });
    expect(await temp.store.waiveDirect({ ...name, issueId: "i" })).toMatchObject({ issue_id: "i", status: "waived" });
    expect(await temp.store.waiveDirect(name)).toMatchObject({ issue_id: "j", status: "waived" });
  });

  it("are waived once, with a reason, by a unique beginning of their id", async () => {
    await createRun("r");
    await change("r", [row("abc"), row("abd")]);
    await expect(temp.store.waiveDirect({ projectId: "p", id: "ab", reason: "why" })).rejects.toMatchObject({
      code: "ambiguous",
    });
    await expect(temp.store.waiveDirect({ projectId: "p", id: "", reason: "why" })).rejects.toMatchObject({
      message: 'no finding ""',
    });
    await expect(temp.store.waiveDirect({ projectId: "p", id: "x", reason: "why" })).rejects.toMatchObject({
      code: "not-found",
    });
    expect(await temp.store.waiveDirect({ projectId: "p", id: "abc", reason: "why" })).toMatchObject({
      status: "waived",
      reason: "why",
    });
    expect(await temp.store.finding({ projectId: "p", id: "abc" })).toMatchObject({ status: "waived", reason: "why" });
    await expect(temp.store.waiveDirect({ projectId: "p", id: "abc", reason: "again" })).rejects.toThrow(
      "finding abc is waived, not open",
    );
  });
});

describe("projects", () => {
  it("are named after their folder, told apart by a number, and known again", async () => {
    const ids = async (path: string) => (await temp.store.registerProject(path)).id;
    expect(await ids("/work/p")).toBe("p");
    expect(await ids("/other/p")).toBe("p-2");
    expect(await ids("/third/p")).toBe("p-3");
    expect(await ids("/other/p")).toBe("p-2");
    expect(await ids("/work/My Project!")).toBe("My-Project-");
    expect(await temp.store.projectAt("/nowhere")).toBeNull();
    expect((await temp.store.projects()).map((each) => each.id)).toEqual(["My-Project-", "p", "p-2", "p-3"]);
  });
});

it("an item that was stopped by its name is stopped for the runs that had begun, until it is retried or taken", async () => {
  const { workItems: board } = temp.store;
  await createRun("before");
  await createRun("after", 60 * 24 * 365 * 100);
  await board.add(newItem("p", { id: "a" }));
  const claim = { holder: "before", leaseUntil: null, now: 0 };
  await board.claim("p", "a", claim);
  const stop = async () => {
    await board.noteStop("p", "a");
    await board.release("p", "a", "before");
  };
  const stopped = () => Promise.all(["before", "after"].map((run) => board.isStopped("p", "a", run)));
  expect(await stopped()).toEqual([false, false]);
  await stop();
  expect(await stopped()).toEqual([true, false]);
  await board.retry("p", "a");
  expect(await stopped()).toEqual([false, false]);
  await board.claim("p", "a", claim);
  await stop();
  await board.claim("p", "a", claim);
  expect(await stopped()).toEqual([false, false]);
});
