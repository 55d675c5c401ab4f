import { expect, test } from "vitest";
import { findMisplaced } from "./finding-places.js";

test.each([
  ["issues", [{ title: "SQL injection", file: "x.txt", line: 1, body: "user input goes into the query" }]],
  ["issues", { "x.txt": ["SQL injection"] }],
  ["issues", { "x.txt": [["SQL injection"]] }],
  ["blocking_issues", [{ description: "SQL injection", level: "P0" }]],
  ["review", { "Blocking Issues": { "x.txt": "SQL injection" } }],
  ["issues_found", ["leak"]],
  ["issuesFound", "leak"],
  ["bugs_found", ["leak"]],
  ["priority_issues", ["leak"]],
  ["priority_findings", [{ priority: 0 }]],
  ["comments", ["P1 (blocking): SQL injection"]],
  ["issues", ["none", "leak"]],
])("%s: %j is a finding in the wrong place", (key, value) => {
  expect(findMisplaced(key, value)).not.toEqual([]);
});

test.each([
  ["issues", "No blocking issues found in this change."],
  ["issues", { critical: [], high: [], count: 0 }],
  ["issues", { P0: "none", P1: "none" }],
  ["issues", { "x.txt": { resolved: ["leak"] } }],
  ["has_issues", "false"],
  ["has_issues", true],
  ["blocking_issues", "0"],
  ["issues_checked", ["races"]],
  ["checks", ["P0: no security holes", "P1: no correctness problems"]],
  ["notes", "P0: a text by itself tells what was looked for"],
])("%s: %j is none", (key, value) => {
  expect(findMisplaced(key, value)).toEqual([]);
});

test.each([
  ...["resolved", "fixed", "addressed", "closed", "settled", "previous", "prior", "earlier"],
  ...["linked", "related", "checked"],
])("what a key calls %s is none, texts and objects", (word) => {
  expect(findMisplaced(`${word}_issues`, ["#12", "P1: leak"])).toEqual([]);
  expect(findMisplaced(`${word}Findings`, [{ title: "leak", priority: 1 }])).toEqual([]);
});

test("texts that a key calls non_blocking are none, but for those that say how bad they are", () => {
  expect(findMisplaced("non_blocking_issues", ["a longer name would help", { note: "style" }])).toEqual([]);
  expect(findMisplaced("non_blocking_issues", ["P0: leak", { title: "leak", priority: 0 }])).toHaveLength(2);
});

test("what a key calls verified may be confirmed, so it counts", () => {
  expect(findMisplaced("verified_issues", ["the leak"])).toHaveLength(1);
});

test("a text's priority goes along, so that a fail is held to what is worse than its findings", () => {
  expect(findMisplaced("issues", ["P2: slow", "leak"])).toEqual([
    { type: "text", priority: null },
    { type: "text", priority: 2 },
  ]);
});
