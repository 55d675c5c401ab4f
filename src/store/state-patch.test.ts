import fc from "fast-check";
import { expect, test } from "vitest";
import { applyPatch, type Patch, patchBetween } from "./state-patch.js";
import { baseOf, readState, writeState } from "./state-text.js";

const key = fc.constantFrom("a", "b", "c", "1", "0", "__proto__", "constructor", "is", "put");
const leaf = fc.constantFrom<unknown>(null, true, 0, 1, "x", "", undefined);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaf,
    fc.array(tie("value"), { maxLength: 5 }),
    fc
      .uniqueArray(fc.tuple(key, tie("value")), { maxLength: 6, selector: ([name]) => name })
      .map((entries) => Object.fromEntries(entries)),
  ),
}));
const holder = value.map((held) => ({ held }));

function asRead<T>(given: T): T {
  return JSON.parse(JSON.stringify(given)) as T;
}

test("a patched value reads like the value itself, with its keys in order", () => {
  fc.assert(
    fc.property(holder, holder, (before, after) => {
      const patch = patchBetween(before, after);
      const made = patch === null ? asRead(before) : applyPatch(asRead(before), asRead<Patch>(patch));
      expect(JSON.stringify(made)).toBe(JSON.stringify(after));
    }),
    { numRuns: 2000 },
  );
});

test("what grew, moved to the end or lost an entry makes a short patch", () => {
  const names = Array.from({ length: 500 }, (_, at) => `stage-${at}`);
  const values = Object.fromEntries(names.map((name) => [name, "done"]));
  const state = { values, passed: names };
  const { "stage-7": moved, ...others } = values;
  const cases = [
    { ...state, values: { ...values, more: "done" }, passed: [...names, "more"] },
    { ...state, values: { ...others, "stage-7": moved } },
    { values: others, passed: names.filter((name) => name !== "stage-7") },
    { ...state, values: { ...values, "stage-7": "failed" } },
  ];
  for (const after of cases) expect(JSON.stringify(patchBetween(state, after)).length).toBeLessThan(150);
});

test("a large state is written as what has changed, and whole again once that is no longer short", () => {
  const state = { text: "x".repeat(20_000), counts: [1] };
  const base = { id: 17, state, length: JSON.stringify(state).length };
  const next = { ...state, counts: [1, 2] };
  const written = writeState(next, base);
  expect(written.isPatch).toBe(true);
  expect(written.text.length).toBeLessThan(100);
  expect(baseOf(written.text)).toBe(17);
  expect(readState(written.text, asRead(state))).toEqual(next);
  expect(readState(writeState(state, base).text, asRead(state))).toEqual(state);
  const other = { ...state, more: "y".repeat(5000) };
  expect(writeState(other, base)).toEqual({ text: JSON.stringify(other), isPatch: false });
  expect(writeState({ counts: [] }, { id: 17, state: { counts: [1] }, length: 14 }).isPatch).toBe(false);
});
