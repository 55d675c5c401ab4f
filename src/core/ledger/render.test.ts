import { describe, expect, it } from "vitest";
import type { Finding, Ledger, Remark } from "../finding.js";
import { emptyLedger, raise } from "./ledger.js";
import { type RenderOptions, renderFindings } from "./render.js";
import { byteLength, headOf } from "./text-bytes.js";

function remark(title: string, more: Partial<Remark> = {}): Remark {
  return { file: "a.ts", line_start: 10, line_end: 12, priority: 1, title, body: { text: `${title}: body` }, ...more };
}
function ledgerOf(stage: string, ...visits: Remark[][]): Ledger {
  return visits.reduce(
    (ledger, remarks, index) =>
      raise(ledger, {
        ...{ stage, source: "review", reviewer: stage, outcome: "fail", at: 1, commit: "c", runId: "r" },
        visit: index + 1,
        remarks,
      }).ledger,
    emptyLedger("i"),
  );
}
function render(findings: readonly Finding[], more: Partial<RenderOptions> = {}) {
  return renderFindings(findings, { budgetBytes: 100_000, restPath: "/x/findings.md", order: "by-file", ...more });
}
const mixed = ledgerOf("security", [
  remark("Style", { file: "b.ts", priority: 3, line_start: 5, line_end: 5 }),
  remark("Leak", { file: "c.ts", priority: 1, line_start: 0, line_end: 0 }),
  remark("Null deref", { file: "b.ts", priority: 0 }),
  remark("Taste", { file: "", priority: null, line_start: 0, line_end: 0 }),
]).findings;

