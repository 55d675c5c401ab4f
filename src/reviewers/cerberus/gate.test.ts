import { describe, expect, test } from "vitest";
import { findingsIn, findingsOfReviewer, isBad, readGate, restOf, usageOf } from "./gate.js";
import { callTimeoutSeconds, waitTimeout } from "./plan.js";

const resolved = { status: "resolved", run_key: "k", current_iteration: 2 };

test.each([
  ["pass", "pass"],
  ["needs_work", "pass"],
  ["PASS", "pass"],
  ["fail", "fail"],
])("the word %j is %s: findings decide the rest", (verdict, expected) => {
  expect(readGate({ ...resolved, verdict })).toMatchObject({ type: "verdict", verdict: expected, iteration: 2 });
});

test.each([
  [null, "not a JSON object"],
  [[], "not a JSON object"],
  [{ status: "no_active_gate" }, '"no_active_gate", not resolved'],
  [{ status: "pending", verdict: "pass" }, '"pending", not resolved'],
  [resolved, "the answer of cerberus wait has no verdict"],
  [{ verdict: "pass" }, "the answer of cerberus wait has no status"],
  [{ ...resolved, verdict: null }, "null is no verdict"],
  [{ ...resolved, verdict: "ok" }, '"ok" is no verdict'],
  [{ ...resolved, Verdict: "fail", verdict: "pass" }, 'gives "verdict" twice'],
])("A8 %j is no verdict: %s", (answer, reason) => {
  expect(readGate(answer)).toMatchObject({ type: "none", reason: expect.stringContaining(reason) });
});

test.each([
  [{ ...resolved, verdict: "Requires_Decision" }, "cerberus asks for a person's decision"],
  [{ ...resolved, verdict: "requires_decision", resolution_reason: "tie" }, "a person's decision: tie"],
])("%j asks for a person: %s", (answer, reason) => {
  expect(readGate(answer)).toMatchObject({ type: "undecided", reason: expect.stringContaining(reason) });
});

