import { describe, expect, test } from "vitest";
import { readBeads, readErrorText } from "./read.js";

const issue = { id: "bd-1", title: "T", status: "open", priority: 1, issue_type: "bug" };

describe("a list of issues", () => {
  test.each([
    ["bare", [issue]],
    ["in an envelope", { schema_version: 1, data: [issue] }],
    ["as items", { schema_version: 1, items: [issue] }],
    ["as a page", { issues: [issue], total: 1, has_more: false }],
    ["of a single one", issue],
    ["of a single one in an envelope", { schema_version: 1, data: issue }],
    ["with unknown fields", [{ ...issue, wisp: { a: [1] }, lease_owner: null }]],
  ])("%s is read", (_how, value) => {
    expect(readBeads(JSON.stringify(value), "bd ready")).toMatchObject([{ id: "bd-1", priority: 1, type: "bug" }]);
  });

  test.each([["[]"], ["null"], ['{"schema_version":1,"data":[]}'], ['{"schema_version":1,"items":null}']])(
    "%s has no issue",
    (text) => expect(readBeads(text, "bd ready")).toEqual([]),
  );

  test("behind a notice is read", () => {
    expect(readBeads(`note: the database was upgraded\n${JSON.stringify([issue], null, 2)}\n`, "bd list")).toHaveLength(
      1,
    );
  });

  test.each([
    ["", "is not JSON: nothing"],
    ["no issues", "is not JSON: no issues"],
    ["[{", "is not JSON"],
    ["7", "is not a list of issues: 7"],
    ['"none"', "is not a list of issues"],
    ["{}", "is not a list of issues"],
    ['{"error":"locked"}', "is not a list of issues"],
    ['{"data":{"count":0}}', "is not a list of issues"],
    ['[{"title":"T"}]', "has an issue without an id"],
    ["[7]", "has an issue without an id: 7"],
  ])("%j is an error that names the call", (text, message) => {
    expect(() => readBeads(text, "bd ready")).toThrow(`the answer of bd ready ${message}`);
  });
});

describe("an issue", () => {
  const read = (fields: object) => readBeads(JSON.stringify([{ id: "a", ...fields }]), "bd show")[0];

  test("has defaults for all that is missing", () => {
    expect(read({})).toEqual({
      id: "a",
      title: "a",
      description: "",
      design: "",
      acceptance: "",
      notes: "",
      status: "open",
      priority: 2,
      type: "task",
      assignee: null,
      changedAt: null,
      closedAt: null,
      labels: [],
      parent: null,
      blockers: [],
      children: [],
    });
  });

  test.each([
    [{ priority: 0 }, { priority: 0 }],
    [{ priority: "P3" }, { priority: 3 }],
    [{ priority: 4 }, { priority: 4 }],
    [{ priority: "high" }, { priority: 2 }],
    [{ priority: null }, { priority: 2 }],
    [{ assignee: "" }, { assignee: null }],
    [{ assignee: "jo" }, { assignee: "jo" }],
    [{ labels: ["x", 5, null] }, { labels: ["x"] }],
    [{ labels: "x" }, { labels: [] }],
    [{ parent: "e" }, { parent: "e" }],
    [{ acceptance: "works" }, { acceptance: "works" }],
    [{ dependencies: "b" }, { blockers: [], parent: null }],
    [
      { dependencies: [{ id: "b", status: "closed", dependency_type: "blocks" }] },
      { blockers: [{ id: "b", status: "closed" }] },
    ],
    [{ dependencies: [{ id: "b", status: "open", dep_type: "blocks" }] }, { blockers: [{ id: "b", status: "open" }] }],
    [
      { dependencies: [{ issue_id: "a", depends_on_id: "b", type: "blocks" }] },
      { blockers: [{ id: "b", status: null }] },
    ],
    [{ dependencies: [{ issue_id: "a", depends_on_id: "e", type: "parent-child" }] }, { blockers: [], parent: "e" }],
    [
      {
        dependents: [
          { id: "c", status: "closed", dependency_type: "parent-child" },
          { id: "d", dep_type: "blocks" },
        ],
      },
      { children: [{ id: "c", status: "closed" }] },
    ],
    [
      { dependents: [{ issue_id: "c", depends_on_id: "a", type: "parent-child" }] },
      { children: [{ id: "c", status: null }] },
    ],
    [{ dependencies: [{ id: "s", dependency_type: "discovered-from" }] }, { blockers: [], parent: null }],
  ])("with %j is read as %j", (given, expected) => {
    expect(read(given)).toMatchObject(expected);
  });
});

test.each([
  ['{"error":{"code":"ISSUE_NOT_FOUND","message":"Issue not found: a"}}', "Issue not found: a"],
  ['{"error":"locked","schema_version":1}', "locked"],
  ['{"error_code":3,"message":"Issue not found: a"}', "Issue not found: a"],
  ["[]", null],
  ["oops", null],
])("the failure %j says %j", (text, words) => {
  expect(readErrorText(text)).toBe(words);
});
