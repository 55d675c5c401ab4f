import { describe, expect, it } from "vitest";
import { failWith, play, type Rules, remark, type Setup } from "./issue/fixture.js";
import { project } from "./project.js";
import type { IssueRecord } from "./record.js";
import type { PublicEvent, ReportBody } from "./report.js";

const event = (body: ReportBody, issue = true): PublicEvent => ({
  ...body,
  ...(issue ? { issue_id: "p-1" } : {}),
  seq: 1,
  time: "2030-01-01T00:00:00.000Z",
  run_id: "run-2",
});

/** The record a store would hold after a whole life. */
function recordOf(setup: Setup, rules: Rules = {}): { record: Partial<IssueRecord>; tokens: number } {
  const world = play(setup, rules);
  let record: Partial<IssueRecord> = {};
  let tokens = 0;
  for (const report of world.reports) {
    for (const change of project(event(report), world.life.ledger)) {
      if (change.table !== "issue-record") continue;
      record = { ...record, ...change.patch };
      tokens += change.add?.usage?.input_tokens ?? 0;
    }
  }
  return { record, tokens };
}

describe("the rows of a public event", () => {
  it("make a complete record of a life that succeeded", () => {
    const usage = { input_tokens: 7, output_tokens: 1, cost_usd: null };
    const { record, tokens } = recordOf(
      { review: {}, sessionEnd: {} },
      { implement: () => ({ usage }), review: () => ({ usage }) },
    );
    expect(tokens).toBe(14);
    expect(record).toMatchObject({
      issue_id: "p-1",
      status: "success",
      message: "Review passed",
      session_id: "s1",
      branch: "ratchet/p-1",
      worktree_path: "/w",
      base_sha: "c0",
      commit: "c1",
      gate_attempts: 1,
      review_attempts: 1,
      session_end_attempts: 1,
      evidence_check: { passed: true, evidence: { test: true, lint: true }, failure_reasons: [] },
      session_end_result: { status: "pass" },
      last_review_issues: null,
      findings: { open: 0, resolved: 0 },
      finished_at: "2030-01-01T00:00:00.000Z",
    });
  });

  it("A1 store the blocking finding alone, with all its fields", () => {
    const { record } = recordOf(
      { review: {} },
      { review: () => failWith(remark("Null deref", 0), remark("Naming", 2, "b.ts")) },
    );
    expect(record.last_review_issues).toEqual([
      {
        file: "a.ts",
        line_start: 10,
        line_end: 12,
        priority: 0,
        title: "Null deref",
        body: "Null deref, because",
        reviewer: "command",
      },
    ]);
    expect(record).toMatchObject({
      status: "failed",
      error: "review_failed",
      review_attempts: 3,
      findings: { open: 2 },
    });
  });

  it("A9 store it with the verdict already, not only at the end", () => {
    const world = play(
      { review: {} },
      { review: () => failWith(remark("Null deref", 0)), implement: (_, n) => (n === 2 ? null : {}) },
    );
    const verdict = world.reported("review-ended")[0];
    if (!verdict) throw new Error("no review ended");
    expect(world.finished()).toBeUndefined();
    expect(project(event(verdict), world.life.ledger).at(-1)).toMatchObject({
      patch: { last_review_issues: [{ title: "Null deref" }] },
    });
  });

  it("C2 a skipped session_end has no times", () => {
    const [change] = project(event({ type: "session-end-skipped", reason: "gate_failed" }), null);
    expect(change).toMatchObject({
      patch: { session_end_result: { status: "skipped", reason: "gate_failed", started_at: null, finished_at: null } },
    });
  });

  it("carry a finding as the ledger has it", () => {
    const world = play({}, { command: () => ({ exitCode: 1 }) });
    const [raised] = world.reported("finding-raised");
    if (!raised) throw new Error("nothing was raised");
    const row = world.life.ledger.findings.find((finding) => finding.id === raised.finding);
    expect(project(event(raised), world.life.ledger)[0]).toEqual({ table: "finding", row });
  });

  it("a fixer's or reviewer's session is not the issue's", () => {
    const body = { type: "turn-ended", outcome: "ended", session_id: "x", usage: null } as const;
    expect(project(event({ ...body, role: "fixer" }), null)).toEqual([]);
    expect(project(event({ ...body, role: "implementer" }), null)).toMatchObject([{ patch: { session_id: "x" } }]);
  });

  it("of a run go to the run's record", () => {
    const body = { type: "run-finished", status: "failed", exit_code: 1, success_count: 0, total_count: 1 } as const;
    expect(project(event(body, false), null)).toEqual([
      {
        table: "run-record",
        runId: "run-2",
        patch: { status: "failed", exit_code: 1, completed_at: "2030-01-01T00:00:00.000Z" },
      },
    ]);
  });

  it("count a turn for its issue, a further life on top of it, and the run's own turns for the run", () => {
    const usage = { input_tokens: 7, output_tokens: 1, cost_usd: 0.5 };
    const turn: ReportBody = { type: "turn-ended", outcome: "ended", session_id: null, usage, role: "reviewer" };
    const begun: ReportBody = { type: "issue-started", title: "t", life: 2, agent: "command" };
    expect(project(event(turn), null)).toMatchObject([{ table: "issue-record", add: { usage } }]);
    expect(project(event(turn, false), null)).toEqual([
      { table: "run-record", runId: "run-2", patch: {}, add: { trigger_usage: usage } },
    ]);
    const [change] = project(event(begun), null);
    expect(change).toMatchObject({ add: { usage: { input_tokens: 0, output_tokens: 0, cost_usd: null } } });
    expect(change).not.toHaveProperty("patch.usage");
  });
});
