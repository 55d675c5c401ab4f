import { expect, test } from "vitest";
import { isRefused, refusal } from "./refusal.js";

const changed = "error: Your local changes to the following files would be overwritten by merge:";

test.each([
  [`${changed}\n\ta.txt\n\tb.txt\nPlease commit your changes\n`, "uncommitted changes in a.txt, b.txt are in the way"],
  [
    `${changed}\n${"abcd".replace(/./g, "\t$&\n")}Please commit\n`,
    "uncommitted changes in a, b, c and 1 more are in the way",
  ],
  [
    "error: The following untracked working tree files would be overwritten by merge:\n\ta\nPlease move\n",
    "untracked a would be overwritten",
  ],
  [
    "error: Updating the following directories would lose untracked files in them:\n\tout\n\n",
    "untracked files in out would be lost",
  ],
  ["error: You have not concluded your merge (MERGE_HEAD exists).\n", "a merge is in progress there"],
  ["warning: no\nfatal: something else.\n", "something else"],
  ["", "git refused"],
])("%j is told as %j", (said, expected) => {
  expect(refusal(said)).toBe(expected);
});

test.each([
  [`${changed}\n\ta.txt\nPlease commit your changes\nAborting\n`, true],
  ["fatal: Not possible to fast-forward, aborting.\n", true],
  ["fatal: You have not concluded your merge (MERGE_HEAD exists).\n", true],
  ["fatal: Unable to create '/r/.git/index.lock': File exists.\n", true],
  ["error: unable to write file a.bin\n", false],
  ["error: external filter 'f' failed 1\nfatal: a.dat: smudge filter up failed\n", false],
  ["error: unable to create file ro/a: Read-only file system\n", false],
  ["fatal: unable to write new index file\n", false],
  ["", false],
])("%j is said before anything is written: %s", (said, expected) => {
  expect(isRefused(said)).toBe(expected);
});
