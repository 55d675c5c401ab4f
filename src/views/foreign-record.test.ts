import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { IssueRecord } from "../core/record.js";
import { readForeignRun } from "./foreign-record.js";

const here = { repoPath: "/here" };
const read = (value: unknown) => {
  const run = readForeignRun(value, here);
  if (typeof run === "string") throw new Error(run);
  return run;
};
const issue = (fields: unknown): IssueRecord | undefined => read({ run_id: "r", issues: { x: fields } }).issues[0];

describe("a run record from elsewhere", () => {
  it.each<[string, unknown, string]>([
    ["a list", [], "not a JSON object"],
    ["a text", "x", "not a JSON object"],
    ["nothing", null, "not a JSON object"],
    ["no run_id", { issues: {} }, "run_id is missing"],
    ["a number as run_id", { run_id: 5 }, "run_id is no id"],
    ["the word for the newest run as run_id", { run_id: "last" }, "run_id is last"],
    ["a path as run_id", { run_id: "../x" }, "run_id is no id"],
    ["a hidden file as run_id", { run_id: ".x" }, "run_id is no id"],
  ])("is refused: %s", (_what, value, reason) => {
    expect(readForeignRun(value, here)).toContain(reason);
  });

  it("A4 needs no more than an id", () => {
    expect(read({ run_id: "r" })).toEqual({
      run: {
        run_id: "r",
        started_at: "1970-01-01T00:00:00.000Z",
        completed_at: null,
        version: "",
        repo_path: "/here",
        status: "interrupted",
        exit_code: null,
        target_branch: "",
        run_start_commit: "",
        config: {},
        run_end: null,
      },
      issues: [],
      threshold: "none",
      leftOut: { issues: 0, findings: new Map() },
    });
    expect(issue({})).toMatchObject({
      issue_id: "x",
      status: "interrupted",
      session_id: null,
      last_review_issues: null,
    });
  });

  it.each<[string, unknown, string[], number]>([
    ["by id", { x: {}, y: 5, "": {} }, ["x"], 2],
    ["in a list, each with its id", [{ issue_id: "x" }, { issue_id: "y" }], ["x", "y"], 0],
    ["in a list, of which some are none", [1, null, "a", {}, { issue_id: "x" }], ["x"], 4],
    ["in a list that has one twice", [{ issue_id: "x" }, { issue_id: "x" }], ["x"], 1],
    ["in nothing", null, [], 0],
    ["in a text", "x", [], 1],
  ])("A4 has its issues %s, and what is none is counted", (_how, issues, ids, leftOut) => {
    const run = read({ run_id: "r", issues });
    expect(run.issues.map(({ issue_id }) => issue_id)).toEqual(ids);
    expect(run.leftOut.issues).toBe(leftOut);
  });

  it("A4 counts what is no finding also where issues are a list", () => {
    const run = read({ run_id: "r", issues: [{ issue_id: "x", last_review_issues: [{ title: "t" }, 5] }] });
    expect([run.issues[0]?.last_review_issues?.length, run.leftOut.findings.get("x")]).toEqual([1, 1]);
  });

  it.each<[string, unknown, string]>([
    ["its own", { per_issue_review: { finding_threshold: "P2" } }, "P2"],
    ["the usual, where it says none", { per_issue_review: {} }, "none"],
    ["the usual, where it says what is none", { per_issue_review: { finding_threshold: "P9" } }, "none"],
    ["the usual, where nothing is as it should be", { per_issue_review: "on" }, "none"],
  ])("has a threshold: %s", (_what, config, threshold) => {
    expect(read({ run_id: "r", config })).toMatchObject({ threshold });
  });

  it.each<[string, object, object, string]>([
    ["the issue's own start", { started_at: "2025-03-01" }, { started_at: "2025-03-02" }, "2025-03-02"],
    ["else the run's", { started_at: "2025-03-01" }, { finished_at: "2025-03-02" }, "2025-03-01"],
    ["else the run's end", { completed_at: "2025-03-03" }, {}, "2025-03-03"],
    ["else the issue's end", {}, { finished_at: "2025-03-02" }, "2025-03-02"],
    ["else before all others", { started_at: "soon" }, { finished_at: 7 }, "1970-01-01"],
  ])("began, of an issue: %s", (_what, run, fields, day) => {
    const [first] = read({ run_id: "r", ...run, issues: { x: fields } }).issues;
    expect(first?.started_at).toBe(`${day}T00:00:00.000Z`);
  });

  it.each<[string, object, string]>([
    ["as it says", { started_at: "2025-03-01", issues: { x: { started_at: "2025-02-01" } } }, "2025-03-01"],
    ["else when it ended", { completed_at: "2025-03-03" }, "2025-03-03"],
    [
      "else with its first issue",
      { issues: { x: { finished_at: "2025-03-02" }, y: {}, z: { started_at: "2025-03-01" } } },
      "2025-03-01",
    ],
    ["else before all others", { started_at: null, issues: { x: {} } }, "1970-01-01"],
    ["in seconds since 1970", { started_at: 1740787200 }, "2025-03-01"],
    ["in milliseconds since 1970", { started_at: 1740787200000 }, "2025-03-01"],
    ["not in what is neither", { started_at: 1740787200000000 }, "1970-01-01"],
  ])("began: %s", (_what, run, day) => {
    expect(read({ run_id: "r", ...run }).run.started_at).toBe(`${day}T00:00:00.000Z`);
  });

  it("is over: what was still running when it was written is interrupted", () => {
    const run = read({ run_id: "r", status: "running", issues: { x: { status: "running" } } });
    expect(run.run.status).toBe("interrupted");
    expect(run.issues[0]?.status).toBe("interrupted");
  });

  it.each<[unknown, string]>([
    ["success", "success"],
    ["failed", "failed"],
    ["timeout", "failed"],
    ["escalated", "escalated"],
    ["odd", "interrupted"],
    [7, "interrupted"],
  ])("reads the issue's status %j as %s", (given, expected) => {
    expect(issue({ status: given })?.status).toBe(expected);
  });

  it("says of a run without a status what its issues came to", () => {
    const status = (...all: string[]) =>
      read({
        run_id: "r",
        completed_at: "2026-01-01",
        issues: Object.fromEntries(all.map((one, i) => [i, { status: one }])),
      }).run.status;
    expect(status("success", "success")).toBe("succeeded");
    expect(status("success", "timeout")).toBe("failed");
  });

  it("writes times as Ratchet does, so that they compare as texts", () => {
    const { run, issues } = read({
      run_id: "r",
      started_at: "2026-01-12T12:00:00.123456+02:00",
      completed_at: "oops",
      issues: { x: {}, y: { started_at: "2026-01-13T00:00:00Z" } },
    });
    expect(run).toMatchObject({ started_at: "2026-01-12T10:00:00.123Z", completed_at: null });
    expect(issues.map((one) => one.started_at)).toEqual([run.started_at, "2026-01-13T00:00:00.000Z"]);
  });

  it("makes absolute paths relative, to the repository it was written in or to this one", () => {
    const files = ["/there/src/a.ts", "/here/b.ts", "/elsewhere/c.ts", "d.ts", "/there"];
    const { issues } = read({
      run_id: "r",
      repo_path: "/there/",
      issues: { x: { last_review_issues: files.map((file) => ({ file })) } },
    });
    const read_ = issues[0]?.last_review_issues?.map(({ file }) => file);
    expect(read_).toEqual(["src/a.ts", "b.ts", "/elsewhere/c.ts", "d.ts", "/there"]);
  });

  it("names files as live verdicts do, so that the same finding has the same id", () => {
    const files = ["./src/b.ts", "src/../c.ts", " d.ts ", "/there/./src/e.ts", "/there/x/../f.ts", "../g.ts"];
    const { issues } = read({
      run_id: "r",
      repo_path: "/there/.",
      issues: { x: { last_review_issues: files.map((file) => ({ file })) } },
    });
    const read_ = issues[0]?.last_review_issues?.map(({ file }) => file);
    expect(read_).toEqual(["src/b.ts", "c.ts", "d.ts", "src/e.ts", "f.ts", "../g.ts"]);
  });

  it("never throws", () => {
    const fields = fc.dictionary(
      fc.constantFrom("status", "session_id", "last_review_issues", "usage", "findings", "x"),
      fc.anything(),
    );
    const run = fc.record({
      run_id: fc.constant("r"),
      issues: fc.dictionary(fc.string(), fc.oneof(fields, fc.anything())),
    });
    fc.assert(fc.property(fc.oneof(fc.anything(), run), (value) => void readForeignRun(value, here)));
  });
});
