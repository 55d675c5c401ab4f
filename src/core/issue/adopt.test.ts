import { describe, expect, it } from "vitest";
import type { Ledger } from "../finding.js";
import { emptyLedger, raise, waive } from "../ledger/ledger.js";
import { type AdoptedLife, adoptLife } from "./adopt.js";
import { remark } from "./fixture.js";

const life: AdoptedLife = {
  ...{ runId: "old", succeeded: false, rounds: 3, commit: null, at: 5 },
  remarks: [remark("Null deref", 1)],
  ...{ threshold: "none", toldBy: new Set(["old"]) },
};
const told = ({ findings }: Ledger) => findings.map(({ title, status }) => `${title} ${status}`);

describe("a life that was lived elsewhere", () => {
  it("leaves what its last review found", () => {
    const { findings } = adoptLife(emptyLedger("x"), life);
    expect(findings).toMatchObject([
      { title: "Null deref", stage: "per_issue_review", source: "review", visit: 3, run_id: "old", status: "open" },
    ]);
  });
  it("takes the place of what an earlier one left", () => {
    const first = adoptLife(emptyLedger("x"), life);
    const second = adoptLife(first, { ...life, remarks: [remark("Leaks", 1, "b.ts")] });
    expect(told(second)).toEqual(["Null deref superseded", "Leaks open"]);
  });
  it.each<[AdoptedLife["threshold"], string[]]>([
    ["P0", ["P1 open", "P2 open", "none open"]],
    ["none", ["P1 superseded", "P2 open", "none open"]],
    ["P2", ["P1 superseded", "P2 superseded", "none open"]],
  ])("with the threshold %s closes what it would name, of what was found here", (threshold, expected) => {
    const who = { stage: "per_issue_review", source: "review", reviewer: "command", outcome: "fail" } as const;
    const remarks = [remark("P1", 1, "1.ts"), remark("P2", 2, "2.ts"), remark("none", null, "n.ts")];
    const here = raise(emptyLedger("x"), { ...who, visit: 1, at: 1, commit: null, runId: "here", remarks });
    expect(told(adoptLife(here.ledger, { ...life, threshold })).slice(0, 3)).toEqual(expected);
    const worse = adoptLife(here.ledger, { ...life, remarks: [remark("P2", 1, "2.ts")] });
    expect(worse.findings).toMatchObject([{ status: "superseded" }, { priority: 1, status: "open" }, {}]);
  });
  it("closes what another record named, whatever its priority", () => {
    const first = adoptLife(emptyLedger("x"), { ...life, remarks: [remark("Old", 3, "b.ts")] });
    expect(told(adoptLife(first, life))).toEqual(["Old superseded", "Null deref open"]);
  });
  it("closes what is open when it succeeded, a panel's findings too", () => {
    const visit = { stage: "per_issue_review/style", source: "review", reviewer: "style", outcome: "fail" } as const;
    const panel = raise(emptyLedger("x"), {
      ...visit,
      visit: 1,
      at: 1,
      commit: null,
      runId: "r",
      remarks: [remark("Ugly", 1, "c.ts")],
    });
    const both = adoptLife(panel.ledger, life);
    expect(told(adoptLife(both, { ...life, succeeded: true, remarks: [] }))).toEqual([
      "Ugly resolved",
      "Null deref resolved",
    ]);
  });
  it("resolves by its success what it could name, of what was found here", () => {
    const who = { stage: "per_issue_review", source: "review", reviewer: "command", outcome: "fail" } as const;
    const remarks = [remark("P1", 1, "1.ts"), remark("P2", 2, "2.ts"), remark("none", null, "n.ts")];
    const here = raise(emptyLedger("x"), { ...who, visit: 1, at: 1, commit: null, runId: "here", remarks });
    const both = adoptLife(here.ledger, { ...life, threshold: "P0", remarks: [remark("Old", 3, "o.ts")] });
    expect(told(adoptLife(both, { ...life, succeeded: true, remarks: [] }))).toEqual([
      ...["P1 resolved", "P2 open", "none open", "Old resolved"],
    ]);
  });
  it("closes nothing when it says nothing", () => {
    const first = adoptLife(emptyLedger("x"), life);
    expect(adoptLife(first, { ...life, remarks: [] })).toBe(first);
  });
  it("does not bring back what a person waived", () => {
    const first = adoptLife(emptyLedger("x"), life);
    const ids = first.findings.map(({ id }) => id);
    const { ledger } = waive(first, { ids, reason: "fine", at: 6 });
    expect(told(adoptLife(ledger, life))).toEqual(["Null deref waived"]);
  });
});
