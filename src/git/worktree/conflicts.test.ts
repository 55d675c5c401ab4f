import { expect, test } from "vitest";
import { isMarked } from "./conflicts.js";

const conflict = (length: number) =>
  `a\n${"<".repeat(length)} HEAD\none\n${"=".repeat(length)}\ntwo\n${">".repeat(length)} main\n`;

test.each([
  ["as git has them", conflict(7)],
  ["shorter", conflict(5)],
  ["longer", conflict(12)],
  ["with the ends of lines of Windows", conflict(7).replaceAll("\n", "\r\n")],
  ["at the beginning, after a mark of the encoding", `\u{feff}${conflict(7).slice(2)}`],
  ["with what both began from", conflict(7).replace("=", "||||||| base\nnone\n=")],
])("marks are seen %s", (_, text) => {
  expect(isMarked(Buffer.from(text))).toBe(true);
  expect(isMarked(Buffer.from(text, "utf16le"))).toBe(true);
});

test.each([
  ["a diff", "--- a\n+++ b\n<<< not one\n>>> x\n"],
  ["a heading", "Title\n=======\n> quoted\n"],
  ["the end of a conflict alone", conflict(7).split("\n").slice(3).join("\n")],
  ["marks of two lengths", `${conflict(7).replace("=======", "=====")}`],
])("%s has none", (_, text) => {
  expect(isMarked(Buffer.from(text))).toBe(false);
});

test("a large file with many beginnings of a mark is read once", () => {
  const text = "< one\n".repeat(100_000);
  expect(isMarked(Buffer.from(text))).toBe(false);
  expect(isMarked(Buffer.from(`${text}=\n> two\n`))).toBe(true);
});