describe("renderFindings", () => {
  it("lists all open findings once, the file with the worst first, worst first within a file", () => {
    const [id = ""] = mixed.filter((finding) => finding.title === "Null deref").map((finding) => finding.id);
    const { text, rest } = render(mixed);
    expect(text.match(/^####? .*/gm)).toEqual([
      "### b.ts",
      "#### 1. [P0] Null deref",
      "#### 2. [P3] Style",
      "### c.ts",
      "#### 3. [P1] Leak",
      "### The work as a whole",
      "#### 4. [no priority] Taste",
    ]);
    expect(text).toContain(`b.ts:10-12 · round 1 · by security · id ${id}\n\nNull deref: body`);
    expect(rest).toBeNull();
  });

  it("keeps stages in the given order when asked to", () => {
    const both = [...ledgerOf("tests", [remark("x", { priority: 3 })]).findings, ...mixed];
    expect(render(both, { order: "by-stage" }).text.match(/^### .*/gm)).toEqual(["### tests", "### security"]);
  });

  it("F5 shows the newest in full and what is no longer reported as one line each", () => {
    const { text } = render(
      ledgerOf(
        "review",
        [remark("Old"), remark("Stays", { file: "z.ts" })],
        [remark("Stays", { file: "z.ts", body: { text: "newer words" } })],
      ).findings,
    );
    expect(text).toContain("z.ts:10-12 · round 2 · reported before in 1 · by review");
    expect(text).toContain("newer words");
    expect(text).toContain("### Earlier, no longer reported\n\n- [P1] Old (a.ts:10-12 · round 1 · by review)");
    expect(text).not.toContain("Old: body");
  });

  it("counts all but the newest of a long history, lists them in the rest, and does not grow with rounds", () => {
    const round = (n: number) =>
      [1, 2, 3].map((k) =>
        remark(`Defect ${k} of part ${n}`, { file: `${n}-${k}.ts`, body: { text: "x".repeat(200) } }),
      );
    const stays = remark("Stays", { file: "z.ts" });
    const ledger = ledgerOf("review", ...Array.from({ length: 20 }, (_, n) => [...round(n), stays]));
    const { text, rest } = render(ledger.findings);
    expect(text).toContain("reported before in 1-19 ·");
    expect(text).toMatch(/no longer reported\n\n- \[P1\] Defect 1 of part 18 .*\n- and 56 older ones, listed in \/x/);
    expect(rest?.match(/^- /gm)).toHaveLength(57);
    const first = render(ledgerOf("review", [...round(0), stays]).findings).text;
    expect(byteLength(text)).toBeLessThan(1.25 * byteLength(first));
    expect(render(ledger.findings, { order: "by-stage" }).text.match(/^- /gm)).toHaveLength(57);
  });

  it("leaves closed findings of other stages out", () => {
    const closed = ledgerOf("review", [remark("Old")], [remark("New one", { line_start: 90 })]).findings.slice(0, 1);
    expect(render([...closed, ...mixed]).text).not.toContain("Old");
  });

  it("turns what exceeds the budget into one line with a pointer, and puts its text into the rest", () => {
    const many = ledgerOf(
      "security",
      [..."abcdefghi"].map((letter) =>
        remark(`Finding ${letter}`, {
          file: `${letter}.ts`,
          priority: letter === "i" ? 0 : 2,
          body: { text: letter.repeat(300) },
        }),
      ),
    ).findings;
    const { text, rest } = render(many, { budgetBytes: 1900 });
    for (const finding of many) expect(text.split(finding.id)).toHaveLength(2);
    expect(text).toContain("i".repeat(300));
    expect(text).toMatch(/more findings, to be addressed like those above; their full text is in \/x\/findings.md/);
    const shown = many.filter((finding) => text.includes(finding.body.text));
    expect(shown.length).toBeGreaterThan(0);
    for (const finding of many) expect(shown.includes(finding) || rest?.includes(finding.body.text)).toBe(true);
  });

  it("cuts a text larger than the budget with a note, after the small ones", () => {
    const huge = `${"line of the huge text\n".repeat(50_000)}END`;
    const { text, rest } = render(
      ledgerOf("security", [remark("Huge", { priority: 0, body: { text: huge } }), remark("Small", { line_start: 40 })])
        .findings,
      { budgetBytes: 10_000 },
    );
    expect(text).toContain("Small: body");
    expect(text).toMatch(/\[cut here: \d+ of \d+ bytes; the whole text is in \/x\/findings.md\]/);
    expect(byteLength(text)).toBeLessThan(10_600);
    expect(rest).toContain(huge);
  });

  it("has what others say of a finding with its text, in full or in the rest", () => {
    const said = (title: string, reviewer: string, text: string) => remark(title, { reviewer, body: { text } });
    const findings = ledgerOf("s", [
      said("Null deref of argument foo", "a", "foo may be null"),
      { ...said("Null deref of argument bar", "b", "x".repeat(2000)), line_start: 12, priority: 0 },
    ]).findings;
    const other = `Also reported by b (a.ts:12, P0): Null deref of argument bar\n\n${"x".repeat(2000)}`;
    expect(render(findings).text).toContain(`foo may be null\n\n${other}`);
    expect(render(findings, { budgetBytes: 1000 }).rest).toContain(other);
  });

  it("takes whole bodies from the caller, and says where they are when it does not", () => {
    const stored = ledgerOf("s", [
      remark("x", { body: { text: "head", ref: { path: "/b", bytes: 9000, sha256: "0" } } }),
    ]);
    expect(render(stored.findings).text).toContain("head\n[the beginning of 9000 bytes; the whole text is in /b]");
    expect(render(stored.findings, { wholeOf: () => "the whole" }).text).toMatch(/the whole$/);
  });

  it("A10 keeps a body byte for byte", () => {
    const body = "a {{x}} $& %s ``` {}\n  ünïcödé 🦀\n\ttabs";
    expect(render(ledgerOf("s", [remark("x", { body: { text: body } })]).findings).text).toContain(body);
  });

  it("is empty without findings", () => {
    expect(render([])).toEqual({ text: "", rest: null });
  });
});

describe("headOf", () => {
  it.each([
    ["abc", 3, "abc"],
    ["abcd", 3, "abc"],
    ["ab🦀", 4, "ab"],
    ["line 1\nline 2", 9, "line 1"],
    ["a\nlonger line", 9, "a\nlonger "],
    ["x", 0, ""],
  ])("%j in %d bytes is %j", (text, bytes, head) => {
    expect(headOf(text, bytes)).toBe(head);
  });
});
