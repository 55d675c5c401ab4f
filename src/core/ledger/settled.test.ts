import { describe, expect, it } from "vitest";
import type { Ledger, Remark } from "../finding.js";
import { emptyLedger, openFindings, raise, resolveStage, waive } from "./ledger.js";
import type { Visit } from "./visit.js";

function remark(title: string, more: Partial<Remark> = {}): Remark {
  return { file: "a.ts", line_start: 10, line_end: 12, priority: 1, title, body: { text: `about ${title}` }, ...more };
}
function visit(stage: string, number: number, remarks: Remark[]): Visit {
  const base = { source: "review", reviewer: stage, outcome: "fail", commit: `c${number}`, runId: "r1" } as const;
  return { ...base, stage, visit: number, at: number * 100, remarks };
}
const ledgerAfter = (...visits: Visit[]): Ledger =>
  visits.reduce((ledger, one) => raise(ledger, one).ledger, emptyLedger("i1"));

describe("a settled finding", () => {
  const at = (line: number, text: string, more: Partial<Remark> = {}) =>
    remark("Magic number", { line_start: line, line_end: line, body: { text }, ...more });
  const settled = (...remarks: Remark[]) => {
    const { findings, ...rest } = ledgerAfter(visit("review", 1, remarks));
    return waive({ findings, ...rest }, { ids: findings.slice(0, 1).map(({ id }) => id), reason: "fine", at: 150 })
      .ledger;
  };
  const told = ({ findings }: Ledger) =>
    findings.map(({ line_start, body, status }) => `${line_start} ${body.text} ${status}`);

  it("keeps to what was settled when the lines move, and leaves the other one of its title alone", () => {
    const before = settled(at(3, "harmless"), at(80, "a bug"));
    const moved = visit("review", 2, [at(23, "harmless", { priority: 3 }), at(100, "a bug")]);
    expect(told(raise(before, moved).ledger)).toEqual(["3 harmless waived", "100 a bug open"]);
  });

  it.each([
    ["moved and in other words", [at(63, "no harm"), at(140, "it crashes")]],
    ["near, two of them", [at(4, "it crashes"), at(6, "no harm")]],
    ["a new one first, without a word", [at(300, ""), at(3, "", { priority: 3 })]],
  ])("takes nothing that may be another defect: %s", (_what, remarks) => {
    const before = settled(at(3, "harmless"), at(80, "a bug"));
    const after = raise(before, visit("review", 2, remarks)).ledger;
    const open = openFindings(after, { blocking: "none" }).map(({ body }) => body.text);
    expect(open).toEqual(expect.arrayContaining(remarks.filter((r) => r.priority === 1).map((r) => r.body.text)));
  });

  it.each([
    ["near it in other words, while another one is missing", [at(5, "it crashes")]],
    ["as near to the other one", [at(12, "it crashes")]],
  ])("takes nothing that may be an open finding of its title: %s", (_what, remarks) => {
    const open = raise(settled(at(9, "harmless"), at(15, "a bug")), visit("review", 2, remarks)).ledger;
    expect(openFindings(open)).toMatchObject([{ body: { text: "it crashes" }, status: "open" }]);
  });

  it.each([1, 2, 3])("keeps to its place where code moves by %i beside another one of its title", (lines) => {
    const before = settled(at(210, "harmless"), at(110, "a bug"));
    const moved = [at(110 + lines, "it crashes"), at(210 + lines, "no harm")];
    for (const remarks of [moved, moved.toReversed(), moved.map((one) => ({ ...one, body: { text: "b" } }))]) {
      const { findings } = raise(before, visit("review", 2, remarks)).ledger;
      expect(findings).toMatchObject([
        { status: "waived", line_start: 210 },
        { status: "open", line_start: 110 + lines },
      ]);
    }
  });

  it.each([
    ["that moved a little", [at(112, "b"), at(212, "b")], ["superseded 10", "waived 210", "open 112"]],
    ["that moved far", [at(300, "b")], ["superseded 10", "waived 210", "open 300"]],
    ["that is not there", [at(110, "b"), at(300, "b")], ["superseded 10", "waived 210", "open 110", "open 300"]],
    ["as far away", [at(110, "b"), at(13, "b")], ["open 13", "waived 16", "open 110"], 16],
  ])("is never taken for another one that is closed: %s", (_what, remarks, expected, place = 210) => {
    const [gone, waived, open] = [at(10, "b"), at(place, "b"), at(110, "b")];
    const raised = ledgerAfter(visit("review", 1, [gone, waived, open]), visit("review", 2, [waived, open]));
    const { id = "" } = raised.findings[1] ?? {};
    const before = waive(raised, { ids: [id], reason: "fine", at: 250 }).ledger;
    const { findings } = raise(before, visit("review", 3, remarks)).ledger;
    expect(findings.map(({ status, line_start }) => `${status} ${line_start}`)).toEqual(expected);
  });

  it("is asked about again somewhere else in other words, or by somebody who had not reported it", () => {
    const before = settled(at(3, "harmless"));
    expect(raise(before, visit("review", 2, [at(4, "no harm")])).ledger).toEqual(before);
    expect(raise(before, visit("review", 2, [at(300, "harmless")])).ledger).toEqual(before);
    expect(openFindings(raise(before, visit("review", 2, [at(300, "no harm")])).ledger)).toHaveLength(1);
    expect(openFindings(raise(before, visit("other", 1, [at(95, "harmless")])).ledger)).toHaveLength(1);
  });

  it("F11 is settled in the words of everybody who reported it", () => {
    const words = { p1: remark("Null deref in parse"), p2: remark("Possible null deref in parse function") };
    const both = ledgerAfter(visit("p1", 1, [words.p1]), visit("p2", 1, [words.p2]));
    expect(both.findings).toHaveLength(1);
    const before = waive(both, { ids: both.findings.map(({ id }) => id), reason: "fine", at: 150 }).ledger;
    expect(raise(before, visit("p2", 2, [words.p2])).ledger).toEqual(before);
    expect(raise(before, visit("p1", 2, [words.p1])).ledger).toEqual(before);
    const worse = raise(before, visit("p2", 2, [{ ...words.p2, priority: 0 }])).ledger;
    expect(worse.findings).toMatchObject([{ status: "open", priority: 0 }]);
  });
});

