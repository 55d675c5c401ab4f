import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Finding, Ledger, Remark } from "../finding.js";
import type { RunReport } from "../report.js";
import { titlesOf } from "./identity.js";
import {
  add,
  emptyLedger,
  findingId,
  openFindings,
  raise,
  reopenSince,
  resolveStage,
  supersedeStage,
  waive,
} from "./ledger.js";
import type { Visit } from "./visit.js";
import { isSameText, wordsOf } from "./words.js";

const stage = fc.constantFrom("a", "b", "gate", "a/security");
const remark: fc.Arbitrary<Remark> = fc.record(
  {
    file: fc.constantFrom("a.ts", "b.ts", ""),
    line_start: fc.integer({ min: 0, max: 12 }),
    line_end: fc.integer({ min: 0, max: 14 }),
    priority: fc.constantFrom(0, 1, 2, 3, null),
    title: fc.constantFrom("Null deref", "null deref", "Possible null deref", "Null deref here", "Naming", "x"),
    body: fc.constantFrom("one", "two", "three").map((text) => ({ text })),
    reviewer: fc.constantFrom("r1", "r2"),
  },
  { requiredKeys: ["file", "line_start", "line_end", "priority", "title", "body"] },
);
const visit: fc.Arbitrary<Visit> = fc.record({
  stage,
  source: fc.constantFrom("review", "gate", "protocol", "pr-comment"),
  reviewer: fc.constantFrom("r1", "r2"),
  outcome: fc.constantFrom("fail", "partial_success"),
  visit: fc.integer({ min: 1, max: 9 }),
  at: fc.integer({ min: 1, max: 999 }),
  commit: fc.constantFrom("c1", null),
  runId: fc.constant("r"),
  remarks: fc.array(remark, { maxLength: 6 }),
});

type Step =
  | { readonly op: "raise" | "add"; readonly visit: Visit }
  | { readonly op: "resolve" | "supersede"; readonly stage: string }
  | { readonly op: "waive"; readonly index: number }
  | { readonly op: "reopen"; readonly base: string };
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ op: fc.constantFrom("raise" as const, "add" as const), visit }),
  fc.record({ op: fc.constantFrom("resolve" as const, "supersede" as const), stage }),
  fc.record({ op: fc.constant("waive" as const), index: fc.nat({ max: 5 }) }),
  fc.record({ op: fc.constant("reopen" as const), base: fc.constantFrom("c9", "c1") }),
);
const steps = fc.array(step, { maxLength: 12 });

function take(ledger: Ledger, one: Step): { ledger: Ledger; reports: readonly RunReport[] } {
  switch (one.op) {
    case "raise":
      return raise(ledger, one.visit);
    case "add":
      return add(ledger, one.visit);
    case "resolve":
      return resolveStage(ledger, { stage: one.stage, at: 5, commit: "c9" });
    case "supersede":
      return supersedeStage(ledger, { stages: [one.stage], reason: "gone", at: 6 });
    case "waive":
      return waive(ledger, { ids: [ledger.findings[one.index]?.id ?? "none"], reason: "fine", at: 7 });
    case "reopen":
      return reopenSince(ledger, { since: 5, base: one.base });
  }
}
/** Every state on the way, with the step that led to it. */
function walk(all: readonly Step[], look: (before: Ledger, one: Step, after: ReturnType<typeof take>) => void): Ledger {
  return all.reduce((ledger, one) => {
    const next = take(ledger, one);
    look(ledger, one, next);
    return next.ledger;
  }, emptyLedger("i"));
}
const byId = (ledger: Ledger) => new Map(ledger.findings.map((finding) => [finding.id, finding]));

