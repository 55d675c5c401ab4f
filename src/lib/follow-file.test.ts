import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { followLines, readBeginning, readLines, readTail } from "./follow-file.js";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ratchet-follow-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function all(lines: AsyncIterable<string>): Promise<string[]> {
  const read: string[] = [];
  for await (const line of lines) read.push(line);
  return read;
}

test.each([
  ["", []],
  ["a\nb\n", ["a", "b"]],
  ["a\r\nb", ["a", "b"]],
  ["\n\n", ["", ""]],
  ["é😀\n", ["é😀"]],
])("%j has the lines %j", async (text, lines) => {
  writeFileSync(join(folder, "f"), text);
  expect(await all(readLines(join(folder, "f")))).toEqual(lines);
});

test("a missing file has no lines and no tail", async () => {
  expect(await all(readLines(join(folder, "none")))).toEqual([]);
  expect(await readTail(join(folder, "none"), 10)).toEqual({ text: "", from: 0 });
});

test("an endless line comes in pieces, none of them lost", async () => {
  writeFileSync(join(folder, "f"), "é".repeat(3_000_000));
  const pieces = await all(readLines(join(folder, "f")));
  expect(pieces.length).toBeGreaterThan(1);
  expect(pieces.join("").length).toBe(3_000_000);
});

test("of a line whose beginning is enough nothing else is kept, and the next line is whole again", async () => {
  const [long, other] = [`skip ${"é".repeat(3_000_000)}`, `keep ${"é".repeat(200_000)}`];
  writeFileSync(join(folder, "f"), `${other}\n${long}\nskip\n${other}\n${long}`);
  const isEnough = (beginning: string) => beginning.startsWith("skip");
  const lines = await all(readLines(join(folder, "f"), { isEnough }));
  const cut = long.slice(0, 256);
  expect(lines).toEqual([other, cut, "skip", other, cut]);
});

test.each([
  ["abcdef", 3, "def", 3],
  ["abc", 3, "abc", 0],
  ["a😀b", 4, "b", 5],
  ["a😀b", 5, "😀b", 1],
])("the tail of %j within %i bytes is %j", async (text, bytes, tail, from) => {
  writeFileSync(join(folder, "f"), text);
  expect(await readTail(join(folder, "f"), bytes)).toEqual({ text: tail, from });
  let left = 0;
  for await (const piece of readBeginning(join(folder, "f"), from)) left += piece.length;
  expect(left).toBe(from);
});

test("a file is followed from before it exists to the end, and then said to be at its end", async () => {
  const path = join(folder, "f");
  const abort = new AbortController();
  const lines = followLines(path, abort.signal);
  const first = lines.next();
  writeFileSync(path, "one\ntw");
  expect((await first).value).toBe("one");
  const second = lines.next();
  appendFileSync(path, "o\n");
  expect((await second).value).toBe("two");
  appendFileSync(path, "three\nfour");
  abort.abort();
  expect(await all(lines)).toEqual(["three", "four"]);
});
