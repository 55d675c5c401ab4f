import { describe, expect, test } from "vitest";
import { cpuTimer } from "../../test/cpu-timer.js";
import { formatDiagnostic } from "./diagnostic.js";
import { placeOf } from "./source.js";
import { readYamlSource, readYamlValue } from "./yaml-source.js";

function said(text: string): string[] {
  return readYamlSource(text, "f").diagnostics.map(formatDiagnostic);
}

describe("broken or hostile text gets one clear sentence at its place", () => {
  test.each<[string, string, string]>([
    [
      "an open list",
      "a: [1",
      "f:1:6: not valid YAML: Flow sequence in block collection must be sufficiently indented and end with a ]",
    ],
    ["a tab as indentation", "a:\n\tb: 1", "f:2:1: not valid YAML: indent with spaces, found a tab"],
    ["a mapping in a value", "a: b: c", "f:1:4: not valid YAML: Nested mappings are not allowed in compact mappings"],
    ["a list at the top", "- a", "f:1:1: expected a mapping of settings (key: value), found a list"],
    ["a text at the top", "hello", 'f:1:1: expected a mapping of settings (key: value), found the text "hello"'],
    ["a NUL byte", "a: 1\nbc\0: 2", "f:2:3: expected text, found a NUL byte"],
    ["a second document", "a: 1\n---\nb: 2", "f:2:1: expected one YAML document, found a second one"],
    ["a tag", "a: !secret x", "f:1:4: not a plain value: Unresolved tag: !secret"],
    ["a key given twice", "a: 1\nb: 1\na: 2", "f:3:1: a: given twice, first in line 1"],
    ["a key given twice deep inside", "x:\n  a: 1\n  a: 2", "f:3:3: x.a: given twice, first in line 2"],
    ["a number as a key", "x: {1: a}", 'f:1:5: x: expected a key that is text, found 1 (write it in quotes: "1")'],
    ["a NUL byte in a text", 'a: [b, "c\\0d"]', 'f:1:8: a[1]: expected text without a NUL byte, found "c\\u0000d"'],
    ["a NUL byte in a key", '"a\\0": 1', 'f:1:1: "a\\u0000": expected a key without a NUL byte'],
    ["null as a key", "null: a", "f:1:1: expected a key that is text, found null"],
    ["a list as a key", "? [a]\n: b", "f:1:3: expected a key that is text, found a list, mapping or alias"],
    ["a merge key", "a: &a {b: 1}\nc: {<<: *a}", 'f:2:5: c."<<": merge keys are not read: write the settings out'],
    ["an unknown alias", "a: *b", "f:1:4: a: expected the name of an anchor that stands before it, found *b"],
    ["a circle", "a: &a [*a]", "f:1:8: nested too deeply: at most 64 levels are read"],
    ["__proto__", "__proto__: {a: 1}", "f:1:1: __proto__ cannot be the name of a setting"],
  ])("%s", (_, text, message) => {
    expect(said(text)).toEqual([message]);
  });

  const bomb = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
  for (let n = 1; n < 12; n++)
    bomb.push(
      `a${n}: &a${n} [${Array(10)
        .fill(`*a${n - 1}`)
        .join(", ")}]`,
    );
  test.each<[string, string, string]>([
    ["a bomb of aliases", bomb.join("\n"), "too many values: at most 20000 are read"],
    ["100,000 open lists", "[".repeat(100_000), "nested too deeply"],
    ["60,000 dashes", "- ".repeat(60_000), "nested too deeply"],
    ["60,000 question marks", "? ".repeat(60_000), "nested too deeply"],
    ["10 MB", "a: b\n".repeat(2_000_000), "expected a file of at most 128 KiB, found 9766 KiB"],
    ["100,000 commas", `[${",".repeat(100_000)}`, "not valid YAML"],
    ["100,000 closing brackets", "]".repeat(100_000), "not valid YAML"],
  ])("%s ends soon", (_, text, message) => {
    const spentMs = cpuTimer();
    const messages = said(text);
    expect(messages[0]).toContain(message);
    expect(messages).toHaveLength(1);
    expect(spentMs()).toBeLessThan(20_000);
  });
});

describe("good text", () => {
  test.each<[string, string]>([
    ["empty", ""],
    ["only comments", "# nothing\n\n"],
    ["a byte order mark alone", "\uFEFF"],
    ["only a document marker", "---\n"],
  ])("%s is a configuration without settings", (_, text) => {
    const { source, diagnostics } = readYamlSource(text, "f");
    expect([{ ...source?.root }, diagnostics]).toEqual([{}, []]);
  });

  test.each([
    ["with a byte order mark", "\uFEFFa: 1\nb:\n  c: x\n"],
    ["with CRLF", "a: 1\r\nb:\r\n  c: x\r\n"],
  ])("%s has the same values and places", (_, text) => {
    const { source } = readYamlSource(text, "f");
    expect(source).not.toBeNull();
    if (source === null) return;
    expect(JSON.parse(JSON.stringify(source.root))).toEqual({ a: 1, b: { c: "x" } });
    expect(placeOf(source, ["a"])).toMatchObject({ line: 1, column: 4 });
    expect(placeOf(source, ["b", "c"])).toMatchObject({ line: 3, column: 6 });
    expect(placeOf(source, ["b", "c"], "key")).toMatchObject({ line: 3, column: 3 });
    expect(placeOf(source, ["b", "missing", "deep"])).toMatchObject({ line: 2, column: 1 });
  });

  test("anchors and aliases are values like others", () => {
    const { source, diagnostics } = readYamlSource("a: &x [1, 2]\nb: *x", "f");
    expect([source?.root.b, diagnostics]).toEqual([[1, 2], []]);
  });
});

test.each([
  ["3", 3],
  ["true", true],
  ["null", null],
  ["a b", "a b"],
  ['"3"', "3"],
  ["[a, 1]", ["a", 1]],
  ["[a", undefined],
  ["[".repeat(5000), undefined],
])("the value of a variable: %s", (text, value) => {
  expect(readYamlValue(text)).toEqual(value);
});
