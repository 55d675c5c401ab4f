import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { evaluate } from "./evaluate.js";
import { parseExpression } from "./parse.js";

const view = {
  outcome: (stage: string) => ({ ci: "success", review: "fail" })[stage] ?? "",
  lastOutcome: "fail",
  preferredLabel: "Yes",
  value: (key: string) => ({ count: 3, text: "3", ok: true, list: [1], nothing: null })[key],
  has: (key: string) => key === "count",
};

test.each([
  ["true", true],
  ["false", false],
  [' outcome("ci") == "success" ', true],
  ['"success"==outcome("ci")', true],
  ["outcome('ci') != 'success'", false],
  ['outcome("later") == ""', true],
  ['outcome("ci")=="success"&&outcome("review")!="success"', true],
  ['outcome("ci") == "fail" || outcome("review") == "fail" && exists("count")', true],
  ['(outcome("ci") == "success" || true) && false', false],
  ['!exists("other") && !(exists("count") && !!false)', true],
  ['output("count") == 3', true],
  ['output("text") == 3.0', true],
  ['context("text") == "3"', true],
  ['context("count") == "3"', true],
  ['output("count") != 4', true],
  ['output("ok") == true', true],
  ['output("ok") == "true"', true],
  ['output("missing") == ""', true],
  ['output("missing") == 0', false],
  ['output("missing") == false', false],
  ['output("nothing") == ""', true],
  ['output("list") == "[1]"', true],
  ['exists("count") == true', true],
  ['-1 == "-1"', true],
  ['"a\\"b" == \'a"b\'', true],
])("%s is %s", (text, expected) => {
  const { expression, diagnostics } = parseExpression(text, { line: 1, column: 1 });
  expect(diagnostics).toEqual([]);
  expect(expression !== null && evaluate(expression, view)).toBe(expected);
});

test.each([
  ["", 1, "empty"],
  ["   ", 4, "empty"],
  ['outcome("ci")', 1, "neither true nor false", 'compare it: outcome("ci") == "success"'],
  ['exists("a") && output("k")', 16, "neither true nor false", 'output("k") == true'],
  ['!outcome("ci") == "x"', 2, "neither true nor false"],
  ['"yes"', 1, "neither true nor false"],
  ["3 || true", 1, "neither true nor false"],
  ['outcome("ci") = "success"', 15, '"="', "=="],
  ['outcome("ci") === "success"', 15, "===", "=="],
  ['outcome("ci") > 3', 15, '">"'],
  ["true & true", 6, '"&"', "&&"],
  ["true and true", 6, '"and"', "&&"],
  ['outcome("ci") ==', 17, "the end"],
  ["== true", 1, "expected a value"],
  ["true && || true", 9, "expected a value"],
  ['true == true == "x"', 14, "do not chain"],
  ["(true", 6, "not closed"],
  ["true)", 5, '")"'],
  ["outcome(ci)", 9, "in quotes"],
  ["outcome", 8, "parentheses"],
  ['outcome("")', 9, "in quotes"],
  ['outcome("a" "b")', 13, "expected )"],
  ['outcom("a") == "b"', 1, '"outcom"', "did you mean outcome?"],
  ["outcome == success", 9, "parentheses"],
  ['outcome("ci") == success', 18, '"success"', 'quoted: "success"'],
  ['true && "open', 9, "not closed"],
  ['"\\q" == "a"', 2, "escape"],
  ["12x == 1", 1, "number"],
  ["true && ☃", 9, "☃"],
  [`${"(".repeat(100_000)}true`, 102, "nested too deeply"],
  [`${"!".repeat(100_000)}true`, 102, "nested too deeply"],
  [`true${"&&true".repeat(100_000)}`, 6001, "more than 1000 parts"],
])("%#: a wrong condition is told at its column", (text, column, message, hint = "") => {
  const { expression, diagnostics } = parseExpression(text, { line: 7, column: 1 });
  expect(expression).toBeNull();
  expect(diagnostics).toMatchObject([{ severity: "error", line: 7, column }]);
  expect(diagnostics[0]?.message).toContain(message);
  expect(diagnostics[0]?.hint ?? "").toContain(hint);
});

test("a column counts from where the text begins, over its line breaks", () => {
  expect(parseExpression("tru", { line: 3, column: 10 }).diagnostics[0]).toMatchObject({ line: 3, column: 10 });
  expect(parseExpression("true &&\n  tru", { line: 3, column: 10 }).diagnostics[0]).toMatchObject({
    line: 4,
    column: 3,
  });
});

test("the place of a stage's name is kept for the checker", () => {
  const { expression } = parseExpression('!(outcome("ci") == "x")', { line: 1, column: 20 });
  expect(JSON.stringify(expression)).toContain('"stage":"ci","at":{"line":1,"column":30}');
});

test.each([
  ["1 == 1", true],
  ['!("a" != "a") && (true || false)', true],
  ['"3" == 3 && !true', false],
])("E11 what asks for nothing is as good as its answer: %s", (written, value) => {
  expect(parseExpression(written, { line: 1, column: 1 }).expression).toEqual({ type: "literal", value });
});

describe("whatever is written", () => {
  const piece = fc.constantFrom(
    "true",
    "&&",
    "||",
    "!",
    "(",
    ")",
    "==",
    "!=",
    "3",
    '"a"',
    "outcome",
    'exists("k")',
    " ",
    ",",
  );
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(piece, { maxLength: 30 }).map((parts) => parts.join("")),
  );

  test("it is a condition or an error inside of the text, never an exception", () => {
    fc.assert(
      fc.property(text, (written) => {
        const { expression, diagnostics } = parseExpression(written, (index) => ({ line: 1, column: index + 1 }));
        expect(diagnostics.length).toBe(expression === null ? 1 : 0);
        if (expression !== null) expect(typeof evaluate(expression, view)).toBe("boolean");
        for (const { column } of diagnostics) expect(column).toBeLessThanOrEqual(written.length + 1);
      }),
      { numRuns: 1000 },
    );
  });

  test("a megabyte of it takes a moment", () => {
    for (const part of ["(", "!", "true&&", '"', "'\\", "a", " ", "1", 'outcome("a")=='])
      expect(parseExpression(part.repeat(1_000_000 / part.length), { line: 1, column: 1 }).expression).toBeNull();
  }, 5_000);
});
