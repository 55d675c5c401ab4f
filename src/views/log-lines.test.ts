import { describe, expect, it } from "vitest";
import type { PublicEvent, ReportBody, SessionEndResult } from "../core/report.js";
import { logLine } from "./log-lines.js";

function event(body: ReportBody, issueId: string | null = "X"): PublicEvent {
  const stamp = { seq: 1, time: "2026-01-02T03:04:05.000Z", run_id: "r1" };
  return { ...body, ...stamp, ...(issueId === null ? {} : { issue_id: issueId }) };
}
const sessionEnd: SessionEndResult = {
  ...{ status: "pass", reason: null, started_at: null, finished_at: null, commands: [], code_review_result: null },
};
const sha = "0123456789abcdef0123456789abcdef01234567";
const counters = { gate_attempts: 1, review_attempts: 1, session_end_attempts: 0 };

describe("the lines of triggers, exactly", () => {
  it.each<[ReportBody, string | null, string]>([
    [{ type: "session-end-started" }, "X", "[trigger] session_end started: issue_id=X"],
    ...(["pass", "fail", "timeout", "interrupted"] as const).map((result): [ReportBody, string, string] => [
      { type: "session-end-completed", result, reason: null, session_end_result: sessionEnd, attempts: 1 },
      "X",
      `[trigger] session_end completed: issue_id=X, result=${result}`,
    ]),
    ...(["gate_failed", "not_configured"] as const).map((reason): [ReportBody, string, string] => [
      { type: "session-end-skipped", reason },
      "X",
      `[trigger] session_end skipped: issue_id=X, reason=${reason}`,
    ]),
    [
      { type: "run-end-started", success_count: 2, total_count: 3 },
      null,
      "[trigger] run_end started: success_count=2, total_count=3",
    ],
    [{ type: "run-end-completed", result: "pass" }, null, "[trigger] run_end completed: result=pass"],
    [{ type: "run-end-completed", result: "fail" }, null, "[trigger] run_end completed: result=fail"],
    [{ type: "run-end-skipped", reason: "fire_on_not_met" }, null, "[trigger] run_end skipped: reason=fire_on_not_met"],
    [{ type: "run-end-skipped", reason: "run_aborted" }, null, "[trigger] run_end skipped: reason=run_aborted"],
    [
      {
        type: "trigger-completed",
        trigger: "epic_verification",
        about: "epic_id=e",
        result: "skipped",
        reason: "not_claimed",
      },
      null,
      "[trigger] epic_verification skipped: epic_id=e, reason=not_claimed",
    ],
    [
      { type: "log", level: "info", text: "Using review_followup for resume: 1 issues from prior run r0" },
      "X",
      "Using review_followup for resume: 1 issues from prior run r0",
    ],
  ])("%j", (body, issueId, text) => {
    expect(logLine(event(body, issueId))).toEqual({ level: "info", text });
  });
});

