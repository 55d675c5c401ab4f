import { expect, test } from "vitest";
import { asText, hunksOf, isInDiff } from "./diff-lines.js";

const patch =
  "@@ -1,3 +1,4 @@\n one\n two\n+new\n three\n@@ -10 +11 @@ function x()\n-a\n+b\n@@ -20,2 +20,0 @@\n-x\n-y";

test("a patch shows these lines of the new file", () => {
  expect(hunksOf(patch)).toEqual([
    { first: 1, last: 4 },
    { first: 11, last: 11 },
  ]);
  expect(hunksOf("")).toEqual([]);
});

test.each([
  [{ path: "a", line: 1 }, true],
  [{ path: "a", line: 4, startLine: 2 }, true],
  [{ path: "a", line: 5 }, false],
  [{ path: "a", line: 11, startLine: 4 }, false],
  [{ path: "a", line: 2, startLine: 3 }, false],
  [{ path: "b", line: 1 }, false],
])("%j is in the diff: %j", (place, expected) => {
  expect(isInDiff(place, new Map([["a", hunksOf(patch)]]))).toBe(expected);
});

test("what fits nowhere is told with its place", () => {
  const comments = [
    { path: "a", line: 9, startLine: 8, body: "x" },
    { path: "b", line: 1, body: "y" },
  ];
  expect(asText(comments)).toBe("**a:8-9**\n\nx\n\n**b:1**\n\ny");
});
