import { expect, test } from "vitest";
import { renderExplanation } from "./explain.js";
import { lackingLine, mayBeMended } from "./lacking.js";

const lacking = { target: "main", tip: "c".repeat(40), commits: 2, worktree: "/home/x y" };
const line =
  "main has 2 commits that this work has not: merge it with `git -C '/home/x y' merge cccccccccccc`, or begin anew from there with `ratchet retry x --afresh`";

test("what the target has come to have is told with what can be done, before the next command", () => {
  expect(lackingLine("x", lacking)).toBe(line);
  const told = { issue_id: "x", state: "failed", running: false, reason: "failed", blockers: [] } as const;
  expect(renderExplanation({ ...told, meanwhile: line, next: "ratchet run" })).toEqual([
    "x is not running: failed",
    line,
    "next: ratchet run",
  ]);
});

test.each([
  ["failed", "gate_failed", true],
  ["quarantined", "setup_failed", true],
  ["failed", "agent_failed", false],
  ["escalated", "merge_conflict", false],
  ["success", null, false],
])("of one that is %s with %s it may be the target's: %s", (status, error, may) => {
  expect(mayBeMended({ status, error })).toBe(may);
});
