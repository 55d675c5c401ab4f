import { expect, test } from "vitest";
import { firstOwn, readMoves } from "./moved-onto.js";

const line = (from: string, to: string, what: string) => `${from} ${to} A U <a@u> 1700000000 +0000\t${what}\n`;

test.each([
  ["reset: moving to origin/release", true],
  ["checkout: moving from ratchet/1 to release", true],
  ["merge release: Fast-forward", true],
  ["pull -q --ff-only: Fast-forward", true],
  ["fetch -q --update-head-ok origin release:work: fast-forward", true],
  ["fetch -q --update-head-ok file:///r +release:work: forced-update", true],
  ["branch: Reset to FETCH_HEAD", true],
  ["cherry-pick: fast-forward", true],
  ["rebase (start): checkout origin/release", true],
  ["rebase -i (start): checkout origin/release", true],
  ["pull --rebase (start): checkout 0123", true],
  ["pull --rebase file:///r release (start): checkout 0123", true],
  ["rebase: checkout origin/release", true],
  ["commit: reset: moving to", false],
  ["commit: How to merge: fast-forward", false],
  ["commit (amend): Work", false],
  ["rebase (pick): Work", false],
  ["rebase (pick): Fix: checkout without a branch", false],
  ["merge release: Merge made by the 'ort' strategy.", false],
  ["", false],
])("whether %j is a commit that was there before: %j", (what, isReached) => {
  const { began, made, reached } = readMoves(line("aa", "bb", what));
  expect([began, [...made], [...reached]]).toEqual(isReached ? ["aa", ["aa"], ["bb"]] : ["aa", ["aa", "bb"], []]);
});

test("what was made in a checkout stays its own, however it comes to it again", () => {
  const log = line("aa", "bb", "commit: Work") + line("bb", "aa", "reset: moving to HEAD^");
  const { made, reached } = readMoves(log + line("aa", "bb", "reset: moving to ORIG_HEAD"));
  expect([[...made], [...reached]]).toEqual([["aa", "bb"], []]);
});

test("a checkout that was never moved has no log", () => {
  expect(readMoves("")).toEqual({ began: null, made: new Set(), reached: new Set() });
});

test.each([
  ["the oldest, where it went nowhere", "abc", "", "", "a"],
  ["the oldest, also where the log begins later", "abc", "c", "", "a"],
  ["what is above where it went", "abc", "c", "b", "c"],
  ["what is above the newest place that it went to", "abcd", "d", "ac", "d"],
  ["what is below where it went after it had made some", "abc", "a", "b", "a"],
  ["none, where it only went there", "ab", "", "b", null],
  ["none of none", "", "a", "b", null],
])("the first commit of the work's own is %s", (_, line, made, reached, own) => {
  expect(firstOwn([...line], { made: new Set(made), reached: new Set(reached) })).toBe(own);
});
