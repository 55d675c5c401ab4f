import { describe, expect, it } from "vitest";
import type { Finding, Ledger, Remark } from "../finding.js";
import { toFindingJson } from "../finding-json.js";
import { emptyLedger, raise, reject, reopenSince, resolveStage, waive } from "./ledger.js";
import type { Visit } from "./visit.js";
import { inWordsOf, otherWordsOf, wordsOf } from "./words.js";

function remark(title: string, more: Partial<Remark> = {}): Remark {
  return { file: "a.ts", line_start: 10, line_end: 12, priority: 1, title, body: { text: `about ${title}` }, ...more };
}
function visit(stage: string, number: number, remarks: Remark[], more: Partial<Visit> = {}): Visit {
  const base = { source: "review", reviewer: stage, outcome: "fail", commit: `c${number}`, runId: "r1" } as const;
  return { ...base, stage, author: stage, visit: number, at: number * 100, remarks, ...more };
}
const ledgerAfter = (ledger: Ledger, ...visits: Visit[]): Ledger =>
  visits.reduce((all, one) => raise(all, one).ledger, ledger);
const foo = remark("Missing null check on argument foo");
const bar = remark("Missing null check on argument bar", { line_start: 14, line_end: 14, priority: 0 });
const both = ledgerAfter(emptyLedger("i1"), visit("a", 1, [foo]), visit("b", 1, [bar]));
const only = ({ findings }: Ledger): Finding => {
  const [finding, ...more] = findings;
  return finding && more.length === 0 ? finding : expect.fail("one finding");
};
const titles = (ledger: Ledger) => wordsOf(only(ledger)).map(({ title }) => title);

describe("what several reporters say of one finding", () => {
  it("is kept of each with its text, lines and priority", () => {
    expect(only(both)).toMatchObject({ ...foo, priority: 0, reviewers: ["a", "b"] });
    expect(otherWordsOf(only(both))).toMatchObject([{ ...bar, reviewer: "b", stage: "b", visit: 1 }]);
  });

  it("is one finding of members that share a stage, too, and two of one member", () => {
    const by = (name: string, said: Remark) =>
      visit("session_end", 1, [said], { reviewer: name, author: `session_end/${name}` });
    expect(only(ledgerAfter(emptyLedger("i1"), by("a", foo), by("b", bar))).reviewers).toEqual(["a", "b"]);
    expect(ledgerAfter(emptyLedger("i1"), by("a", foo), by("a", bar)).findings).toHaveLength(2);
  });

  it("is each one's newest", () => {
    const newer = (one: Remark) => ({ ...one, body: { text: "newer" } });
    const again = ledgerAfter(both, visit("b", 2, [newer(bar)]), visit("a", 2, [newer(foo)]));
    expect(wordsOf(only(again))).toMatchObject([newer({ ...foo, priority: 0 }), newer(bar)]);
  });

  it("is said as long as it is reported, and becomes the text where the first reporter has let it go", () => {
    const passed = (stage: string) => resolveStage(both, { stage, at: 150, commit: "c2" }).ledger;
    expect(titles(passed("b"))).toEqual([foo.title]);
    expect(titles(ledgerAfter(passed("b"), visit("a", 2, [foo])))).toEqual([foo.title]);
    const taken = ledgerAfter(passed("a"), visit("b", 2, [bar]));
    expect([only(taken).title, titles(taken)]).toEqual([bar.title, [bar.title]]);
    expect(titles(ledgerAfter(taken, visit("a", 3, [foo])))).toEqual([bar.title, foo.title]);
  });

  it("is all there once it is closed, and back when what closed it does not count", () => {
    const closed = ["b", "a"].reduce(
      (ledger, stage) => resolveStage(ledger, { stage, at: 150, commit: "c2" }).ledger,
      both,
    );
    expect(titles(closed)).toEqual([foo.title, bar.title]);
    const open = reopenSince(closed, { since: 100, base: "c1" }).ledger;
    expect([only(open).priority, titles(open)]).toEqual([0, [foo.title, bar.title]]);
  });

  it.each([
    ["waived", (ledger: Ledger) => waive(ledger, { ids: [only(ledger).id], reason: "fine", at: 200 }).ledger],
    ["rejected", (ledger: Ledger) => reject(ledger, [{ id: only(ledger).id, reason: "it is fine" }]).ledger],
  ])("is %s with what was still said then", (_how, decide) => {
    const passed = resolveStage(both, { stage: "b", at: 150, commit: "c2" }).ledger;
    expect([both, passed].map((ledger) => only(decide(ledger)).also_reported)).toMatchObject([[bar], []]);
  });

  it("is kept apart by who they are where they share a stage, and near each other only", () => {
    const member = (name: string, number: number, one: Remark) => {
      const who = { reviewer: name, author: `session_end/${name}` };
      return { ...visit("session_end", number, [one], who) };
    };
    const near = { ...foo, line_start: 14, body: { text: "the other one" } };
    const shared = ledgerAfter(emptyLedger("i1"), member("x", 1, foo));
    const two = raise(shared, member("y", 1, near), () => false).ledger;
    expect(wordsOf(only(two))).toMatchObject([foo, near]);
    const newer = raise(two, member("y", 2, near), () => false).ledger;
    expect(wordsOf(only(newer))).toMatchObject([
      { ...near, visit: 2 },
      { ...foo, visit: 1 },
    ]);
    const far = raise(shared, member("y", 1, { ...near, line_start: 90 }), () => false).ledger;
    expect(far.findings).toHaveLength(2);
  });

  it("is kept of each name that one visit has", () => {
    const named = [
      { ...foo, reviewer: "x" },
      { ...bar, reviewer: "y" },
    ];
    const once = ledgerAfter(emptyLedger("i1"), visit("a", 1, named));
    expect(wordsOf(only(once)).map(({ reviewer }) => reviewer)).toEqual(["x", "y"]);
    expect(wordsOf(only(ledgerAfter(once, visit("a", 2, named))))).toMatchObject([{ visit: 2 }, { visit: 2, ...bar }]);
  });

  it("is told to each in its own words, and as it is to who has none there", () => {
    const told = (stage: string) => inWordsOf(only(both), (words) => words.stage === stage);
    expect([told("a"), told("b"), told("c")]).toMatchObject([
      { ...foo, priority: 0, also_reported: [] },
      { ...bar, id: only(both).id, also_reported: [] },
      { title: foo.title, also_reported: [bar] },
    ]);
  });

  it("is not told twice where the text has it", () => {
    const all = remark(foo.title, { body: { text: `${foo.body.text}\n\n${bar.title}\n\n${bar.body.text}` } });
    const exported = ledgerAfter(emptyLedger("i1"), visit("all", 1, [all]), visit("b", 1, [bar]), visit("a", 1, [foo]));
    expect([wordsOf(only(exported)).length, otherWordsOf(only(exported))]).toEqual([3, []]);
  });

  it("is in JSON with its whole text; a row of an older version has titles alone", () => {
    const wholeOf = ({ text }: { text: string }) => `${text}, all of it`;
    expect(toFindingJson(only(both), wholeOf).also_reported).toEqual([
      { ...bar, stage: "b", reviewer: "b", visit: 1, body: `${bar.body.text}, all of it` },
    ]);
    const { also_reported: _, author: __, ...old } = only(both);
    expect([old.also, toFindingJson(old, wholeOf).also_reported]).toEqual([[bar.title], []]);
  });
});
