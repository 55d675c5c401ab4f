import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonText } from "./json-text.js";

test.each([
  ["a cut \ud83d here", '"a cut \ufffd here"'],
  ["\udc4d\ud83d", '"\ufffd\ufffd"'],
  ["whole \ud83d\udc4d", '"whole \ud83d\udc4d"'],
  ["the words \\ud83d", '"the words \\\\ud83d"'],
  ["\\\ud83d", '"\\\\\ufffd"'],
  [{ "k\ud83d": ['"\ud83d"'] }, '{"k\ufffd":["\\"\ufffd\\""]}'],
])("%j is written as %s", (value, text) => {
  expect(jsonText(value)).toBe(text);
});

test("whatever is whole is written as it is, and what is written has no half of a pair", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => jsonText(value, 2) === JSON.stringify(value, null, 2)));
  const units = fc
    .array(fc.constantFrom("\\", "u", "d", "8", "3", '"', "\ud83d", "\udc4d", "\n"))
    .map((all) => all.join(""));
  fc.assert(
    fc.property(units, (text) => {
      expect(JSON.parse(jsonText(text))).toBe(Buffer.from(text).toString());
    }),
  );
});
