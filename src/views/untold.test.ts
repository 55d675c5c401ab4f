import { expect, test } from "vitest";
import { toUntold, type UntoldJson, untoldLines } from "./untold.js";

const at = Date.parse("2026-01-02T03:04:05Z");
const owed = (issueId: string, op: UntoldJson["op"] = "complete", tracker: UntoldJson["tracker"] = "beads") =>
  toUntold({ tracker, projectId: "shop", since: at, telling: { issueId, op, holder: "r1" } });

test("what a tracker has not been told is one line: what, whom, since when, and what to do", () => {
  expect(untoldLines([])).toEqual([]);
  expect(untoldLines([owed("a"), owed("b", "fail")])).toEqual([
    "beads has not been told since 2026-01-02T03:04:05.000Z that a is done, b has failed; the next `ratchet run` tells it first",
  ]);
  const many = ["a", "b", "c", "d", "e"].map((id) => owed(id));
  expect(untoldLines(many)[0]).toContain("a is done, b is done, c is done and 2 more; ");
  const both = untoldLines([owed("a"), owed("1", "release", "github")], { named: true });
  expect(both.map((line) => line.split(" has ")[0])).toEqual(["beads of shop", "GitHub of shop"]);
});

test("what a run found itself is told as the run's", () => {
  const own = owed("run-20260102-030405-abcdef", "follow-up");
  expect(own.issue_id).toBe(null);
  expect(untoldLines([own])[0]).toContain("that run r1 left something to do; ");
});
