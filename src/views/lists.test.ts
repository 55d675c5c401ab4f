import { describe, expect, it } from "vitest";
import type { Finding } from "../core/finding.js";
import { toFindingJson } from "../core/finding-json.js";
import type { WorkItem } from "../core/ports/work-items.js";
import { renderBoardEvent } from "./board.js";
import { noFindings, renderFindingDetails, renderFindingList } from "./findings.js";
import { renderWorkItem, renderWorkList, toWorkItemJson } from "./work.js";

const room = { columns: 100, width: (text: string) => [...text].length };
const item: WorkItem = {
  ...{
    id: "p-1",
    title: "Fix \u001b[31mit\u001b[0m",
    body: "Line 1\n\u0007Line 2\n",
    type: "task",
    parent: null,
    deps: ["p-0"],
  },
  ...{ priority: 1, status: "failed", projectId: "p", source: "implement", claimedBy: null, leaseUntil: null },
  ...{ failureCount: 2, failureReason: "gate_failed", payload: null, createdAt: 0, updatedAt: 0 },
};

describe("work", () => {
  it("lists items", () => {
    expect(
      renderWorkList(
        [item, { ...item, id: "p-2", type: "epic", deps: [], failureCount: 0, status: "available" }],
        room,
      ),
    ).toEqual([
      "ID   STATUS     PRIO  FAILED  AFTER  TITLE",
      "p-1  failed     P1         2  p-0    Fix it",
      "p-2  available  P1         -  -      [epic] Fix it",
    ]);
    expect(renderWorkList([], room)).toEqual(["No work. Add some with `ratchet work add <title>`."]);
  });

  it("keeps to a narrow terminal", () => {
    const long = [{ ...item, id: "a-long-name", title: "long ".repeat(20) }];
    for (const columns of [40, 30, 20]) {
      const lines = renderWorkList(long, { ...room, columns });
      expect(Math.max(...lines.map(room.width))).toBeLessThanOrEqual(columns);
    }
    expect(renderWorkList(long, { ...room, columns: 20 })).toEqual(["ID     STATUS TITLE", "a-lon… failed long …"]);
  });

  it("shows one with its body and history, harmless", () => {
    expect(renderWorkItem(item, [{ time: "2026-01-01T00:00:00Z", type: "claimed" }])).toEqual([
      "p-1: Fix it",
      "status      failed",
      "type        task",
      "priority    P1",
      "after       p-0",
      "source      implement",
      "failures    2: gate_failed",
      "",
      "Line 1",
      "␇Line 2",
      "",
      "2026-01-01T00:00:00Z  claimed",
    ]);
  });

  it("has the names of the contract in JSON, the text untouched", () => {
    expect(toWorkItemJson(item)).toEqual({
      ...{ id: "p-1", title: item.title, body: item.body, type: "task", parent: null, deps: ["p-0"], priority: 1 },
      ...{
        status: "failed",
        source: "implement",
        claimed_by: null,
        failure_count: 2,
        failure_reason: "gate_failed",
        payload: null,
      },
    });
  });
});

const finding: Finding = {
  ...{
    id: "0123456789abcdef",
    issue_id: "p-1",
    source: "review",
    stage: "per_issue_review/sec",
    reviewer: "sec",
    reviewers: ["sec", "tests"],
  },
  ...{
    outcome: "fail",
    file: "a.ts",
    line_start: 10,
    line_end: 12,
    priority: 0,
    title: "Null\nderef",
    body: { text: "head" },
    visit: 2,
  },
  ...{ status: "open", reason: null, raised_at: 0, resolved_at: null, commit: "c", run_id: "r1" },
};

describe("findings", () => {
  it("lists them", () => {
    expect(
      renderFindingList([finding, { ...finding, priority: null, status: "waived", file: "", line_start: 0 }], room),
    ).toEqual([
      "ID                ISSUE  PRIO  STATUS  WHERE       BY          TITLE",
      "0123456789abcdef  p-1    P0    open    a.ts:10-12  sec, tests  Null deref",
      "0123456789abcdef  p-1    P?    waived  -           sec, tests  Null deref",
      "",
      "2 findings",
    ]);
    expect([noFindings(false), noFindings(true)]).toEqual(["No open findings.", "No findings."]);
  });

  it("shows them with their whole text", () => {
    const by = {
      stage: "per_issue_review/tests",
      reviewer: "tests",
      visit: 2,
      file: "a.ts",
      line_start: 14,
      line_end: 14,
    };
    const other = { ...by, priority: 1, title: "Null deref of y", body: { text: "other" } };
    const waived: Finding = { ...finding, status: "waived", reason: "by design", also_reported: [other] };
    expect(renderFindingDetails([finding, waived], () => "one\n\u001b[2Jtwo\n")).toEqual([
      "P0 Null deref",
      "  a.ts:10-12 · per_issue_review/sec, visit 2 · sec, tests",
      "  open · 0123456789abcdef",
      "    one",
      "    two",
      "",
      "P0 Null deref",
      "  a.ts:10-12 · per_issue_review/sec, visit 2 · sec, tests",
      "  waived: by design · 0123456789abcdef",
      "    one",
      "    two",
      "    ",
      "    ",
      "    Also reported by tests (a.ts:14, P1): Null deref of y",
      "    ",
      "    one",
      "    two",
    ]);
  });

  it("has the names of the contract in JSON, with the whole body and times as text", () => {
    expect(toFindingJson({ ...finding, resolved_at: 1000, status: "resolved" }, () => "the whole")).toEqual({
      ...{
        id: finding.id,
        issue_id: "p-1",
        source: "review",
        stage: finding.stage,
        reviewer: "sec",
        reviewers: ["sec", "tests"],
      },
      ...{
        outcome: "fail",
        file: "a.ts",
        line_start: 10,
        line_end: 12,
        priority: 0,
        title: "Null\nderef",
        body: "the whole",
        visit: 2,
      },
      ...{
        status: "resolved",
        reason: null,
        raised_at: "1970-01-01T00:00:00.000Z",
        resolved_at: "1970-01-01T00:00:01.000Z",
      },
      ...{ commit: "c", run_id: "r1", also_reported: [] },
    });
  });
});

it("an event of the board is one line that fits, whatever was written into it", () => {
  const event = { id: 1, time: "t", type: "added", project_id: "p", item_id: "a", title: `${"x".repeat(10_000)}\n` };
  expect(renderBoardEvent(event)).toBe(`t  p/a  added  title=${"x".repeat(300)}…`);
});