describe("what is settled of a finding of several reporters", () => {
  const [one, other] = [remark("Null deref of foo in parse"), remark("Null deref of bar in parse", { line_start: 14 })];
  const both = ledgerAfter(visit("p1", 1, [one]), visit("p2", 1, [other]));
  const waived = (ledger: Ledger) =>
    waive(ledger, { ids: ledger.findings.map(({ id }) => id), reason: "fine", at: 150 }).ledger;
  const open = (ledger: Ledger) => openFindings(ledger).map(({ title }) => title);

  it("stays so in the words of each, near where that one has seen it", () => {
    const again = { ...other, line_start: 17, line_end: 17, body: { text: "once more" } };
    expect(raise(waived(both), visit("p2", 2, [again])).ledger).toEqual(waived(both));
    expect(open(raise(waived(both), visit("p2", 2, [{ ...again, line_start: 21, line_end: 21 }])).ledger)).toEqual([
      other.title,
    ]);
  });

  it("is nothing that was no longer said when that was decided, nor ever shown by an older version", () => {
    const let_go = waived(resolveStage(both, { stage: "p2", at: 120, commit: "c2" }).ledger);
    const findings = waived(both).findings.map(({ also_reported: _, ...older }) => older);
    for (const before of [let_go, { ...both, findings }]) {
      const after = raise(before, visit("p2", 2, [other])).ledger;
      expect(open(after)).toEqual([other.title]);
      const later = raise(raise(after, visit("p2", 3, [other])).ledger, visit("p1", 2, [one])).ledger;
      expect(later.findings.map(({ status }) => status)).toEqual(["waived", "open"]);
    }
  });

  it("takes nobody else along in one visit", () => {
    const named = [one, other].map((said, at) => ({ ...said, reviewer: `r${at}` }));
    const before = waived(ledgerAfter(visit("p1", 1, named.slice(0, 1))));
    const after = [2, 3].reduce((ledger, number) => raise(ledger, visit("p1", number, named)).ledger, before);
    expect(after.findings).toMatchObject([{ status: "waived" }, { status: "open", title: other.title, visit: 3 }]);
  });
});

describe("F11 a finding of several reporters", () => {
  const words = { p1: remark("Null deref in parse"), p2: remark("Possible null deref in parse function") };
  const both = ledgerAfter(visit("p1", 1, [words.p1]), visit("p2", 1, [words.p2]));

  it("keeps its id when the first one is content and the other repeats its own words, and takes those", () => {
    const one = resolveStage(both, { stage: "p1", at: 150, commit: "c2" }).ledger;
    const again = [2, 3].reduce((ledger, round) => raise(ledger, visit("p2", round, [words.p2])).ledger, one);
    expect(again.findings).toMatchObject([
      { id: both.findings[0]?.id, status: "open", title: words.p2.title, visit: 3, reviewers: ["p1", "p2"] },
    ]);
    const back = raise(again, visit("p1", 4, [words.p1])).ledger;
    expect(back.findings).toMatchObject([{ id: both.findings[0]?.id, status: "open", title: words.p2.title }]);
  });

  it("is one finding when the lines move, whoever says so first", () => {
    const moved = (one: Remark) => ({ ...one, line_start: 40, line_end: 42 });
    const after = [visit("p2", 2, [moved(words.p2)]), visit("p1", 2, [moved(words.p1)])].reduce(
      (ledger, one) => raise(ledger, one).ledger,
      both,
    );
    expect(after.findings).toMatchObject([{ line_start: 40, status: "open", title: words.p1.title }]);
  });
});
