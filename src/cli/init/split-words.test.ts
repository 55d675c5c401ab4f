import fc from "fast-check";
import { expect, test } from "vitest";
import { checkProgramLine } from "./check-program.js";
import { joinWords, splitWords } from "./split-words.js";

test.each([
  ["", []],
  ["  ", []],
  ["my-agent", ["my-agent"]],
  [" my-agent   --quiet ", ["my-agent", "--quiet"]],
  ["a 'b c' \"d e\"", ["a", "b c", "d e"]],
  ["a'b'\"c\"d", ["abcd"]],
  ["a ''", ["a", ""]],
  ["a\\ b", ["a b"]],
  ['"a\\"b" "c\\d"', ['a"b', "c\\d"]],
  ["sh -c 'echo \"$HOME\"'", ["sh", "-c", 'echo "$HOME"']],
  ["a 'b", null],
  ['a "b', null],
  ["a\\", null],
])("%j is cut into %j", (line, words) => {
  expect(splitWords(line)).toEqual(words);
});

test("joined words are cut into the same words again", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary", maxLength: 8 }), { maxLength: 5 }), (words) => {
      expect(splitWords(joinWords(words))).toEqual(words);
    }),
  );
});

test.each([
  ["my-agent --quiet", null],
  ["", "a program is needed"],
  ["'' x", "a program is needed"],
  ["a 'b", "a quote is not closed"],
])("%j as a program: %j", (line, wrong) => {
  expect(checkProgramLine(line)).toBe(wrong);
});
