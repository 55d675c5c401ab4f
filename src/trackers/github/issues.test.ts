import { expect, test } from "vitest";
import { followUpMark, toFound, toIssue } from "./issues.js";
import { readIssue } from "./wire.js";

const wire = { number: 7, title: "t", state: "open", labels: [], updated_at: "2026-01-01T00:00:00Z" };
const issue = (fields: object) => toIssue(toFound(readIssue({ ...wire, ...fields })));

test.each([
  [{}, { id: "7", type: "task", parent: null, deps: [], priority: 2, status: "available", body: "" }],
  [{ body: null }, { body: "" }],
  [{ body: "Parent: #3\ntext" }, { parent: "3" }],
  [{ body: "see Parent: #3" }, { parent: null }],
  [{ parent_issue_url: "https://api.github.com/repos/a/b/issues/9" }, { parent: "9" }],
  [{ body: "Depends on #1" }, { deps: ["1"] }],
  [{ body: "x\r\n- depends on: #1, #2 and #3\r\nBlocked by #2" }, { deps: ["1", "2", "3"] }],
  [{ body: "This depends on #1 in spirit" }, { deps: [] }],
  [{ labels: ["P3", { name: "p1" }, { name: null }] }, { priority: 1 }],
  [{ labels: [{ name: "epic" }] }, { type: "epic" }],
  [{ labels: [{ name: "in-progress" }, { name: "needs-followup" }] }, { status: "claimed" }],
  [{ labels: [{ name: "needs-followup" }] }, { status: "failed" }],
  [{ labels: [{ name: "human-review" }, { name: "needs-followup" }] }, { status: "waiting_for_response" }],
  [{ state: "closed", labels: [{ name: "in-progress" }] }, { status: "completed" }],
  [{ body: `${followUpMark("run 1")}\n\nx` }, { followUpOf: "run 1" }],
  [{ body: "<!-- ratchet:follow-up-of:%E0%A4%A -->" }, { followUpOf: null }],
  [{ body: "written anew", labels: ["review-followup"] }, { followUpOf: "" }],
])("an issue with %j is read as %j", (fields, expected) => {
  expect(issue(fields)).toMatchObject(expected);
});

test("an answer that is no issue is an error that says where", () => {
  expect(() => readIssue({ ...wire, number: "7" })).toThrow("an issue is not as expected at number");
});
