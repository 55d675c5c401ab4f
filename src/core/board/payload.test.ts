import { describe, expect, it } from "vitest";
import { mergeFixItemId, mergeItemId, reviewItemId, reworkItemId } from "./item-ids.js";
import { cyclesOf, parsePayload } from "./payload.js";

const pullRequest = {
  pr_number: 42,
  pr_url: "https://forge.example/o/r/pull/42",
  repo: "o/r",
  branch: "shop-3",
  base_branch: "main",
  project_id: "shop",
  implementation_work_item_id: "shop-3",
  worktree_path: "/w/shop-3",
  human_review_required: false,
};
const comment = { path: "src/a.ts", line: 3, body: "why?", author: "ann", created_at: "2026-01-01T00:00:00Z" };
const rework = {
  source: "rework",
  ...pullRequest,
  review_feedback: "too slow",
  rework_cycle: 1,
  inline_comments: [comment],
};

describe("a payload", () => {
  it.each([
    ["an issue without a pull request", { source: "implement" }],
    ["an issue with one", { source: "implement", ...pullRequest }],
    [
      "an escalated issue",
      { source: "implement", human_review_required: true, escalation_reason: "x", escalated_at: "y" },
    ],
    ["a first review", { source: "code_review", ...pullRequest, rework_cycle: 0 }],
    ["a rework", rework],
    [
      "a rework with a remark on a whole file",
      { ...rework, inline_comments: [{ ...comment, line: null, outdated: true }] },
    ],
    ["a rework with a limit of 0", { ...rework, max_rework_cycles: 0 }],
    ["a limit that cannot be used", { ...rework, max_rework_cycles: "two" }],
    [
      "a remark with what came before it",
      { ...rework, inline_comments: [{ ...comment, earlier: [{ author: "a", body: "b", created_at: "" }] }] },
    ],
    ["a merge", { source: "pr_merge", ...pullRequest, worktree_path: null }],
    ["a merge fix", { source: "merge_fix", ...pullRequest }],
  ])("of %s is taken as it is", (_name, payload) => {
    expect(parsePayload(payload)).toEqual({ ok: true, payload });
  });

  it.each([
    [null, "it is no object"],
    [[], "it is no object"],
    [{}, "source nothing is not one of implement, code_review, rework, pr_merge, merge_fix"],
    [{ source: "toString" }, 'source "toString" is not one of'],
    [{ source: "pr_merge" }, "pr_number must be a whole number of 1 or more, not nothing"],
    [{ ...rework, pr_number: "42" }, 'pr_number must be a whole number of 1 or more, not "42"'],
    [{ ...rework, rework_cycle: 0 }, "rework_cycle must be a whole number of 1 or more, not 0"],
    [{ ...rework, human_review_required: "no" }, "human_review_required must be true or false"],
    [{ ...rework, inline_comments: [{ ...comment, line: "3" }] }, "inline_comments must be a list of"],
    [{ ...rework, inline_comments: [{ ...comment, more: 1 }] }, "inline_comments must be a list of"],
    [{ ...rework, inline_comments: [{ ...comment, earlier: [{ body: 1 }] }] }, "inline_comments must be a list of"],
    [{ ...rework, extra: 1 }, "extra is no key of it"],
    [{ source: "implement", review_feedback: "x" }, "review_feedback is no key of it"],
    [{ source: "implement", pr_number: undefined, hasOwnProperty: 1 }, "hasOwnProperty is no key of it"],
  ])("that is %j is refused: %s", (payload, reason) => {
    expect(parsePayload(payload)).toMatchObject({ ok: false, reason: expect.stringContaining(reason) });
  });
});

it("ids of a pull request's items say project, number and cycle", () => {
  const of = { projectId: "shop", prNumber: 42 };
  expect([reviewItemId(of, 0), reviewItemId(of, 2)]).toEqual(["review-shop-pr-42", "review-shop-pr-42-cycle-2"]);
  expect(reworkItemId(of, 1)).toBe("rework-shop-pr-42-cycle-1");
  expect([mergeItemId(of), mergeFixItemId(of, 1)]).toEqual(["merge-shop-pr-42", "merge-fix-shop-pr-42-cycle-1"]);
});

it.each([
  [undefined, { max: null, bad: false }],
  [null, { max: null, bad: false }],
  [0, { max: 0, bad: false }],
  [3, { max: 3, bad: false }],
  [-1, { max: null, bad: true }],
  [1.5, { max: null, bad: true }],
  ["two", { max: null, bad: true }],
  ["2", { max: null, bad: true }],
  [{}, { max: null, bad: true }],
])("P5 of max_rework_cycles %j can be used: %j", (value, expected) => {
  expect(cyclesOf(value)).toEqual(expected);
});
