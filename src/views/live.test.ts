import { describe, expect, it } from "vitest";
import type { PublicEvent, ReportBody } from "../core/report.js";
import { emptyLive, foldLive, type Live } from "./live.js";
import { renderTable, type TableOptions } from "./live-table.js";

const start = Date.parse("2026-01-02T03:00:00.000Z");
function event(seconds: number, body: ReportBody, issueId?: string): PublicEvent {
  const time = new Date(start + seconds * 1000).toISOString();
  return { ...body, seq: 1, time, run_id: "r1", ...(issueId === undefined ? {} : { issue_id: issueId }) };
}
const begin = (title: string): ReportBody => ({ type: "issue-started", title, life: 1, agent: "claude" });
const raised = (finding: string, priority: number | null): ReportBody => ({
  ...{
    type: "finding-raised",
    finding,
    source: "review",
    stage: "s",
    reviewer: "x",
    file: "a",
    line_start: 1,
    line_end: 1,
  },
  ...{ priority, title: "t", reopened: false },
});
const finished = (status: "success" | "failed" | "escalated"): ReportBody => ({
  ...{
    type: "issue-finished",
    status,
    message: "",
    error: null,
    commit: null,
    resolution: null,
    last_review_issues: null,
  },
  ...{ counters: { gate_attempts: 1, review_attempts: 1, session_end_attempts: 0 }, session_id: null },
});
const prompt = (role: string, attempt = 1): ReportBody => ({
  ...{ type: "prompt-sent", kind: role, attempt, max_attempts: 3, path: "/p", role },
});
const runStarted: ReportBody = {
  type: "run-started",
  project_id: "p",
  target_branch: "main",
  run_start_commit: "c",
  repo_path: "/r",
};
const fold = (events: readonly PublicEvent[], from: Live = emptyLive) => events.reduce(foldLive, from);

describe("foldLive", () => {
  it.each<[string, ReportBody[], string]>([
    ["started", [], "preparing"],
    ["prompt sent", [prompt("implementer")], "implementing"],
    ["gate", [prompt("implementer"), { type: "gate-started", attempt: 1, max_attempts: 3, commit: "c" }], "gating"],
    ["session_end", [{ type: "session-end-started" }], "session-ending"],
    [
      "its review",
      [
        { type: "session-end-started" },
        { type: "review-started", attempt: 1, reviewer: "x", commit: "c", stage: "session_end" },
      ],
      "session-ending",
    ],
    ["its fixer", [{ type: "session-end-started" }, prompt("fixer")], "session-ending"],
    [
      "review",
      [
        { type: "review-started", attempt: 1, reviewer: "x", commit: "c", stage: "per_issue_review/x" },
        prompt("reviewer"),
      ],
      "reviewing",
    ],
    ["landed", [{ type: "landed", commit: "c", target_branch: "main", merged: false, behind: null }], "finalizing"],
    ["success", [finished("success")], "succeeded"],
    ["failure", [finished("failed")], "failed"],
  ])("shows the phase after %s", (_what, bodies, phase) => {
    const model = fold([event(0, begin("t"), "a"), ...bodies.map((body, n) => event(n + 1, body, "a"))]);
    expect(model.issues[0]?.phase).toBe(phase);
  });

  it("keeps open findings, cost, attempt and what is waited for", () => {
    const usage = { input_tokens: 1, output_tokens: 1, cost_usd: 0.25 };
    const model = fold([
      event(0, runStarted),
      event(0, begin("t"), "a"),
      event(1, prompt("implementer", 2), "a"),
      event(2, { type: "turn-ended", outcome: "ended", session_id: null, usage, role: "implementer" }, "a"),
      event(2, { type: "turn-ended", outcome: "ended", session_id: null, usage, role: "reviewer" }, "a"),
      event(3, raised("f1", 0), "a"),
      event(3, raised("f2", 1), "a"),
      event(3, raised("f2", 2), "a"),
      event(4, { type: "finding-resolved", finding: "f1", status: "resolved", title: "t", reason: null }, "a"),
      event(5, { type: "waiting", for: "usage limit", until: null }, "a"),
    ]);
    expect(model.issues).toMatchObject([
      { open: { f2: 2 }, costUsd: 0.5, attempt: 2, maxAttempts: 3, waitingFor: "usage limit" },
    ]);
    expect(fold([event(6, prompt("implementer"), "a")], model).issues[0]?.waitingFor).toBeNull();
  });

  it("gives another life of an issue the same row, and ignores what it does not know", () => {
    const model = fold([
      event(0, begin("t"), "a"),
      event(1, raised("f1", 0), "a"),
      event(2, finished("failed"), "a"),
      event(3, begin("t2"), "a"),
    ]);
    expect(model.issues).toMatchObject([{ title: "t2", phase: "preparing", open: { f1: 0 }, finishedAt: null }]);
    expect(fold([event(0, prompt("implementer"), "unknown"), event(0, { type: "session-end-started" })])).toEqual(
      emptyLive,
    );
  });
});

const width = (text: string) => [...text].length;
const options = (more: Partial<TableOptions>): TableOptions => ({
  ...{ columns: 80, rows: 24, now: start + 65_000, color: false, note: null, width, ...more },
});
const model = fold([
  event(0, runStarted),
  event(0, begin("Fix the parser, which loses the last line of a file"), "demo-1"),
  event(1, prompt("implementer"), "demo-1"),
  event(1, raised("f1", 0), "demo-1"),
  event(1, raised("f2", 2), "demo-1"),
  event(5, begin("Short"), "a-very-long-issue-id-of-a-project-7"),
  event(6, { type: "session-end-started" }, "a-very-long-issue-id-of-a-project-7"),
  event(7, begin("Done \u001b[31mred"), "demo-3"),
  event(
    8,
    {
      type: "turn-ended",
      outcome: "ended",
      session_id: null,
      usage: { input_tokens: 1, output_tokens: 1, cost_usd: 0.123 },
      role: "implementer",
    },
    "demo-3",
  ),
  event(9, finished("success"), "demo-3"),
]);