describe("the ledger", () => {
  it("never loses, renames or reorders a finding", () => {
    fc.assert(
      fc.property(steps, (all) => {
        walk(all, (before, _one, after) => {
          const ids = after.ledger.findings.map((finding) => finding.id);
          expect(ids.slice(0, before.findings.length)).toEqual(before.findings.map((finding) => finding.id));
          expect(new Set(ids).size).toBe(ids.length);
        });
      }),
    );
  });

  it("names a finding after its file, its source and a title that it was reported with", () => {
    fc.assert(
      fc.property(steps, (all) => {
        for (const finding of walk(all, () => undefined).findings) {
          const names = titlesOf(finding).map((title) => findingId({ ...finding, title }));
          expect(names).toContain(finding.id.replace(/-\d+$/, ""));
        }
      }),
    );
  });

  it("changes a status only by the rules", () => {
    fc.assert(
      fc.property(steps, (all) => {
        walk(all, (before, one, after) => {
          const now = byId(after.ledger);
          for (const old of before.findings) expect(allowed(one, old, now.get(old.id))).toBe(true);
        });
      }),
    );
  });

  it("is open exactly while a stage still reports it, with the worst priority of those", () => {
    fc.assert(
      fc.property(steps, (all) => {
        const ledger = walk(all, () => undefined);
        for (const finding of ledger.findings) {
          const given = (finding.stages ?? []).flatMap((one) => (one.priority === null ? [] : [one.priority]));
          expect((finding.stages ?? []).length > 0).toBe(finding.status === "open");
          expect(finding.resolved_at === null).toBe(finding.status === "open");
          if (finding.status === "open") expect(finding.priority).toBe(given.length > 0 ? Math.min(...given) : null);
        }
      }),
    );
  });

  it("has an open or waived finding for every remark right after it was raised, its reviewer among the names", () => {
    fc.assert(
      fc.property(steps, visit, (all, last) => {
        const { ledger } = raise(
          walk(all, () => undefined),
          last,
        );
        for (const one of last.remarks) {
          const home = ledger.findings.filter(
            (f) => f.file === one.file && (f.status === "open" || f.status === "waived"),
          );
          const reviewer = one.reviewer ?? last.reviewer;
          expect(home.some((f) => f.status === "waived" || f.reviewers.includes(reviewer))).toBe(true);
        }
      }),
    );
  });

  it("has what each of two stages says in every remark, where nobody has settled that", () => {
    fc.assert(
      fc.property(steps, visit, visit, fc.boolean(), (all, one, other, isShared) => {
        const before = walk(all, () => undefined);
        const first = { ...one, stage: "a", source: "review", author: "a/x" } as const;
        const shared = { stage: "a", visit: one.visit, author: "a/y" };
        const second: Visit = { ...other, source: "review", ...(isShared ? shared : { stage: "b" }) };
        const isSaid = ({ findings }: Ledger, remark: Remark) =>
          findings.some((f) => f.file === remark.file && wordsOf(f).some((words) => isSameText(words, remark)));
        const isSettled = ({ findings }: Ledger, { file }: Remark) =>
          findings.some((f) => f.file === file && f.status === "waived");
        const once = add(before, first).ledger;
        const twice = add(once, second).ledger;
        for (const one of first.remarks) {
          expect(isSaid(once, one) || isSettled(once, one)).toBe(true);
          if (!isSettled(once, one)) expect(isSaid(twice, one)).toBe(true);
        }
        for (const one of second.remarks) expect(isSaid(twice, one) || isSettled(twice, one)).toBe(true);
      }),
    );
  });

  it("gives the same ids when the same visit is raised twice, and changes no status", () => {
    fc.assert(
      fc.property(steps, visit, (all, last) => {
        const once = raise(
          walk(all, () => undefined),
          last,
        ).ledger;
        const twice = raise(once, last).ledger;
        const look = (ledger: Ledger) => ledger.findings.map((finding) => `${finding.id} ${finding.status}`);
        expect(look(twice)).toEqual(look(once));
      }),
    );
  });

  it("merges two reviewers' reports of one defect whichever comes first", () => {
    fc.assert(
      fc.property(remark, remark, (left, right) => {
        const one = (name: string, of: Remark): Visit => ({
          ...{ source: "review", reviewer: name, outcome: "fail", visit: 1, at: 1, commit: null, runId: "r" },
          stage: name,
          remarks: [{ ...of, reviewer: name }],
        });
        const ab = raise(raise(emptyLedger("i"), one("a", left)).ledger, one("b", right)).ledger;
        const ba = raise(raise(emptyLedger("i"), one("b", right)).ledger, one("a", left)).ledger;
        const look = (ledger: Ledger) => openFindings(ledger).map((f) => [[...f.reviewers].sort().join(), f.priority]);
        expect(look(ab).sort()).toEqual(look(ba).sort());
      }),
    );
  });

  it("reports every finding that it changes, in status or otherwise", () => {
    fc.assert(
      fc.property(steps, (all) => {
        walk(all, (before, _one, { ledger, reports }) => {
          const old = byId(before);
          const named = reports.flatMap((report) => ("finding" in report ? [report.finding] : []));
          for (const finding of ledger.findings.filter((one) => old.get(one.id) !== one)) {
            expect(named).toContain(finding.id);
          }
        });
      }),
    );
  });
});

function allowed(one: Step, old: Finding, now: Finding | undefined): boolean {
  if (!now) return false;
  const change = `${old.status}>${now.status}`;
  if (old.status === now.status) return true;
  switch (one.op) {
    case "raise":
      return now.status === "open" || change === "open>superseded";
    case "add":
      return now.status === "open";
    case "resolve":
      return change === "open>resolved";
    case "supersede":
      return change === "open>superseded";
    case "waive":
      return change === "open>waived";
    case "reopen":
      return (change === "resolved>open" || change === "superseded>open") && old.resolved_commit !== one.base;
  }
}
