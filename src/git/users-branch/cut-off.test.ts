import { expect, test } from "vitest";
import { writtenInOneGo } from "./cut-off.js";
import { type Change, isSame } from "./merge-changes.js";
import { divide } from "./take-back.js";

test.each([
  ["nothing", [], []],
  ["what is older than the merge", [["a", 99]], []],
  [
    "all of it, however late the first",
    [
      ["a", 9_000],
      ["b", 9_100],
    ],
    ["a", "b"],
  ],
  [
    "what comes before a pause",
    [
      ["c", 5_000],
      ["a", 100],
      ["b", 2_100],
      ["d", 5_001],
    ],
    ["a", "b"],
  ],
] as const)("written in one go is %s", (_what, times, expected) => {
  const files = times.map(([path, at]) => ({ path, at }));
  expect([...writtenInOneGo(files, { since: 100, until: null })]).toEqual(expected);
});

test("where the end is known, written in one go is all that was written before it, whatever the pauses", () => {
  const files = Object.entries({ a: 99, b: 100, c: 9_000, d: 9_001 }).map(([path, at]) => ({ path, at }));
  expect([...writtenInOneGo(files, { since: 100, until: 9_000 })]).toEqual(["b", "c"]);
});

const none = { mode: "000000", id: "0" };
const [old, landed, other] = ["1", "2", "3"].map((id) => ({ mode: "100644", id }));

test("taken back is what the index has of the merge and nobody has touched since", () => {
  if (!old || !landed || !other) throw new Error("three entries");
  const change = (path: string, before = old, after = landed): Change => ({ path, before, after });
  const paths = ["changed", "edited", "never", "own", "staged"];
  const changes = [...paths.map((path) => change(path)), change("gone", old, none), change("remade", old, none)];
  const entries = new Map([
    ...["changed", "edited", "staged"].map((path) => [path, landed] as const),
    ["never", old] as const,
    ["own", other] as const,
  ]);
  const seen = { entries, dirty: new Set(["edited", "never"]), present: new Set(["changed", "remade"]) };
  const { ours, theirs } = divide(changes, { ...seen, staged: new Set(["staged"]) });
  const names = (all: readonly Change[]) => all.map(({ path }) => path);
  expect([names(ours), names(theirs)]).toEqual([
    ["changed", "gone"],
    ["edited", "remade"],
  ]);
});

test("nothing at a path is the same as an entry that is none", () => {
  expect([isSame(undefined, none), isSame(old, none), isSame(old, { mode: "100644", id: "1" })]).toEqual([
    true,
    false,
    true,
  ]);
});
