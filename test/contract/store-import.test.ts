import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { IssueRecord } from "../../src/core/record.js";
import type { RunOptions } from "../../src/core/run/effects.js";
import type { ImportedRun } from "../../src/store/store.js";
import { readForeignRun } from "../../src/views/foreign-record.js";
import { newItem } from "./new-item.js";
import { type TempStore, tempStore } from "./temp-store.js";

let temp: TempStore;
beforeEach(async () => {
  temp = await tempStore();
  for (const path of ["/work/p", "/work/q"]) await temp.store.registerProject(path);
});
afterEach(() => temp.done());

const options: RunOptions = { scope: { type: "all" }, resume: false, maxIssues: null, strict: false, fresh: false };
const remark = { file: "a.ts", line_start: 1, line_end: 2, priority: 1, title: "Wrong", body: { text: "so" } };

function imported(projectId: string, issue: Partial<IssueRecord> = {}, runId = "r"): ImportedRun {
  const issues = { i: { status: "failed", session_id: "s", last_review_issues: [{ title: "Wrong" }] } };
  const read = readForeignRun({ run_id: runId, started_at: "2026-01-01T00:00:00Z", issues }, { repoPath: "/work" });
  if (typeof read === "string") throw new Error(read);
  return {
    importedAt: Date.UTC(2026, 5, 1),
    threshold: read.threshold,
    record: { ...read.run, project_id: projectId },
    issues: read.issues.map((record) => ({ record: { ...record, ...issue }, remarks: [remark] })),
  };
}
const open = async (projectId: string) =>
  (await temp.store.findings({ projectId, all: false })).map(({ title, run_id }) => `${title} ${run_id}`);

describe("an imported run", () => {
  it("is over, is the issue's last record, and its findings are in the ledger", async () => {
    expect(await temp.store.importRun(imported("p"))).toEqual({ runId: "r", isNew: true, findings: { i: 1 } });
    expect(await temp.store.unfinishedRuns(null)).toEqual([]);
    expect(await temp.store.lastRecord("p", "i")).toMatchObject({ runId: "r", life: 1, record: { session_id: "s" } });
    expect(await open("p")).toEqual(["Wrong r"]);
    expect(await temp.store.pastLives("p", "i")).toMatchObject({ next: 2 });
  });

  it("changes nothing the second time, whoever is faster", async () => {
    const second = await temp.again();
    const results = await Promise.all([temp.store, second, temp.store].map((store) => store.importRun(imported("p"))));
    expect(results.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(await temp.store.issueRecords("r")).toHaveLength(1);
    expect(await open("p")).toEqual(["Wrong r"]);
  });

  it("has found what it found when it was imported, where it tells no time", async () => {
    const unknown = new Date(0).toISOString();
    const run = imported("p", { started_at: unknown });
    await temp.store.importRun({ ...run, record: { ...run.record, started_at: unknown } });
    const [found] = await temp.store.findings({ projectId: "p", all: false });
    expect(found?.raised_at).toBe(run.importedAt);
  });

  it.each(["2099-01-01T00:00:00.000Z", "+012026-01-01T00:00:00.000Z"])(
    "dated ahead, %s, is last until another begins, and keeps its time",
    async (ahead) => {
      const run = imported("p", {}, "ahead");
      await temp.store.importRun({ ...run, record: { ...run.record, started_at: ahead } });
      await temp.store.importRun(imported("p", {}, "earlier"));
      expect(await temp.store.run("last", "p")).toMatchObject({ runId: "ahead", startedAt: ahead });
      const begun = new Date(run.importedAt + 1).toISOString();
      const record = { ...run.record, run_id: "own", started_at: begun };
      await temp.store.createRun({ record, settings: record.config, options });
      expect((await temp.store.runs("p", 9)).map(({ runId }) => runId)).toEqual(["own", "ahead", "earlier"]);
      expect((await temp.store.run("last", "p")).runId).toBe("own");
    },
  );

  it("counts the findings of whatever id it has", async () => {
    const { findings } = await temp.store.importRun(imported("p", { issue_id: "__proto__" }));
    expect(Object.entries(findings)).toEqual([["__proto__", 1]]);
  });

  it("may be two repositories' own: the second has the project in its id", async () => {
    await temp.store.importRun(imported("p"));
    expect(await temp.store.importRun(imported("q"))).toMatchObject({ runId: "r-q", isNew: true });
    expect(await temp.store.importRun(imported("q"))).toMatchObject({ runId: "r-q", isNew: false });
    expect(await open("q")).toEqual(["Wrong r-q"]);
  });

  it("A4 with findings is not hidden by a later one without session and findings that came in first", async () => {
    const empty = imported(
      "p",
      { started_at: "2026-02-01T00:00:00Z", session_id: null, last_review_issues: null },
      "later",
    );
    await temp.store.importRun({ ...empty, issues: empty.issues.map((issue) => ({ ...issue, remarks: [] })) });
    await temp.store.importRun(imported("p"));
    expect(await open("p")).toEqual(["Wrong r"]);
    expect(await temp.store.lastRecord("p", "i")).toMatchObject({ runId: "r" });
  });

  it.each([
    ["older", "newer"],
    ["newer", "older"],
  ])("A6 that went on in a session says how the issue stands, read as %s, %s", async (...order) => {
    const told = imported("p", {}, "older");
    const later = { started_at: "2026-02-01T00:00:00Z", session_id: "s2", last_review_issues: null };
    const silent = imported("p", later, "newer");
    const runs = { older: told, newer: { ...silent, issues: silent.issues.map((one) => ({ ...one, remarks: [] })) } };
    for (const name of order) await temp.store.importRun(runs[name === "older" ? "older" : "newer"]);
    expect(await open("p")).toEqual([]);
    expect(await temp.store.lastRecord("p", "i")).toMatchObject({ runId: "newer", record: { session_id: "s2" } });
  });

  it("older than what is known changes no finding and no order", async () => {
    await temp.store.importRun(imported("p", { started_at: "2026-02-01T00:00:00Z", status: "success" }, "newer"));
    await temp.store.importRun(imported("p"));
    expect(await open("p")).toEqual([]);
    expect(await temp.store.lastRecord("p", "i")).toMatchObject({ runId: "newer" });
  });

  it("puts its issue before those that were never begun, and makes none", async () => {
    const { workItems } = temp.store;
    await workItems.add(newItem("p", { id: "fresh", priority: 0 }));
    await workItems.add(newItem("p", { id: "i", priority: 3 }));
    await temp.store.importRun(imported("p"));
    const ready = await workItems.ready({ projectId: "p", scope: { type: "all" }, resume: true, limit: 9, now: 0 });
    expect(ready.map(({ id }) => id)).toEqual(["i", "fresh"]);
    expect(await workItems.get("q", "i")).toBeNull();
  });

  it("with findings and no session goes on in the session of the one before", async () => {
    await temp.store.importRun(imported("p", { last_review_issues: null }, "first"));
    const later = { started_at: "2026-02-01T00:00:00Z", session_id: null };
    await temp.store.importRun(imported("p", later, "second"));
    const last = await temp.store.lastRecord("p", "i");
    expect(last).toMatchObject({ runId: "second", record: { session_id: "s" } });
    expect(last?.record.last_review_issues).toMatchObject([{ title: "Wrong" }]);
  });
});
