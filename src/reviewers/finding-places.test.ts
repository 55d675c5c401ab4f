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
  ["comments", [{ text: "P0: leak" }]],
  ["comments", [{ path: "a.ts", line: 3, body: "**P0** leak" }]],
  ["comments", { "a.ts": "P0: leak" }],
  ["must_fix", ["leak"]],
  ["required_changes", ["leak"]],
  ["blocking", ["leak"]],
  ["review", { critical: ["leak"], minor: [] }],
  ["errors", ["leak"]],
  ["violations", ["leak"]],
  ["vulnerabilities", "leak"],
  ["concerns", ["leak"]],
  ["finding", { title: "leak" }],
  ["bug", "leak"],
  ["findings_list", ["leak"]],
  ["findings_p0", [{ title: "leak" }]],
  ["issues_identified", ["leak"]],
  ["issues_related_to_login", ["leak"]],
  ["issues_to_be_fixed", ["leak"]],
  ["unresolved_issues", ["leak"]],
  ["mustFix", ["leak"]],
  ["HAS_BLOCKING_ISSUES", ["leak"]],
  ["previously_unseen_bugs", ["leak"]],
  ["previous_findings_still_present", ["leak"]],
  ["closed_issues_reopened", ["leak"]],
  ["linked_list_bugs", ["leak"]],
  ["related_to_this_change", ["P0: leak"]],
  ["checked_in_secrets", ["P0: key in config.py"]],
  ["checklist", { no_regressions: "P0: the login is broken" }],
  ["concerns", "None significant, but it leaks"],
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
  ["issues_resolved", ["leak"]],
  ["errors", []],
  ["error_count", 0],
  ["issue", "fix-it"],
  ["findings_summary", "two names could be longer"],
  ["error_handling", "every call is checked"],
  ["problem_statement", "the login leaks"],
  ["debug", "took 3 s"],
  ["non_critical_issues", ["a longer name would help"]],
  ["files", [{ path: "p1.py" }]],
  ["risk_scores", { security: "low" }],
  ["risk_summary", { level: "low", why: "documents only" }],
  ["regression_suite", ["npm test: 42 passed"]],
  ["debug_steps", ["read the diff"]],
  ["whole_suite", ["npm test"]],
  ["issue_scope", ["the login form"]],
  ["issueSummary", { title: "Add a login" }],
  ["error_scenarios", ["empty input is handled"]],
  ["errors_handled", ["ENOENT"]],
  ["checklist", { no_regressions: "verified", no_security_issues: "confirmed" }],
  ["concerns", "None significant"],
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
