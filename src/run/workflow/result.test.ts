import { expect, test } from "vitest";
import { readResult } from "./result.js";

const nothing = { status: null, context: {} };
test.each([
  [null, nothing],
  ["text", nothing],
  [[{ status: "success" }], nothing],
  [{ session_id: "s", usage: {} }, nothing],
  [{ status: "Success" }, { status: { status: "success" }, context: {} }],
  [
    { status: "done", failure_reason: 3 },
    { status: { status: null, failureReason: null }, context: {} },
  ],
  [
    { status: "fail", failure_reason: "why", preferred_label: "again", suggested_next_ids: ["a", 4, ""] },
    { status: { from: "file", status: "fail", failureReason: "why", preferredLabel: "again", nextIds: ["a"] } },
  ],
  [
    { context_updates: { a: { b: [1] } }, context_appends: { c: 1 } },
    { status: null, context: { contextUpdates: { a: { b: [1] } }, contextAppends: { c: 1 } } },
  ],
  [{ context_updates: ["a"] }, nothing],
  [
    { verdict: "PASS", findings: [] },
    { status: { from: "file", status: "success", failureReason: null }, remarks: "" },
  ],
  [{ verdict: "maybe", findings: [] }, nothing],
  [{ verdict: "pass", findings: [{ priority: 1, title: "leak" }] }, { status: { status: "fail" } }],
  [{ verdict: "pass", findings: [{ priority: 2, title: "name" }] }, { status: { status: "success" } }],
  [{ verdict: "pass", status: "fail" }, { status: { status: "fail" } }],
  [
    {
      verdict: "fail",
      findings: [{ file: "a.ts", line_start: 3, priority: 0, title: "T", body: "B" }, { title: "U" }],
    },
    { status: { status: "fail", failureReason: "a.ts:3: T (and 1 more)" }, remarks: "[P0] a.ts:3: T\nB\n\nU" },
  ],
])("the result file %j", (value, expected) => {
  expect(readResult(value, { review: true })).toMatchObject(expected);
});

test("a verdict says nothing of a stage that is no review", () => {
  expect(readResult({ verdict: "fail", findings: [{ title: "x" }] }, { review: false })).toMatchObject({
    status: null,
    remarks: "",
  });
});