test.each([
  [{ priority: 1 }, true],
  [{ priority: 3, severity: "critical" }, true],
  [{ priority: 2 }, false],
  [{ title: "no priority" }, false],
  ["P0", false],
])("a person's decision on %j is a fail: %j", (finding, expected) => {
  expect(isBad(finding)).toBe(expected);
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
    ["iterations by name", { iterations: { iteration_1: { findings: [old] }, iteration_2: { findings: [last] } } }],
    ["findings by name", { findings: { "iter-1": [old], "iter-2": [last] } }],
    ["findings alone", { findings: [last] }],
    ["findings beside earlier iterations", { findings: [last], history: [{ iteration: 1, findings: [old] }] }],
    ["a count of iterations beside findings", { iterations: 2, findings: [last] }],
  ])("are found in %s", (_how, answer) => {
    expect(findingsIn({ current_iteration: 2, ...answer })).toMatchObject([{ title: "last" }]);
  });

  const p0 = { title: "last", priority: 0 };
  test.each([
    ["a list under another name", { aggregated_findings: [p0] }],
    ["a list of issues", { issues: [p0] }],
    ["a map by iteration", { findings_by_iteration: { 1: [old], 2: [p0] } }],
    ["a map by something else", { findings_by_priority: { 0: [p0], 2: [] } }],
    ["each reviewer's part", { iterations: [{ iteration: 2, reviewers: [{ name: "gpt", findings: [p0] }] }] }],
    ["the parts of reviewers with numbers", { reviewers: [{ number: 1, findings: [p0] }, { number: 2 }] }],
    ["reviewers by name", { iterations: { 2: { reviewers: { gpt: { output: { findings: [p0] } } } } } }],
    ["an iteration under another name", { iterations: [{ iteration: 2, issues: [p0] }] }],
    ["findings beside an iteration without any", { iterations: [{ iteration: 2, findings: [] }], findings: [p0] }],
    ["one that is no list", { worst: { TITLE: 1, ...p0 } }],
    ["findings with a number of their own", { findings: [{ number: 1, ...p0 }] }],
    [
      "iterations counted from zero",
      {
        iterations: [
          { iteration: 0, findings: [old] },
          { iteration: 1, findings: [p0] },
        ],
      },
    ],
    ["an iteration whose number is a text", { current_iteration: "2", findings: { 1: [old], 2: [p0] } }],
    ["an iteration that is ahead", { findings: [{ iteration: 3, ...p0 }] }],
    ["a map that is ahead", { iterations: { 2: { findings: [] }, 3: { findings: [p0] } } }],
    ["an answer that counts from zero", { current_iteration: 0, findings: [{ iteration: 1, ...p0 }] }],
    ["two places", { iterations: { 2: { findings: [p0] } }, aggregated_findings: [p0] }],
  ])("A8 are found in %s", (_how, answer) => {
    expect(findingsIn({ current_iteration: 2, ...answer })).toMatchObject([p0]);
    expect(findingsOfReviewer({ current_iteration: 2, ...answer }, "x")).toSatisfy(
      (found) => found === null || found.length === 1,
    );
  });

  test.each([
    ["the last one's name", { iterations: { iteration_1: { findings: [p0] }, iteration_2: { findings: [] } } }],
    ["a history", { findings: [], history: [{ iteration: 1, findings: [p0] }] }],
    ["a key of earlier ones", { findings: [], previous_findings: [p0], reviewers: { gpt: { resolvedIssues: [p0] } } }],
    ["a reviewer's history", { reviewers: { gpt: { findings: [], earlier: [{ iteration: "1", findings: "P0" }] } } }],
  ])("are not those of an earlier iteration, as %s tells", (_how, answer) => {
    expect(findingsIn({ current_iteration: 2, ...answer })).toEqual([]);
  });

  test.each([
    ["names that number something else", { iterations: { "gpt-1": { findings: [p0] }, "gpt-2": { findings: [] } } }],
    ["a history that counts from zero", { history: [{ iteration: 0 }, { iteration: 1, findings: [p0] }] }],
    ["a history that is ahead", { history: [{ iteration: 1 }, { iteration: 3, findings: [p0] }] }],
    ["iterations of which the last is not there", { iterations: [{ iteration: 1, findings: [p0] }] }],
  ])("A8 are found with %s", (_how, answer) => {
    expect(findingsIn({ current_iteration: 2, ...answer })).toMatchObject([p0]);
  });

  test("are not an iteration, whatever it lacks", () => {
    const iterations = [{ iteration: 2, status: "clean" }];
    expect(findingsIn({ current_iteration: 2, iterations, findings: iterations })).toEqual([]);
    expect(findingsIn({ current_iteration: 1, iterations: iterations })).toEqual([]);
  });

  test("are handed on where they are none, so that the verdict is refused", () => {
    expect(findingsIn({ findings: ["P0: data is lost", { text: "and more" }] })).toMatchObject([
      "P0: data is lost",
      { text: "and more" },
    ]);
  });

  test.each([
    ["a text", { findings: "P0: crash in a.c" }, "P0: crash in a.c"],
    ["a text of no findings", { findings: "none" }, "none"],
    ["a list within a text", { Findings: '[{"priority":0}]' }, '[{"priority":0}]'],
    ["a number", { findings: 3 }, 3],
    ["texts by file", { findings: { "a.c": "P0 crash" } }, "P0 crash"],
    ["texts by file, and a list", { findings: { "a.c": "P0 crash", "b.c": [] } }, "P0 crash"],
    ["lists of texts by file", { findings: { "a.c": ["P0 crash"] } }, "P0 crash"],
    ["texts deeper in a map", { findings: { src: { "a.c": "P0 crash" } } }, "P0 crash"],
    ["the text of an iteration", { iterations: [{ iteration: 2, findings: "P0 crash" }] }, "P0 crash"],
    ["a text by iteration", { findings_by_iteration: { 1: [], 2: "P0 crash" } }, "P0 crash"],
    ["the text of a reviewer", { reviewers: { gpt: { FINDINGS: "P0 crash" } } }, "P0 crash"],
  ])("A8 are handed on where they are %s, so that the verdict is refused", (_what, answer, text) => {
    expect(findingsIn({ current_iteration: 2, ...answer })).toEqual([text]);
  });

  test("are found among findings that say which iteration they are of, also when it has none", () => {
    const findings = [
      { iteration: 1, ...old },
      { iteration: 2, ...last },
    ];
    expect(findingsIn({ current_iteration: 2, findings })).toMatchObject([{ title: "last" }]);
    expect(findingsIn({ current_iteration: 3, findings })).toEqual([]);
  });

  test.each([
    [null],
    [{}],
    [{ findings: null }],
    [{ findings: [] }],
    [{ iterations: [] }],
    [{ findings: {} }],
    [{ findings: { count: 0, items: [] } }],
    [{ findings: { 1: { status: "clean", findings: [] } } }],
    [{ iterations: { 1: "clean" } }],
    [{ iterations: { 1: { status: "clean" } } }],
  ])("in %j there are none", (answer) => expect(findingsIn(answer)).toEqual([]));
});

test("what else the last iteration says is handed on, without the word of each reviewer", () => {
  const answer = {
    ...{
      status: "resolved",
      verdict: "pass",
      current_iteration: 2,
      blocking_issues: ["leak"],
      resolved_issues: ["old"],
    },
    iterations: [
      { iteration: 1, issues: ["old"] },
      { iteration: 2, issues: ["new", { title: "T", priority: 1 }], findings: [{ title: "T" }] },
    ],
    reviewers: { gpt: { verdict: "fail", issues: [{ title: "leak" }] } },
  };
  expect(restOf(answer)).toEqual({
    ...{ status: "resolved", current_iteration: 2, blocking_issues: ["leak"] },
    iterations: [{ iteration: 2, issues: ["new"] }],
    reviewers: { gpt: { issues: [{ title: "leak" }] } },
  });
});

test("a reviewer's file names its file in cerberus's way, and the reviewer is known", () => {
  const output = { findings: [{ file_path: "a.ts", line_start: 3, title: "T" }, 7] };
  expect(findingsOfReviewer(output, "codex#1")).toEqual([
    { reviewer: "codex#1", file: "a.ts", line_start: 3, title: "T" },
    7,
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
