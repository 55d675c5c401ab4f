import { expect, test } from "vitest";
import type { WorkflowState } from "./state.js";
import { valueLayers, valueNames, writeValues } from "./values.js";

type Kept = Pick<WorkflowState, "values" | "older">;

function readValue(kept: Kept, name: string) {
  return valueLayers(kept).find((layer) => Object.hasOwn(layer, name))?.[name];
}

test("thousands of values are found by name, the newest of each, in the order they came, and none is kept twice", () => {
  const expected: Record<string, string> = {};
  let kept: Kept = { values: {} };
  let most = 0;
  for (let at = 0; at < 3000; at += 1) {
    const name = at % 3 === 0 ? `again-${at % 400}` : `value-${at}`;
    expected[name] = `${at}`;
    kept = { ...kept, ...writeValues(kept, { [name]: `${at}` }) };
    most = Math.max(most, Object.keys(kept.values).length);
  }
  const names = valueNames(kept);
  const older = (kept.older ?? []).flatMap((layer) => Object.keys(layer));
  expect(most).toBe(64);
  expect([...new Set(names)].sort()).toEqual(Object.keys(expected).sort());
  expect(new Set(older).size).toBe(older.length);
  expect(Object.fromEntries(names.map((name) => [name, readValue(kept, name)]))).toEqual(expected);
  expect(names.indexOf("value-1")).toBeLessThan(names.indexOf("value-2998"));
});
