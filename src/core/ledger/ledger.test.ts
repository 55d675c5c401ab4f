import { describe, expect, it } from "vitest";
import type { Finding, FindingSource, Ledger, Remark } from "../finding.js";
import type { RunReport } from "../report.js";
import {
  add,
  emptyLedger,
  findingId,
  isBlocking,
  openFindings,
  raise,
  resolveStage,
  supersedeStage,
  waive,
} from "./ledger.js";
import type { Visit } from "./visit.js";

function remark(title: string, more: Partial<Remark> = {}): Remark {
  return { file: "a.ts", line_start: 10, line_end: 12, priority: 1, title, body: { text: `about ${title}` }, ...more };
}
function visit(stage: string, number: number, remarks: Remark[], more: Partial<Visit> = {}): Visit {
  const source: FindingSource = stage === "gate" ? "gate" : "review";
  const base = { source, reviewer: stage, outcome: "fail", commit: `c${number}`, runId: "r1" } as const;
  return { ...base, stage, visit: number, at: number * 100, remarks, ...more };
}
/** Applies visits one after the other. */
function ledgerAfter(...visits: Visit[]): Ledger {
  return visits.reduce((ledger, one) => raise(ledger, one).ledger, emptyLedger("i1"));
}
const short = (findings: readonly Finding[]) => findings.map((f) => `${f.title} ${f.status} v${f.visit}`);
const told = (reports: readonly RunReport[]) =>
  reports.map((report) => {
    if (report.type === "finding-raised") {
      return `raised ${report.title}${report.reopened ? " reopened" : ""}${report.again ? " again" : ""}`;
    }
    return report.type === "finding-resolved" ? `${report.status} ${report.title}` : report.type;
  });

