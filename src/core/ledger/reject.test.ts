import { describe, expect, it } from "vitest";
import type { Ledger, Remark } from "../finding.js";
import {
  emptyLedger,
  letGo,
  openFindings,
  raise,
  reject,
  resolveStage,
  settledFindings,
  unanswered,
  waive,
} from "./ledger.js";
import type { Visit } from "./visit.js";

const remark: Remark = {
  file: "a.ts",
  line_start: 10,
  line_end: 12,
  priority: 1,
  title: "Null deref",
  body: { text: "b" },
};
const visit = (number: number, remarks: Remark[], source: "review" | "gate" = "review"): Visit => ({
  stage: "security",
  source,
  reviewer: "security",
  outcome: "fail",
  visit: number,
  at: number * 100,
  commit: null,
  runId: "r1",
  remarks,
});
const idIn = (ledger: Ledger) => ledger.findings[0]?.id ?? "";
const raised = raise(emptyLedger("i1"), visit(1, [remark])).ledger;
const objection = { id: idIn(raised), reason: "checked above" };
const dropped = resolveStage(reject(raised, [objection]).ledger, { stage: "security", at: 200, commit: "c" }).ledger;

describe("an objection of the implementer", () => {
  it("leaves the finding open, and is told once", () => {
    const { ledger, reports } = reject(raised, [objection]);
    expect(ledger.findings[0]).toMatchObject({ status: "open", rejected: "checked above" });
    expect(reports).toMatchObject([{ type: "finding-rejected", finding: objection.id, reason: "checked above" }]);
  });

  it("may name the finding by the beginning of its id, and an unknown id changes nothing", () => {
    expect(reject(raised, [{ ...objection, id: objection.id.slice(0, 6) }]).reports).toHaveLength(1);
    expect(reject(raised, [{ ...objection, id: "zzzz" }]).ledger).toEqual(raised);
  });

  it("is about the finding with that very id, whatever other ids begin with it", () => {
    const twice = raise(emptyLedger("i1"), visit(1, [remark, { ...remark, line_start: 90, line_end: 90 }])).ledger;
    const [first, second] = twice.findings.map(({ id }) => id);
    expect(second).toBe(`${first}-2`);
    const { ledger } = reject(twice, [objection]);
    expect(ledger.findings.map(({ rejected }) => rejected)).toEqual(["checked above", undefined]);
  });

  it("says nothing about a command that fails", () => {
    const gate = raise(emptyLedger("i1"), visit(1, [remark], "gate")).ledger;
    expect(reject(gate, [{ ...objection, id: idIn(gate) }]).reports).toEqual([]);
  });

  it("is forgotten when the reviewer reports the finding again", () => {
    const again = raise(reject(raised, [objection]).ledger, visit(2, [remark])).ledger;
    expect(again.findings[0]).toMatchObject({ status: "open", rejected: null });
    expect(settledFindings(again, "none")).toEqual([]);
  });

  it("is unanswered until the reviewer insists; said again after that it is nothing new, until the finding was closed", () => {
    const said = (ledger: Ledger) => reject(ledger, [objection]).ledger;
    const insisted = raise(said(raised), visit(2, [remark])).ledger;
    expect([raised, said(raised), said(said(raised)), insisted].map((one) => unanswered(one).length)).toEqual([
      0, 1, 1, 0,
    ]);
    expect(unanswered(said(raised), [{ ...objection, id: "zzzz" }])).toEqual([]);
    const repeated = said(insisted);
    expect(repeated.findings[0]).toMatchObject({ rejected: "checked above", repeated: true });
    const heardTwice = raise(repeated, visit(3, [remark])).ledger;
    expect([repeated, said(repeated), said(heardTwice)].flatMap((one) => unanswered(one))).toEqual([]);
    const mended = resolveStage(insisted, { stage: "security", at: 300, commit: "c" }).ledger;
    expect(unanswered(said(raise(mended, visit(4, [remark])).ledger))).toEqual([objection.id]);
  });

  it("settles the finding when the reviewer drops it", () => {
    expect(dropped.findings[0]).toMatchObject({ status: "resolved", reason: "rejected: checked above" });
    expect(settledFindings(dropped, "none")).toHaveLength(1);
  });

  it.each([
    ["stays settled when it is only said again", {}, "resolved"],
    ["comes back with new evidence", { newEvidence: true as const }, "open"],
    ["comes back when it is worse", { priority: 0 }, "open"],
  ])("%s", (_, more, status) => {
    expect(raise(dropped, visit(3, [{ ...remark, ...more }])).ledger.findings[0]?.status).toBe(status);
  });
});

describe("a settled finding in other words", () => {
  const waived = waive(raised, { ids: [idIn(raised)], reason: "by design", at: 200 }).ledger;
  const say = (ledger: Ledger, more: Partial<Remark>) => raise(ledger, visit(3, [{ ...remark, ...more }])).ledger;

  it.each([
    ["another word that tells nothing", { title: "The null deref" }],
    ["another order", { title: "Deref of null", line_start: 14, line_end: 14 }],
    ["a longer form", { title: "null dereference" }],
  ])("stays settled: %s", (_, more) => {
    expect(say(waived, more).findings).toEqual(waived.findings);
    expect(say(dropped, more).findings).toEqual(dropped.findings);
  });

  it.each([
    ["another thing", { title: "Null deref in b" }],
    ["somewhere else", { title: "The null deref", line_start: 40, line_end: 40 }],
    ["in another file", { title: "The null deref", file: "b.ts" }],
    ["worse", { title: "The null deref", priority: 0 }],
  ])("is raised as one of its own: %s", (_, more) => {
    expect(openFindings(say(waived, more))).toHaveLength(1);
  });
});

describe("what Ratchet let go", () => {
  const gone = letGo(raised, { ids: [idIn(raised)], reason: "tracked as x-1", at: 200 }).ledger;
  const again = (threshold: "none" | "P0") => raise(gone, { ...visit(2, [remark]), threshold }).ledger;

  it("counts again in a review where it blocks, and is let go only there", () => {
    expect(again("none").findings).toMatchObject([{ status: "open", reason: null, reopened: 1 }]);
    expect(again("none").findings[0]).not.toHaveProperty("let_go");
    expect(again("P0").findings).toEqual(gone.findings);
  });

  it("is named to reviewers as settled only where it would not block", () => {
    expect([settledFindings(gone, "none"), settledFindings(gone, "P0")]).toMatchObject([[], [{ status: "waived" }]]);
  });
});
