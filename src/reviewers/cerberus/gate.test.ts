import { describe, expect, test } from "vitest";
import { findingsIn, findingsOfReviewer, readGate, usageOf } from "./gate.js";
import { callTimeoutSeconds, waitTimeout } from "./plan.js";

const resolved = { status: "resolved", run_key: "k", current_iteration: 2 };

test.each([
  ["pass", "pass"],
  ["needs_work", "pass"],
  ["PASS", "pass"],
  ["fail", "fail"],
  ["requires_decision", "fail"],
])("the word %j is %s: findings decide the rest", (verdict, expected) => {
  expect(readGate({ ...resolved, verdict })).toMatchObject({ type: "verdict", verdict: expected, iteration: 2 });
});

test.each([
  [null, "not a JSON object"],
  [[], "not a JSON object"],
  [{ status: "no_active_gate" }, '"no_active_gate", not resolved'],
  [{ status: "pending", verdict: "pass" }, '"pending", not resolved'],
  [resolved, "nothing is no verdict"],
  [{ ...resolved, verdict: null }, "null is no verdict"],
  [{ ...resolved, verdict: "ok" }, '"ok" is no verdict'],
])("A8 %j is no verdict: %s", (answer, reason) => {
  expect(readGate(answer)).toMatchObject({ type: "none", reason: expect.stringContaining(reason) });
});

describe("the findings of the last iteration", () => {
  const old = { title: "old" };
  const last = { title: "last", file: undefined };
  test.each([
    [
      "a list of iterations",
      {
        iterations: [
          { iteration: 1, findings: [old] },
          { iteration: 2, findings: [last] },
        ],
      },
    ],
    ["iterations without numbers", { iterations: [{ findings: [old] }, { findings: [last] }] }],
    ["iterations by number", { iterations: { 1: { findings: [old] }, 2: { findings: [last] } } }],
    ["findings by number", { findings: { 1: [old], 2: [last] } }],
    ["findings by number, ten before two", { current_iteration: 10, findings: { 2: [old], 10: [last] } }],
    ["findings alone", { findings: [last] }],
    ["a count of iterations beside findings", { iterations: 2, findings: [last] }],
  ])("are found in %s", (_how, answer) => {
    expect(findingsIn({ current_iteration: 2, ...answer }).map(({ title }) => title)).toEqual(["last"]);
  });

  test("are found among findings that say which iteration they are of, also when it has none", () => {
    const findings = [
      { iteration: 1, ...old },
      { iteration: 2, ...last },
    ];
    expect(findingsIn({ current_iteration: 2, findings })).toMatchObject([{ title: "last" }]);
    expect(findingsIn({ current_iteration: 3, findings })).toEqual([]);
  });

  test.each([[null], [{}], [{ findings: null }], [{ findings: [] }], [{ iterations: [] }], [{ findings: "none" }]])(
    "in %j there are none",
    (answer) => expect(findingsIn(answer)).toEqual([]),
  );
});

test("a reviewer's file names its file in cerberus's way, and the reviewer is known", () => {
  const output = { findings: [{ file_path: "a.ts", line_start: 3, title: "T" }, 7] };
  expect(findingsOfReviewer(output, "codex#1")).toEqual([
    { reviewer: "codex#1", file: "a.ts", line_start: 3, title: "T" },
  ]);
  expect(findingsOfReviewer({ findings: null }, "x")).toEqual([]);
  expect(findingsOfReviewer({ findings: {} }, "x")).toBeNull();
  expect(findingsOfReviewer(null, "x")).toBeNull();
});

test("what the review cost is passed on where cerberus says it", () => {
  expect(usageOf({ total_tokens: { input: 5, output: 2 }, total_cost_usd: 0.1 })).toEqual({
    input_tokens: 5,
    output_tokens: 2,
    cost_usd: 0.1,
  });
  expect(usageOf({ total_tokens: 7 })).toBeNull();
  expect(usageOf(null)).toBeNull();
});

test.each([
  [[], null, 330],
  [["--timeout", "20"], 20, 330],
  [["--poll-interval=1", "--timeout=40"], 40, 330],
  [["--timeout"], null, 330],
  [["--timeout", "soon"], null, 330],
])("wait_args %j wait %j s, the whole call at most %i s", (args, expected, whole) => {
  expect(waitTimeout(args)).toBe(expected);
  expect(callTimeoutSeconds({ timeout: 300, wait_args: args })).toBe(whole);
});