describe("raise", () => {
  it("adds a finding with the fields of its visit and reports it", () => {
    const { ledger, reports } = raise(emptyLedger("i1"), visit("security", 1, [remark("Null deref")]));
    expect(ledger.findings).toMatchObject([
      {
        issue_id: "i1",
        stage: "security",
        reviewers: ["security"],
        status: "open",
        visit: 1,
        commit: "c1",
        run_id: "r1",
      },
    ]);
    expect(reports).toMatchObject([
      { type: "finding-raised", issue_id: "i1", finding: ledger.findings[0]?.id, stage: "security", reopened: false },
    ]);
  });

  it("F5 a stage that fails again supersedes what it does not report again, kept with its visit number", () => {
    const first = ledgerAfter(visit("review", 1, [remark("Old")]));
    const { ledger, reports } = raise(
      first,
      visit("review", 2, [remark("New thing", { line_start: 90, line_end: 90 })]),
    );
    expect(short(ledger.findings)).toEqual(["Old superseded v1", "New thing open v2"]);
    expect(told(reports)).toEqual(["raised New thing", "superseded Old"]);
    expect(ledger.findings[0]).toMatchObject({ resolved_at: 200, reason: "not reported again by review, visit 2" });
  });

  it("F5 visits fail, fail, success, fail leave the numbers 1, 2 and 4", () => {
    let ledger = ledgerAfter(
      visit("review", 1, [remark("Bad")]),
      visit("review", 2, [remark("Bad", { body: { text: "still" } })]),
    );
    ledger = resolveStage(ledger, { stage: "review", at: 300, commit: "c3" }).ledger;
    ledger = raise(ledger, visit("review", 4, [remark("Bad")])).ledger;
    expect(ledger.findings).toMatchObject([
      {
        visit: 4,
        status: "open",
        reopened: 1,
        earlier: [
          { visit: 1, raised_at: 100 },
          { visit: 2, raised_at: 200 },
        ],
      },
    ]);
  });

  it("takes the text of the newest visit of the same stage", () => {
    const ledger = ledgerAfter(
      visit("gate", 1, [remark("npm test fails", { body: { text: "1 failed" } })]),
      visit("gate", 2, [remark("npm test fails", { body: { text: "9 failed" } })]),
    );
    expect(ledger.findings).toMatchObject([{ body: { text: "9 failed" }, visit: 2, commit: "c2" }]);
  });

  it("F11 a defect that comes back is the same id, reopened", () => {
    const first = ledgerAfter(visit("review", 1, [remark("Null deref")]));
    const passed = resolveStage(first, { stage: "review", at: 150, commit: "c2" }).ledger;
    const { ledger, reports } = raise(
      passed,
      visit("review", 3, [remark("null deref", { line_start: 80, line_end: 80 })]),
    );
    expect(ledger.findings).toMatchObject([
      { id: first.findings[0]?.id, status: "open", resolved_at: null, line_start: 80 },
    ]);
    expect(told(reports)).toEqual(["raised null deref reopened"]);
  });

  it.each([
    ["the same title", "Null deref", 10],
    ["a similar title two lines on", "Possible null dereference", 14],
  ])(
    "F11 two reviewers report one defect with %s: one entry, both names, the first one's text",
    (_what, title, line) => {
      const { ledger, reports } = raise(
        ledgerAfter(visit("a", 1, [remark("Null deref", { priority: 2 })])),
        visit("b", 1, [remark(title, { line_start: line, line_end: line, priority: 0 })]),
      );
      expect(ledger.findings).toMatchObject([
        { title: "Null deref", body: { text: "about Null deref" }, reviewer: "a", reviewers: ["a", "b"], priority: 0 },
      ]);
      expect(told(reports)).toEqual(["raised Null deref again"]);
    },
  );

  it.each([
    ["in another file", remark("Null deref", { file: "b.ts" })],
    ["far away with the same title", remark("Null deref", { line_start: 90, line_end: 91 })],
    ["with another title", remark("Naming")],
    ["alike, of another thing in the code", remark("Null deref of argument `bar`"), "Null deref of argument foo"],
    ["with another number", remark("Null deref in line 12"), "Null deref in line 10"],
  ])("keeps apart what two reviewers report %s", (_what, other, title = "Null deref") => {
    expect(ledgerAfter(visit("a", 1, [remark(title)]), visit("b", 1, [other])).findings).toHaveLength(2);
    const named = [remark(title, { reviewer: "x" }), { ...other, reviewer: "y" }];
    expect(ledgerAfter(visit("a", 1, named)).findings).toHaveLength(2);
  });

  it("keeps every remark of a reviewer that reports with another one in one visit", () => {
    const said = (reviewer: string, text: string) => remark("Null deref", { reviewer, body: { text } });
    const remarks = [said("x", "of foo"), said("y", "of foo"), said("y", "of bar"), said("y", "of bar")];
    expect(ledgerAfter(visit("a", 1, remarks)).findings).toMatchObject([
      { reviewers: ["x", "y"] },
      { reviewers: ["y"] },
    ]);
  });

  it("keeps every remark of one reviewer, also with one title or alike at one place", () => {
    const remarks = [
      remark("Missing null check"),
      remark("Missing null check", { line_start: 90, line_end: 90 }),
      remark("Missing null check", { body: { text: "another one here" } }),
      remark("Missing null check in bar"),
    ];
    const ledger = ledgerAfter(visit("a", 1, remarks));
    expect(ledger.findings.map((finding) => finding.body.text)).toEqual(remarks.map((one) => one.body.text));
    expect(new Set(ledger.findings.map((finding) => finding.id)).size).toBe(4);
    expect(ledgerAfter(visit("a", 1, remarks), visit("a", 2, remarks)).findings.map((f) => f.id)).toEqual(
      ledger.findings.map((f) => f.id),
    );
  });

  it("takes a remark that is said twice as one, and two names in one visit as two reporters", () => {
    const named = [remark("Null deref", { reviewer: "x" }), remark("Null dereference", { reviewer: "y" })];
    expect(ledgerAfter(visit("a", 1, [remark("Same"), remark("Same")])).findings).toHaveLength(1);
    expect(ledgerAfter(visit("a", 1, named)).findings).toMatchObject([{ reviewers: ["x", "y"] }]);
  });

  it("never takes two failing commands for one", () => {
    const fails = (name: string) =>
      remark(`command ${name} failed with exit 1`, { file: "", line_start: 0, line_end: 0 });
    expect(ledgerAfter(visit("gate", 1, [fails("test"), fails("lint")])).findings).toHaveLength(2);
    expect(ledgerAfter(visit("gate", 1, [fails("test")]), visit("gate", 2, [fails("lint")])).findings).toHaveLength(2);
  });

  it("does not let a protocol failure supersede what the reviewer reported before", () => {
    const ledger = ledgerAfter(
      visit("a", 1, [remark("Null deref")]),
      visit("a", 2, [remark("no verdict", { file: "" })], { source: "protocol" }),
    );
    expect(short(openFindings(ledger))).toEqual(["Null deref open v1", "no verdict open v2"]);
    expect(short(openFindings(ledger, { defects: true }))).toEqual(["Null deref open v1"]);
    expect(short(raise(ledger, visit("a", 3, [remark("Null deref")])).ledger.findings)).toEqual([
      "Null deref open v3",
      "no verdict superseded v2",
    ]);
  });
});

describe("add", () => {
  it("leaves the stage's older findings open", () => {
    const { ledger, reports } = add(
      ledgerAfter(visit("se", 1, [remark("Old")])),
      visit("se", 1, [remark("Second part")]),
    );
    expect(short(ledger.findings)).toEqual(["Old open v1", "Second part open v1"]);
    expect(told(reports)).toEqual(["raised Second part"]);
  });
});