describe("renderTable", () => {
  it("shows everything at 120 columns", () => {
    expect(renderTable(model, options({ columns: 120 }))).toEqual([
      "ISSUE                                PHASE           TRY  FINDINGS    COST  TIME  TITLE",
      "demo-1                               implementing    1/3  P0:1 P2:1      -  1:05  Fix the parser, which loses the last …",
      "a-very-long-issue-id-of-a-project-7  session-ending    -  -              -  1:00  Short",
      "demo-3                               succeeded         -  -          $0.12  0:02  Done red",
      "2 running, 1 succeeded · 2 findings open · $0.12 · 1:05",
    ]);
  });

  it.each([40, 60, 80, 120])(
    "fits %d columns, with issue, phase, attempt, findings and time always there",
    (columns) => {
      const lines = renderTable(model, options({ columns, note: "draining, press again to stop" }));
      expect(Math.max(...lines.map(width))).toBeLessThanOrEqual(columns);
      expect(lines[1]).toMatch(/^demo-1 .*impl.* 1\/3 .*2.* 1:05/);
      expect(lines.at(-1)).toBe("draining, press again to stop");
    },
  );

  it("has the cost at 60 and the title at 80 columns", () => {
    expect(renderTable(model, options({ columns: 60 }))[0]).toMatch(/COST/);
    expect(renderTable(model, options({ columns: 80 }))[0]).toMatch(/TITLE/);
  });

  it.each([1, 2, 3, 4, 5, 10])("is no longer than %d lines and says what is missing", (rows) => {
    const many = fold(Array.from({ length: 9 }, (_, n) => event(n, begin(`t${n}`), `i${n}`)));
    const lines = renderTable(many, options({ rows }));
    expect(lines.length).toBeLessThanOrEqual(rows);
    expect(lines.at(-1)).toMatch(/9 running/);
    const drawn = lines.filter((line) => /^i\d /.test(line)).length;
    if (rows > 2) expect(lines.at(-2)).toBe(`… and ${9 - drawn} more issues`);
  });

  it("shows running issues first when there is no room for all", () => {
    const more = [event(20, begin("late"), "late"), event(21, begin("x"), "x"), event(22, finished("failed"), "x")];
    const lines = renderTable(fold(more, model), options({ rows: 6 })).join("\n");
    expect(lines).toMatch(/demo-1/);
    expect(lines).toMatch(/late/);
    expect(lines).toMatch(/… and 2 more issues/);
    expect(lines).not.toMatch(/demo-3/);
  });

  it("colours without changing the text", () => {
    const ansi = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, "g");
    const colored = renderTable(model, options({ color: true }));
    expect(colored.join("\n")).toMatch(ansi);
    expect(colored.map((line) => line.replace(ansi, ""))).toEqual(renderTable(model, options({})));
  });

  it.each([true, false])("no line is wider than the narrowest terminal, with colours: %s", (color) => {
    const ansi = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, "g");
    for (const columns of [5, 10, 20, 30]) {
      const lines = renderTable(model, options({ columns, rows: 3, color }));
      const longest = Math.max(...lines.map((line) => width(line.replace(ansi, ""))));
      expect(longest).toBeLessThanOrEqual(columns);
    }
  });

  it("shows what is waited for", () => {
    const waiting = fold([event(9, { type: "waiting", for: "usage limit", until: null }, "demo-1")], model);
    expect(renderTable(waiting, options({}))[1]).toMatch(/^demo-1 +waiting: usage/);
  });

  it("has a row for the run's own trigger while it goes on, and keeps what it has cost", () => {
    const usage = { input_tokens: 1, output_tokens: 1, cost_usd: 0.25 };
    const began = [
      event(0, begin("t"), "a"),
      event(1, { type: "trigger-started", trigger: "epic_verification", about: "epic_id=e" }),
      event(2, { type: "turn-ended", outcome: "ended", session_id: null, usage, role: "reviewer" }),
    ].reduce(foldLive, emptyLive);
    const options = {
      columns: 100,
      rows: 20,
      now: start + 3000,
      color: false,
      note: null,
      width: (text: string) => text.length,
    };
    expect(renderTable(began, options)[2]).toMatch(/^_run +session-ending .*\$0\.25 .*epic_verification: epic_id=e/);
    const body = { type: "trigger-completed", trigger: "epic_verification", about: "epic_id=e" } as const;
    const over = foldLive(began, event(4, { ...body, result: "pass", reason: null }));
    expect(renderTable(over, options)).toHaveLength(3);
    expect(renderTable(over, options).at(-1)).toContain("$0.25");
  });

  it("adds a further life to what the issue has cost", () => {
    const usage = { input_tokens: 1, output_tokens: 1, cost_usd: 0.25 };
    const turn: ReportBody = { type: "turn-ended", outcome: "ended", session_id: null, usage, role: "implementer" };
    const model = [event(0, begin("t"), "a"), event(1, turn, "a"), event(2, begin("t"), "a"), event(3, turn, "a")];
    expect(model.reduce(foldLive, emptyLive).issues[0]?.costUsd).toBe(0.5);
  });
});
