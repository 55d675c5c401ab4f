import { expect, test } from "vitest";
import { toVerdict } from "./verdict.js";

test.each([
  [
    {},
    { file: "unknown", line_start: 0, line_end: 0, priority: null, title: "Unknown issue", body: "", reviewer: null },
  ],
  [
    { title: "x", line_start: "7" },
    { line_start: 7, line_end: 7, title: "x" },
  ],
  [
    { line_start: 9, line_end: 3 },
    { line_start: 9, line_end: 9 },
  ],
  [
    { line_start: "x", line_end: -1 },
    { line_start: 0, line_end: 0 },
  ],
  [{ line_start: 1.5 }, { line_start: 0 }],
  [{ priority: "P2" }, { priority: 2 }],
  [{ priority: "0" }, { priority: 0 }],
  [{ priority: 3 }, { priority: 3 }],
  [{ priority: null }, { priority: null }],
  [
    { file: 5, title: "", body: 7 },
    { file: "unknown", title: "Unknown issue", body: "" },
  ],
  [{ reviewer: "jo" }, { reviewer: "jo" }],
  [{ priority: null, severity: "info" }, { priority: null }],
  [{ priority: null, severity: "high" }, { priority: 1 }],
  [{ priority: 3, severity: "critical" }, { priority: 0 }],
  [{ priority: 3, Severity: " Blocker " }, { priority: 0 }],
  [{ priority: "P3", severity: "P1" }, { priority: 1 }],
  [{ priority: 2, severity: "medium" }, { priority: 2 }],
  [{ priority: 1, severity: "low" }, { priority: 1 }],
  [{ priority: 0, severity: "sev-1" }, { priority: 0 }],
  [{ priority: 3, severity: null }, { priority: 3 }],
  [
    { Priority: 2, TITLE: "x" },
    { priority: 2, title: "x" },
  ],
  [{ file: "./src/../a.c" }, { file: "a.c" }],
  [{ body: "race\n in login" }, { title: "race in login", body: "race\n in login" }],
  [{ body: "x".repeat(400) }, { title: `${"x".repeat(299)}…`, body: "x".repeat(400) }],
  [{ description: "race in login" }, { title: "race in login", body: "race in login" }],
  [
    { title: "T", body: "", Category: "auth", where: { hint: "race in login", line: 3 } },
    { title: "T", body: "race in login\n\nauth" },
  ],
  [
    { title: "T", body: ["race in", "login"] },
    { title: "T", body: "race in\n\nlogin" },
  ],
  [
    { title: "T", body: "B", description: "D" },
    { title: "T", body: "B" },
  ],
])("A4 the finding %j is completed to %j", (given, expected) => {
  const reading = toVerdict({ verdict: "pass", findings: [given] });
  expect(reading.type === "verdict" ? reading.findings[0] : null).toMatchObject(expected);
});
