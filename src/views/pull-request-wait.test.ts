import { expect, test } from "vitest";
import { type MergeObstacle, newPullRequest, type PrState } from "../core/pull-request/state.js";
import { pullRequestWait, type WaitingItem } from "./pull-request-wait.js";

const rework: WaitingItem = {
  id: "rework-1",
  source: "rework",
  status: "failed",
  claimedBy: null,
  failureReason: "boom",
};
const review: WaitingItem = { ...rework, id: "review-1", source: "code_review", failureReason: null };
const issue: WaitingItem = { ...rework, id: "x", source: "implement", status: "waiting_for_response" };

function wait(items: readonly WaitingItem[], state: Partial<PrState> = {}) {
  const told = pullRequestWait({ number: 7, state: { ...newPullRequest("a"), ...state }, items, foreign: false });
  return told && [told.reason, told.next];
}

test.each<[WaitingItem, string, string]>([
  [rework, "its rework rework-1 failed: boom", "ratchet run --resume rework-1"],
  [{ ...rework, status: "available" }, "its rework rework-1 is ready, and a run takes it", "ratchet run"],
  [
    { ...rework, status: "claimed", claimedBy: "r1" },
    "its rework rework-1 is claimed by r1",
    "ratchet explain rework-1",
  ],
  [
    { ...rework, status: "blocked", failureReason: null },
    "its rework rework-1 is blocked by an operator",
    "ratchet work unblock rework-1",
  ],
  [{ ...review, status: "available" }, "Ratchet's review review-1 is ready, and a run takes it", "ratchet run"],
])("an issue waits for what its pull request has made: %j", (item, reason, next) => {
  expect(wait([issue, item], { unmerged: "rework" })).toEqual([reason, next]);
});

test.each<[MergeObstacle, RegExp]>([
  ["draft", /it is a draft/],
  ["stale-approval", /approved before its newest commit/],
  ["untrusted-author", /never merges it/],
  ["left-to-people", /a person merges it/],
])("with no item to work on it says what keeps it from being merged: %s", (unmerged, reason) => {
  const people = { ...review, status: "waiting_for_response" } as const;
  expect(wait([issue, people], { unmerged })).toEqual([expect.stringMatching(reason), "ratchet pr sync 7"]);
});

test("what the forge refused is said in its words, with the time of the next try, while it stands", () => {
  const refused = { tried: "a b 1 0", reason: "At least 2 approving reviews are required", at: 0, times: 1 };
  expect(wait([issue], { refused, mergeTried: "a b 1 0", unmerged: null })).toEqual([
    "the forge does not merge it: At least 2 approving reviews are required (tried again after 1970-01-01T00:01:00.000Z)",
    "ratchet pr sync 7",
  ]);
  expect(wait([issue], { refused, mergeTried: null, unmerged: null })).toBeNull();
});
