import { describe, expect, it } from "vitest";
import { hashText } from "./hash.js";
import { findingId, isNear, isSameWords, isSimilarTitle, plainPath } from "./identity.js";

describe("hashText", () => {
  it.each([
    ["", "cbf29ce484222325"],
    ["a", "af63dc4c8601ec8c"],
    ["foobar", "85944171f73967e8"],
  ])("gives the published FNV-1a value of %j", (text, hash) => {
    expect(hashText(text)).toBe(hash);
  });

  it("takes any text, broken surrogates included", () => {
    expect(hashText("\ud800")).toMatch(/^[0-9a-f]{16}$/);
  });
});

const base = { file: "src/a.ts", title: "Null deref in parser", source: "review" } as const;

it.each([
  ["../a.ts", "../a.ts"],
  ["a/../../b.ts", "../b.ts"],
  ["/x/./y/../z.ts", "/x/z.ts"],
  ["/../z.ts", "/z.ts"],
  [".github/..a/b...ts", ".github/..a/b...ts"],
  ["./", "./"],
])("the path %s is plainly %s", (given, plain) => {
  expect(plainPath(given)).toBe(plain);
});

describe("findingId", () => {
  it.each([
    ["case and punctuation", { ...base, title: "null deref, in Parser." }],
    ["blanks in the title", { ...base, title: "Null  deref\tin\u2028parser" }],
    ["a line number in the title", { ...base, title: "Null deref in parser line 12-14" }],
    ["a leading ./", { ...base, file: "./src/a.ts" }],
    ["a way round", { ...base, file: "lib/../src//./a.ts" }],
  ])("is the same whatever %s", (_what, other) => {
    expect(findingId(other)).toBe(findingId(base));
  });

  it.each([
    ["file", { ...base, file: "src/b.ts" }],
    ["title", { ...base, title: "Null deref in lexer" }],
    ["source", { ...base, source: "gate" as const }],
    ["title of symbols", { ...base, title: "???" }],
  ])("differs with the %s", (_what, other) => {
    expect(findingId(other)).not.toBe(findingId(base));
  });

  it("tells titles without any letter apart", () => {
    expect(findingId({ ...base, title: "==" })).not.toBe(findingId({ ...base, title: "!=" }));
    expect(findingId({ ...base, title: "= \t=" })).toBe(findingId({ ...base, title: "= =" }));
  });
});

describe("isSimilarTitle", () => {
  it.each([
    ["Null deref", "Possible null dereference", true],
    ["SQL injection in query", "SQL injection in the query builder", true],
    ["Missing null check", "Missing null check in parser", true],
    ["Null deref", "Naming", false],
    ["Race in cache", "Slow cache lookup", false],
    ["SQL injection in find_user", "SQL injection in drop_user", false],
    ["SQL injection in find_user", "SQL injection in find_users", false],
    ["Missing null check on argument foo", "Missing null check on argument `bar`", false],
    ["Missing null check on argument foo", "Missing null check on argument 'bar'.", false],
    ["Missing null check on argument foo", "Missing null check on argument bar", true],
    ["Unhandled error of cache.get()", "Unhandled error of cache.put()", false],
    ["Wrong limit of 30 seconds", "Wrong limit of 60 seconds", false],
    ["Off by one in the loop on line 3", "Off by one in the loop on line 5", false],
    ["Off by one in the loop, line 12", "Off by one in the loop, lines 12-14", true],
    ["The user's name is never escaped", "A user's name is not escaped", true],
    ["Missing null check in `parse()`", "Missing null check in parse", true],
    ["Missing null check in parseInput", "Missing null check", true],
    ["", "", true],
    ["", "x", false],
  ])("%j and %j: %s", (a, b, alike) => {
    expect([isSimilarTitle({ title: a }, { title: b }), isSimilarTitle({ title: b }, { title: a })]).toEqual([
      alike,
      alike,
    ]);
  });
});

describe("isSameWords", () => {
  it.each([
    ["Null deref on line 3", "Null deref on line 5", true],
    ["Deref of null", "The null deref", true],
    ["Deref of null in parse", "Null deref in parse2", false],
    ["Deref of null in find_user", "Null deref in find_users", false],
  ])("%j and %j: %s", (a, b, same) => {
    expect(isSameWords({ title: a }, { title: b })).toBe(same);
  });
});

describe("isNear", () => {
  const at = (line_start: number, line_end: number, file = "a.ts") => ({ file, line_start, line_end });
  it.each([
    ["overlapping", at(10, 12), at(11, 30), true],
    ["three apart", at(10, 12), at(15, 15), true],
    ["four apart", at(10, 12), at(16, 16), false],
    ["another file", at(10, 12), at(10, 12, "b.ts"), false],
    ["an end before the start", at(10, 0), at(10, 0), true],
  ])("%s", (_what, a, b, near) => {
    expect([isNear(a, b), isNear(b, a)]).toEqual([near, near]);
  });
});
