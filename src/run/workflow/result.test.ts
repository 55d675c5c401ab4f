import { expect, test } from "vitest";
import { Unreadable } from "../../lib/program-files.js";
import { readResult } from "./result.js";

const nothing = { status: null, context: {} };
const broken = (why: string) => ({ status: { from: "file", status: null, broken: why }, context: {} });
test.each([
  [undefined, nothing],
  [new Unreadable(), broken("cannot be read as JSON")],
  ["text", broken("is no JSON object")],
  [[{ status: "success" }], broken("is no JSON object")],
  [{ session_id: "s", usage: {} }, nothing],
  [{ status: "Success" }, { status: { status: "success" }, context: {} }],
  [
    { status: "done", failure_reason: 3, context_updates: { a: 1 } },
    broken('says "done", which is none of success, fail, partial_success, retry'),
  ],
  [{ status: 3 }, broken("says 3, which is none of success, fail, partial_success, retry")],
  [{ status: null, preferred_label: "again" }, { status: { status: null, preferredLabel: "again" } }],
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
  [{ verdict: "maybe", findings: [] }, broken('says "maybe", which is no verdict')],
  [{ verdict: "pass", findings: [{ priority: 1, title: "leak" }] }, { status: { status: "fail" } }],
  [{ verdict: "pass", findings: [{ priority: 2, title: "name" }] }, { status: { status: "success" } }],
  [{ verdict: "pass", status: "fail" }, { status: { status: "fail" } }],
  [{ findings: [{ priority: 0, title: "leak" }] }, { status: { status: "fail", failureReason: "leak" } }],
  [{ findings: [{ priority: 3, title: "name" }] }, { status: null }],
  [{ verdict: "pass", findings: [{ priority: "P1", title: "leak" }] }, { status: { status: "fail" } }],
  [{ verdict: "pass", findings: [{ priority: "0" }] }, { status: { status: "fail" } }],
  [{ verdict: "pass", findings: [{ priority: null, title: "name" }] }, { status: { status: "success" } }],
  [
    { verdict: "pass", findings: [{ priority: "critical", title: "leak" }] },
    broken('says priority "critical", which is none of 0 to 3'),
  ],
  [{ verdict: "pass", findings: "a leak" }, broken('has "a leak" as findings, which is no list')],
  [{ status: "success", findings: ["a leak"] }, broken('has "a leak" among its findings, which is none')],
  [{ status: "success", verdict: "fail" }, broken("says success, and that it fails")],
  [{ status: "success", findings: [{ priority: 1, title: "x" }] }, broken("says success, and that it fails")],
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
