import fc from "fast-check";
import { expect, test } from "vitest";
import { JsonNesting } from "./json-nesting.js";

function isOutside(...pieces: readonly string[]): boolean {
  const nesting = new JsonNesting();
  for (const piece of pieces.slice(0, -1)) nesting.add(piece);
  return nesting.isOutsideAfter(pieces.at(-1) ?? "");
}

test.each([
  ["", true],
  ["prose, and so on: ", true],
  ['{"a": [1, true, {"b": "}"}], "c": {}} ', true],
  ['{"a": ', false],
  ['{"a": "', false],
  ['{"a": "\\" } ', false],
  ['{"a": "\\\\"} ', true],
  ['{"a": [', false],
  ['{"a": 1, ', false],
  ["[", false],
  ['[{"a": 1}, ', false],
  ["[1, 2] ", true],
  ["{ ", true],
  ["{ x } ", true],
  ['{"a" b', false],
  ['{"a" b} ', true],
  ['{"a": {"b" c} ', false],
  ['{"a": {"b" c}} ', true],
  ['{"a": tru} ', true],
  ['{"a": "no\nend ', false],
  ["{'a': ", false],
  ["[oops {", true],
])("an object behind %j stands within nothing: %s", (text, expected) => {
  expect(isOutside(text)).toBe(expected);
  expect(isOutside(...text)).toBe(expected);
});

test("what goes deeper than anybody follows may be within anything", () => {
  expect(isOutside(`${"[".repeat(200_000)}${"]".repeat(200_000)}`)).toBe(false);
  expect(isOutside("{".repeat(200_000))).toBe(true);
});

test("wherever whole JSON is cut, what follows stands within it, in whatever pieces it came", () => {
  const value = fc.oneof(fc.array(fc.jsonValue(), { minLength: 1 }), fc.dictionary(fc.string(), fc.jsonValue()));
  fc.assert(
    fc.property(value, fc.nat(3), fc.nat(), fc.nat(), (json, indent, first, second) => {
      const text = JSON.stringify(json, null, indent);
      const [cut, inside] = [1 + (first % (text.length - 1)), second % text.length];
      const pieces = [text.slice(0, Math.min(cut, inside)), text.slice(Math.min(cut, inside), cut)];
      // Behind its first brace, or a list's word that is cut off, an object of its own may begin.
      expect(isOutside(pieces.join(""))).toBe(isOutside(...pieces));
      if (!isOutside(...pieces)) return;
      expect(text.slice(0, cut)).toMatch(/^(?:\{\s*$|\[)/);
      expect(isOutside(text)).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

test("100 MB cost little", () => {
  const nesting = new JsonNesting();
  const line = '{"type": "text", "text": "a \\" } ] {", "list": [1, -2.5e3, true, null, {}]}\nand {prose}\n';
  const chunk = line.repeat(Math.ceil((64 * 1024) / line.length));
  const started = performance.now();
  for (let at = 0; at < 1600; at++) nesting.add(chunk);
  expect(nesting.isOutsideAfter("")).toBe(true);
  expect(performance.now() - started).toBeLessThan(60_000);
});