describe("the other lines, the issue first", () => {
  const place = { file: "a.ts", line_start: 10, line_end: 12, priority: 0, title: "Null deref" };
  const raised = {
    type: "finding-raised",
    finding: "f1",
    source: "review",
    stage: "s",
    reviewer: "sec",
    ...place,
  } as const;
  it.each<[ReportBody, string, string]>([
    [{ type: "issue-started", title: "Do it", life: 1, agent: "claude" }, "info", "X: started: Do it"],
    [{ type: "issue-started", title: "Do it", life: 2, agent: "claude" }, "info", "X: started: Do it (life 2)"],
    [
      { type: "worktree-ready", path: "/w", branch: "ratchet/X", base_sha: sha },
      "info",
      "X: worktree ready: /w, branch ratchet/X, base 0123456789ab",
    ],
    [
      { type: "prompt-sent", kind: "implementer", attempt: 1, max_attempts: 3, path: "/p", role: "implementer" },
      "info",
      "X: prompt implementer sent to implementer, attempt 1 of 3",
    ],
    [
      {
        type: "prompt-sent",
        kind: "review",
        attempt: 2,
        max_attempts: 3,
        path: "/p",
        role: "reviewer",
        reviewer: "sec",
      },
      "info",
      "X: prompt review sent to reviewer sec, attempt 2 of 3",
    ],
    [
      { type: "turn-ended", outcome: "ended", session_id: null, usage: null, role: "implementer" },
      "info",
      "X: implementer's turn: ended",
    ],
    [
      { type: "turn-ended", outcome: "failed", session_id: null, usage: null, role: "fixer", reason: "exit 1" },
      "warn",
      "X: fixer's turn: failed: exit 1",
    ],
    [
      { type: "gate-started", attempt: 1, max_attempts: 3, commit: sha },
      "info",
      "X: gate started, attempt 1 of 3, commit 0123456789ab",
    ],
    [
      { type: "gate-passed", attempt: 1, commit: sha, evidence: {} },
      "info",
      "X: gate passed, attempt 1, commit 0123456789ab",
    ],
    [
      { type: "gate-failed", attempt: 1, findings: 2, reasons: ["test failed", "dirty"], evidence: {} },
      "warn",
      "X: gate failed, attempt 1, 2 findings: test failed; dirty",
    ],
    [
      { type: "fixer-started", stage: "session_end", attempt: 1, max_attempts: 2 },
      "info",
      "X: fixer for session_end started, attempt 1 of 2",
    ],
    [
      { type: "fixer-ended", stage: "session_end", attempt: 1, outcome: "ended" },
      "info",
      "X: fixer for session_end ended, attempt 1: ended",
    ],
    [
      { type: "review-started", attempt: 1, reviewer: "sec", commit: sha, stage: "s" },
      "info",
      "X: review by sec started, round 1, commit 0123456789ab",
    ],
    [
      { type: "review-ended", attempt: 1, reviewer: "sec", verdict: "pass", findings: 0, stage: "s" },
      "info",
      "X: review by sec ended, round 1: pass, 0 findings",
    ],
    [
      {
        type: "review-ended",
        attempt: 1,
        reviewer: "sec",
        verdict: "protocol",
        findings: 0,
        reason: "no verdict",
        stage: "s",
      },
      "warn",
      "X: review by sec ended, round 1: protocol, 0 findings: no verdict",
    ],
    [{ ...raised, reopened: false }, "info", "X: finding raised: P0 Null deref (a.ts:10-12, sec, f1)"],
    [
      { ...raised, reopened: true, priority: null, line_end: 10 },
      "info",
      "X: finding reopened: P? Null deref (a.ts:10, sec, f1)",
    ],
    [
      { ...raised, reopened: false, again: true, file: "", line_start: 0 },
      "info",
      "X: finding still open: P0 Null deref (-, sec, f1)",
    ],
    [
      { type: "finding-resolved", finding: "f1", status: "resolved", title: "Null deref", reason: null },
      "info",
      "X: finding resolved: Null deref (f1)",
    ],
    [
      { type: "finding-resolved", finding: "f1", status: "waived", title: "T", reason: "by design" },
      "info",
      "X: finding waived: T (f1): by design",
    ],
    [
      { type: "landed", commit: sha, target_branch: "main", merged: false, behind: null },
      "info",
      "X: landed on main as 0123456789ab",
    ],
    [
      { type: "landed", commit: sha, target_branch: "main", merged: true, behind: "main is behind: dirty" },
      "warn",
      "X: merged into main as 0123456789ab; main is behind: dirty",
    ],
    [{ type: "escalated", reason: "budget", dossier: "/d.md" }, "warn", "X: escalated: budget, dossier /d.md"],
    [
      { type: "waiting", for: "usage limit", until: 0 },
      "info",
      "X: waiting until 1970-01-01T00:00:00.000Z: usage limit",
    ],
    [
      { type: "waiting", for: "the branch main is gone: run `git branch main 0123`", until: null },
      "info",
      "X: waiting: the branch main is gone: run `git branch main 0123`",
    ],
    [{ type: "log", level: "warn", text: "odd" }, "warn", "X: odd"],
  ])("%j", (body, level, text) => {
    expect(logLine(event(body))).toEqual({ level, text });
  });

  it.each([
    ["success", "info"],
    ["failed", "error"],
    ["escalated", "warn"],
    ["interrupted", "warn"],
  ] as const)("an issue that ends as %s is told at level %s", (status, level) => {
    const ended = {
      status,
      message: "why",
      error: null,
      commit: sha,
      resolution: null,
      last_review_issues: null,
      counters,
      session_id: null,
    };
    expect(logLine(event({ type: "issue-finished", ...ended }))).toEqual({
      level,
      text: `X: ${status}: why, commit 0123456789ab`,
    });
    expect(logLine(event({ type: "issue-finished", ...ended, quarantined: true }))?.text).toContain(
      "0123456789ab; quarantined: ratchet retry X",
    );
  });
});

describe("the run's own lines", () => {
  it.each<[ReportBody, string, string]>([
    [
      { type: "run-started", project_id: "p", target_branch: "main", run_start_commit: sha, repo_path: "/r" },
      "info",
      "run r1 started on main at 0123456789ab",
    ],
    [
      { type: "run-finished", status: "succeeded", exit_code: 0, success_count: 1, total_count: 1 },
      "info",
      "run r1 succeeded: 1 of 1 issue succeeded, exit code 0",
    ],
    [
      { type: "run-finished", status: "failed", exit_code: 1, success_count: 1, total_count: 3 },
      "error",
      "run r1 failed: 1 of 3 issues succeeded, exit code 1",
    ],
    [
      {
        ...{ type: "run-finished", status: "interrupted", exit_code: 130 },
        ...{ success_count: 1, total_count: 1, interrupted_count: 2 },
      },
      "error",
      "run r1 interrupted: 1 of 1 issue succeeded, 2 interrupted, exit code 130",
    ],
    [
      {
        ...{ type: "run-finished", status: "interrupted", exit_code: 130 },
        ...{ success_count: 0, total_count: 0, interrupted_count: 1 },
      },
      "error",
      "run r1 interrupted: 1 issue interrupted, exit code 130",
    ],
    [{ type: "log", level: "error", text: "pick broke: disk full" }, "error", "pick broke: disk full"],
  ])("%j", (body, level, text) => {
    expect(logLine(event(body, null))).toEqual({ level, text });
  });
});

describe("logLine", () => {
  it("keeps foreign text on one harmless line", () => {
    const title = "a\u001b[2Jb\nc\u0007";
    expect(logLine(event({ type: "issue-started", title, life: 1, agent: "a" }))?.text).toBe("X: started: ab c␇");
  });

  it("says nothing about an event of a newer version", () => {
    const unknown: unknown = { ...event({ type: "session-end-started" }), type: "from-the-future" };
    expect(logLine(unknown as PublicEvent)).toBeNull();
  });
});
