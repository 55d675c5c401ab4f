import fc from "fast-check";
import { expect, test } from "vitest";
import { check } from "../check/check.js";
import { parseKdl } from "./parse-kdl.js";

const valid = `workflow "w" {
  version 2; goal "g" // why
  start "a"
  models { default "f"; profile "f" model="m" }
  stage "a" kind="llm" prompt=#"say "x""# auto_status=true { retry max_attempts=2 delay="1s" }
  stage "p" kind="parallel" join="j" { branch "t" "u" }
  stage "t" kind="tool" command="""
    make
      it
    """ timeout="5m"
  stage "u" kind="workflow" ref="other" { input "k" "v" }
  stage "j" kind="join" policy="any"
  stage "g" kind="decision" { route when="outcome(\\"a\\") == \\"fail\\"" to="h"; route when="true" to="p" }
  stage "h" kind="human" prompt="?" { option "y" to="e"; option "n" to="a"; require_feedback_on "n" }
  stage "e" kind="exit"
  transition from="a" to="g" priority=1
  transition from="j" to="e"
}
`;

/** Never an exception, no graph only with an error, and every place inside of the text. */
function read(text: string): boolean {
  const { graph, diagnostics } = parseKdl(text, { file: "w" });
  const found = graph === null ? [] : check(graph, { readable: () => "file", workflowExists: () => true });
  const all = [...diagnostics, ...found];
  const lines = text.split(/\r\n|\n|\r/);
  const isInside = (line: number, column: number) =>
    line > 0 && column > 0 && column <= (lines[line - 1]?.length ?? -1) + 1;
  expect(all.filter(({ line, column }) => !isInside(line, column))).toEqual([]);
  const isWrong = all.some(({ severity }) => severity === "error");
  if (graph === null) expect(isWrong).toBe(true);
  return !isWrong;
}

test("the file that is damaged below is right", () => {
  expect(parseKdl(valid, { file: "w" }).diagnostics).toEqual([]);
  expect(read(valid)).toBe(true);
});

test("E11 a truncated file is an error, wherever it ends", () => {
  const lengths = fc.integer({ min: 0, max: valid.trimEnd().length - 1 });
  fc.assert(
    fc.property(lengths, (length) => {
      expect(read(valid.slice(0, length))).toBe(false);
    }),
    { numRuns: 150 },
  );
});

test("E11 a damaged file is read or refused, never an exception", () => {
  const junk = fc.oneof(
    fc.constantFrom(
      "{",
      "}",
      '"',
      '"""',
      "#",
      '#"',
      '"#',
      "/*",
      "*/",
      "//",
      "/-",
      "\\",
      "=",
      ";",
      "(",
      ")",
      "\n",
      "\r\n",
    ),
    fc.constantFrom(
      "true",
      "#true",
      "null",
      "0x",
      "-1",
      'r#"',
      "\ufeff",
      "stage",
      'kind="tool"',
      "\u2028",
      "\u0000",
      "🦆",
    ),
    fc.string({ unit: "binary", maxLength: 5 }),
  );
  const damage = fc.record({
    at: fc.integer({ min: 0, max: valid.length }),
    cut: fc.integer({ min: 0, max: 30 }),
    junk,
  });
  fc.assert(
    fc.property(fc.array(damage, { minLength: 1, maxLength: 3 }), (damages) => {
      let text = valid;
      for (const { at, cut, junk: put } of damages) text = text.slice(0, at) + put + text.slice(at + cut);
      read(text);
    }),
    { numRuns: 200 },
  );
});

test.each([
  ["nested blocks", "a{"],
  ["opened blocks", "{"],
  ["quotes", '"'],
  ["open comments", "/*"],
  ["stages", 'stage "a" kind="exit"\n'],
])("ten megabytes of %s are an error at once", (_, part) => {
  expect(read(part.repeat(10_000_000 / part.length))).toBe(false);
  expect(read(part.repeat(100_000 / part.length))).toBe(false);
});

test("conditions and blocks that are nested deeply are an error", () => {
  const deep = "(".repeat(100_000);
  expect(
    parseKdl(
      `workflow "w" { version 2; start "e"; stage "e" kind="exit"\ntransition from="e" to="e" when="${deep}" }`,
      { file: "w" },
    ).diagnostics,
  ).toMatchObject([{ rule: "condition", line: 2 }]);
  const { diagnostics } = parseKdl(`${"a {\n".repeat(70)}${"}\n".repeat(70)}`, { file: "w" });
  expect(diagnostics).toMatchObject([{ message: "blocks are nested too deeply", line: 65, column: 3 }]);
});

test("E11 a text that the KDL library stumbles over is a syntax error with a place", () => {
  for (const text of ['"\\', 'a """\\', "r#", "*/", "\\u*/", "\\u$#", 'workflow "w" {\n  goal "x\\']) {
    expect(read(text)).toBe(false);
    expect(parseKdl(text, { file: "w" }).diagnostics[0]).toMatchObject({ rule: "syntax" });
    expect(JSON.stringify(parseKdl(text, { file: "w" }))).not.toMatch(/unexpected error|Error:/);
  }
});
