import { expect, test } from "vitest";
import { refusal } from "./refusal.js";

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
