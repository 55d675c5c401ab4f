import { describe, expect, it } from "vitest";
import { hear, namedCommits, nothingSaid } from "./marker.js";

const said = (...lines: string[]) => lines.reduce(hear, nothingSaid);

describe("a marker", () => {
  it.each([
    ["ISSUE_NO_CHANGE: nothing to do", { name: "NO_CHANGE", rationale: "nothing to do" }],
    ["  ISSUE_OBSOLETE:  gone  ", { name: "OBSOLETE", rationale: "gone" }],
    ["ISSUE_ALREADY_COMPLETE: in abc123", { name: "ALREADY_COMPLETE", rationale: "in abc123" }],
    ["ISSUE_DOCS_ONLY:", { name: "DOCS_ONLY", rationale: "" }],
    ["ISSUE_NO_CHANGE: see `a.ts`", { name: "NO_CHANGE", rationale: "see `a.ts`" }],
    ["`ISSUE_NO_CHANGE: nothing to do`", { name: "NO_CHANGE", rationale: "nothing to do" }],
    ["**`ISSUE_OBSOLETE: gone`** ", { name: "OBSOLETE", rationale: "gone" }],
    ["- ISSUE_NO_CHANGE: not this one", null],
    ["> ISSUE_NO_CHANGE: said before", null],
    ["- `ISSUE_DOCS_ONLY: <why>`: please review it", null],
    ["`ISSUE_NO_CHANGE:` would be wrong here", null],
    ["**ISSUE_NO_CHANGE**: not used", null],
    ["ISSUE_NO_CHANGE: <why>", null],
    ["ISSUE_OTHER: x", null],
    ["see ISSUE_NO_CHANGE: x", null],
    ["ISSUE_NO_CHANGE", null],
    ["", null],
  ])("%j is read as %j", (line, marker) => {
    expect(said(line).marker).toEqual(marker);
  });

  it("is the last one of the message", () => {
    const lines = ["ISSUE_NO_CHANGE: the example", "text", "ISSUE_OBSOLETE: really", "bye"];
    expect(said(...lines).marker).toEqual({ name: "OBSOLETE", rationale: "really" });
    expect(said("none").marker).toBeNull();
  });

  it("keeps a rationale of any length within bounds", () => {
    expect(said(`ISSUE_NO_CHANGE: ${"x".repeat(1_000_000)}`).marker?.rationale.length).toBe(1000);
  });
});

describe("the commits that ALREADY_COMPLETE may name", () => {
  const sha = "0123456789abcdef0123456789abcdef01234567";
  it.each<[string, string[]]>([
    [`ticket 20240115 was done in ${sha}`, ["20240115", sha]],
    [`${sha.toUpperCase()}, again ${sha}`, [sha]],
    ["done in 1f2e (short), or 1f2e3d4.", ["1f2e", "1f2e3d4"]],
    ["added in 2024 by a decade-old facade, see PR-123", []],
    [`abc ${"a".repeat(65)} x1234567`, []],
    ["nothing named", []],
  ])("%j: %j", (rationale, named) => {
    expect(namedCommits({ name: "ALREADY_COMPLETE", rationale })).toEqual(named);
    expect(namedCommits({ name: "OBSOLETE", rationale })).toEqual([]);
  });

  it("are never more than twenty", () => {
    const rationale = Array.from({ length: 30 }, (_, n) => `${1_000_000 + n}`).join(" ");
    expect(namedCommits({ name: "ALREADY_COMPLETE", rationale })).toHaveLength(20);
  });
});

describe("an objection to a finding", () => {
  it.each([
    ["FINDING_REJECTED: f12ab34 it is checked above", { id: "f12ab34", reason: "it is checked above" }],
    ["  FINDING_REJECTED: `f12ab34`: not so", { id: "f12ab34", reason: "not so" }],
    ["- FINDING_REJECTED: f12ab34 - not so", { id: "f12ab34", reason: "not so" }],
    ["`FINDING_REJECTED: f12ab34 not so`", { id: "f12ab34", reason: "not so" }],
    ["**FINDING_REJECTED:** `f12ab34` — see `a.ts`", { id: "f12ab34", reason: "see `a.ts`" }],
    ["> FINDING_REJECTED: f12ab34 not so", null],
    ["FINDING_REJECTED: f12ab34", null],
    ["FINDING_REJECTED: no id at all", null],
    ["I write FINDING_REJECTED: f12ab34 x", null],
  ])("%j is read as %j", (line, rejection) => {
    expect(said(line).rejected).toEqual(rejection === null ? [] : [rejection]);
  });

  it("counts once, by its last reason, and there are never more than fifty", () => {
    expect(said("FINDING_REJECTED: f12ab34 a", "FINDING_REJECTED: f12ab34 b").rejected).toEqual([
      { id: "f12ab34", reason: "b" },
    ]);
    const many = Array.from({ length: 60 }, (_, n) => `FINDING_REJECTED: id-${1000 + n} x`);
    expect(said(...many).rejected).toHaveLength(50);
  });
});
