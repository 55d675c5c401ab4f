import { describe, expect, it } from "vitest";
import { addNumbers, mergeRecords } from "./merge-records.js";

function merged(record: unknown, patch: unknown): unknown {
  return JSON.parse(mergeRecords(JSON.stringify(record), JSON.stringify(patch)));
}
function added(record: unknown, patch: unknown): unknown {
  return JSON.parse(addNumbers(JSON.stringify(record), JSON.stringify(patch)));
}

describe("a record", () => {
  it.each([
    ["keeps keys the patch does not have", { a: 1, b: 2 }, { b: 3 }, { a: 1, b: 3 }],
    ["takes a null as a value", { a: 1 }, { a: null }, { a: null }],
    ["has nested objects replaced, not mixed", { e: { old: true } }, { e: { now: true } }, { e: { now: true } }],
  ])("%s", (_name, record, patch, expected) => expect(merged(record, patch)).toEqual(expected));

  it.each([
    ["sums nested numbers", { u: { i: 1, o: 2 } }, { u: { i: 10 } }, { u: { i: 11, o: 2 } }],
    ["counts a missing number as 0", {}, { n: 1 }, { n: 1 }],
    ["counts a null so far as 0", { u: { cost: null } }, { u: { cost: 0.5 } }, { u: { cost: 0.5 } }],
    ["is not changed by adding null", { u: { cost: 2 } }, { u: { cost: null } }, { u: { cost: 2 } }],
    ["stays unknown when null is added to null", { u: { cost: null } }, { u: { cost: null } }, { u: { cost: null } }],
  ])("%s", (_name, record, patch, expected) => expect(added(record, patch)).toEqual(expected));
});
