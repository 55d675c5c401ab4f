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
])("the result file %j", (value, expected) => {
  expect(readResult(value)).toMatchObject(expected);
});