describe("resolveStage", () => {
  it("closes a merged finding only when the last of its stages passed", () => {
    const both = ledgerAfter(
      visit("a", 1, [remark("Null deref", { priority: 0 })]),
      visit("b", 1, [remark("Null deref")]),
    );
    const half = resolveStage(both, { stage: "a", at: 200, commit: "c2" });
    expect([short(half.ledger.findings), told(half.reports)]).toEqual([
      ["Null deref open v1"],
      ["raised Null deref again"],
    ]);
    expect(half.ledger.findings[0]?.priority).toBe(1);
    const whole = resolveStage(half.ledger, { stage: "b", at: 300, commit: "c3" });
    expect(told(whole.reports)).toEqual(["resolved Null deref"]);
    expect(whole.ledger.findings).toMatchObject([{ resolved_at: 300, resolved_commit: "c3", stages: [] }]);
  });

  it("gives the text to the reporter that is left when the first one passed", () => {
    let ledger = ledgerAfter(visit("a", 1, [remark("Null deref")]), visit("b", 1, [remark("Null deref")]));
    ledger = resolveStage(ledger, { stage: "a", at: 200, commit: "c2" }).ledger;
    ledger = raise(ledger, visit("b", 2, [remark("Null deref", { body: { text: "b's words" } })])).ledger;
    expect(ledger.findings).toMatchObject([{ stage: "b", visit: 2, body: { text: "b's words" } }]);
  });

  it("reads a finding stored without its stages", () => {
    const ledger = ledgerAfter(visit("a", 1, [remark("x")]));
    const { stages: _gone, ...old } = ledger.findings[0] ?? expect.fail("one finding");
    const passed = resolveStage({ ...ledger, findings: [old] }, { stage: "a", at: 2, commit: null });
    expect(short(passed.ledger.findings)).toEqual(["x resolved v1"]);
  });
});

describe("waive and supersedeStage", () => {
  const ledger = ledgerAfter(
    visit("a", 1, [remark("Null deref", { priority: 2 })]),
    visit("gate", 1, [remark("test fails")]),
  );
  const id = (title: string, source: FindingSource) => findingId({ file: "a.ts", title, source });

  it("waives open findings by id, once", () => {
    const first = waive(ledger, { ids: [id("Null deref", "review"), "nonsense"], reason: "by design", at: 500 });
    expect(first.ledger.findings[0]).toMatchObject({ status: "waived", reason: "by design", resolved_at: 500 });
    expect(told(first.reports)).toEqual(["waived Null deref"]);
    expect(waive(first.ledger, { ids: [id("Null deref", "review")], reason: "again", at: 600 }).reports).toEqual([]);
  });

  it.each([
    ["keeps the waiver of a remark", "review", 2, "waived"],
    ["reopens a remark that is now worse", "review", 1, "open"],
    ["reopens a command that fails again", "gate", 1, "open"],
  ] as const)("%s", (_what, source, priority, status) => {
    const title = source === "gate" ? "test fails" : "Null deref";
    const waived = waive(ledger, { ids: [id(title, source)], reason: "ok", at: 500 }).ledger;
    const next = raise(waived, visit(source === "gate" ? "gate" : "a", 2, [remark(title, { priority })])).ledger;
    expect(next.findings.find((finding) => finding.title === title)?.status).toBe(status);
  });

  it("supersedes the findings of stages that are gone", () => {
    const { ledger: next, reports } = supersedeStage(ledger, {
      stages: ["a", "z"],
      reason: "no longer checked",
      at: 7,
    });
    expect(short(next.findings)).toEqual(["Null deref superseded v1", "test fails open v1"]);
    expect(reports).toMatchObject([{ status: "superseded", reason: "no longer checked" }]);
  });
});

describe("openFindings and isBlocking", () => {
  const ledger = ledgerAfter(
    visit("a", 1, [remark("P0 one", { priority: 0 }), remark("Style", { priority: 2, line_start: 50, line_end: 50 })]),
    visit("gate", 1, [remark("test fails")]),
  );
  it.each([
    [{}, ["P0 one", "Style", "test fails"]],
    [{ stages: ["a"] }, ["P0 one", "Style"]],
    [{ sources: ["gate" as const] }, ["test fails"]],
    [{ stages: ["a"], blocking: "none" as const }, ["P0 one"]],
    [{ ids: [ledger.findings[1]?.id ?? ""] }, ["Style"]],
    [{ ids: [] }, []],
  ])("filters by %j", (filter, titles) => {
    expect(openFindings(ledger, filter).map((finding) => finding.title)).toEqual(titles);
  });

  it.each([
    ["none", [true, true, false, false, false]],
    ["P0", [true, false, false, false, false]],
    ["P1", [true, true, false, false, false]],
    ["P2", [true, true, true, false, false]],
    ["P3", [true, true, true, true, false]],
  ] as const)("B8 threshold %s", (threshold, expected) => {
    expect([0, 1, 2, 3, null].map((priority) => isBlocking(priority, threshold))).toEqual(expected);
  });
});
