import fc from "fast-check";
import { expect, test } from "vitest";
import { applyPatch, type Patch, patchBetween } from "./state-patch.js";
import { readState, writeState } from "./state-text.js";

const key = fc.constantFrom("a", "b", "c", "1", "0", "__proto__", "constructor", "is", "put", "each", "cut");
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

test("a patched queue reads like the queue itself, and its patch is as long as what came", () => {
  const queue = Array.from({ length: 60 }, (_, at) => ({ key: `child:${at}`, start: "x".repeat(100) }));
  const more = [60, 61, 62].map((at) => ({ key: `child:${at}`, start: "x".repeat(100) }));
  const entries = fc.subarray([...queue, ...more]);
  fc.assert(
    fc.property(entries, (after) => {
      const patch = patchBetween(queue, after);
      const made = patch === null ? queue : applyPatch(asRead(queue), asRead<Patch>(patch));
      expect(made).toEqual(after);
    }),
  );
  const ended = new Set([0, 3, 17]);
  const after = [...queue.filter((_, at) => !ended.has(at)), ...more];
  expect(patchBetween(queue, after)).toEqual({
    cut: [
      [0, 1],
      [3, 1],
      [17, 1],
    ],
    push: more,
  });
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

test("a state that is not small is written as what has changed, and whole again once that has cost as much", () => {
  const state = { text: "x".repeat(5000), counts: [1] };
  const first = writeState(state, null);
  expect(first).toEqual({ text: "@null", whole: JSON.stringify(state), base: expect.objectContaining({ state }) });
  const stored = String(first.whole);
  expect(readState(first.text, stored).state).toEqual(state);
  let { base } = first;
  let written = 0;
  for (let count = 2; ; count += 1) {
    const next = { ...state, counts: Array.from({ length: count }, (_, n) => n) };
    const { text, whole, base: now } = writeState(next, base);
    expect(readState(text, whole === null ? stored : String(whole)).state).toEqual(next);
    if (whole !== null) break;
    base = now;
    written += text.length;
    expect(text.length).toBeLessThan(count * 4 + 60);
  }
  expect(written).toBeGreaterThan(4200);
  expect(written).toBeLessThan(5100);
  const used = { state, length: 5000, patched: 5000 };
  expect(writeState({ counts: [] }, used)).toEqual({ text: '{"counts":[]}', whole: null, base: null });
});
