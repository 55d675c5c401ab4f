import { describe, expect, it } from "vitest";
import type { PublicEvent, ReportBody } from "../core/report.js";
import { emptySummary, foldSummary, renderSummary } from "./summary.js";

function event(seconds: number, body: ReportBody, issueId?: string): PublicEvent {
  const time = new Date(seconds * 1000).toISOString();
  return { ...body, seq: 1, time, run_id: "r1", ...(issueId === undefined ? {} : { issue_id: issueId }) };
}
const sha = (letter: string) => letter.repeat(40);
const started: ReportBody = {
  type: "run-started",
  project_id: "p",
  target_branch: "main",
  run_start_commit: "c",
  repo_path: "/r",
};
const begin = (title: string): ReportBody => ({ type: "issue-started", title, life: 1, agent: "claude" });
const raised = (finding: string, more: { reopened?: boolean; again?: boolean } = {}): ReportBody => ({
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
  ...{ priority: 1, title: "t", reopened: false, ...more },
});
const closed = (finding: string, status: "resolved" | "superseded" | "waived"): ReportBody => ({
  ...{ type: "finding-resolved", finding, status, title: "t", reason: null },
});
const landed = (commit: string, behind: string | null): ReportBody => ({
  ...{ type: "landed", commit, target_branch: "main", merged: false, behind },
});
const finished = (
  status: "success" | "failed" | "escalated" | "interrupted",
  message: string,
  commit: string | null,
): ReportBody => ({
  ...{ type: "issue-finished", status, message, error: null, commit, resolution: null, last_review_issues: null },
  ...{
    counters: { gate_attempts: 2, review_attempts: status === "success" ? 1 : 3, session_end_attempts: 0 },
    session_id: null,
  },
});
const summaryOf = (events: readonly PublicEvent[]) => renderSummary(events.reduce(foldSummary, emptySummary));

describe("renderSummary", () => {
  it("counts as the run's last line does: what was interrupted or still runs has not ended", () => {
    const events = [
      event(0, started),
      ...["a", "b", "c"].map((id) => event(0, begin(id), id)),
      event(1, finished("success", "", null), "a"),
      event(1, finished("interrupted", "", null), "b"),
    ];
    expect(summaryOf(events)[0]).toBe("1 of 1 issue succeeded, 1 interrupted, 1 running · run r1");
    const counts = { success_count: 1, total_count: 1, interrupted_count: 2 };
    const end = event(9, { type: "run-finished", status: "interrupted", exit_code: 130, ...counts });
    expect(summaryOf([...events, end])[0]).toBe("1 of 1 issue succeeded, 2 interrupted · 0:09 · run r1");
  });

  it("tells issues, rounds, findings, where the commits are and what to do next", () => {
    const usage = { input_tokens: 1, output_tokens: 1, cost_usd: 0.4 };
    const lines = summaryOf([
      event(0, started),
      event(0, begin("Fix it"), "a"),
      event(1, begin("Break\u001b[31m it"), "b"),
      event(1, { type: "worktree-ready", path: "/w/b", branch: "ratchet/b", base_sha: "c" }, "b"),
      event(2, { type: "turn-ended", outcome: "ended", session_id: null, usage, role: "implementer" }, "a"),
      event(2, raised("f1"), "a"),
      event(2, raised("f1", { again: true }), "a"),
      event(3, closed("f1", "resolved"), "a"),
      event(3, raised("f1"), "b"),
      event(3, raised("f2"), "b"),
      event(4, closed("f2", "superseded"), "b"),
      event(5, landed(sha("a"), null), "a"),
      event(5, finished("success", "done", sha("a")), "a"),
      event(6, finished("failed", "no progress", null), "b"),
      event(65, { type: "run-finished", status: "failed", exit_code: 1, success_count: 1, total_count: 2 }),
    ]);
    expect(lines).toEqual([
      "1 of 2 issues succeeded · 1:05 · $0.40 · run r1",
      "3 findings raised, 1 resolved, 1 superseded, 1 open",
      "",
      "a · success · gate 2×, 1 review round · Fix it",
      "  commit aaaaaaaaaaaa on main",
      "b · failed · gate 2×, 3 review rounds · Break it",
      "  no progress",
      "  its work is on ratchet/b, in /w/b",
      "",
      "What next:",
      "  ratchet findings b   # b is failed: what is still open",
      "  ratchet run --resume   # go on with these first",
    ]);
  });

  it("A8 says what helps where nothing has changed, and only there", () => {
    const wayOut = (error: string) => {
      const end = { ...finished("failed", "No progress", null), error } as ReportBody;
      return summaryOf([event(0, started), event(0, begin("Fix it"), "a"), event(1, end, "a")]).join("\n");
    };
    expect(wayOut("no_progress")).toMatch(
      /No progress\n {2}to go on: change its work, or waive .* --fresh .* --check-only/,
    );
    expect(wayOut("gate_failed")).not.toContain("to go on");
  });

  it("says of a setup that failed what helps and where its worktree is, not that there is work", () => {
    const end = { ...finished("failed", "setup failed: exit 1", null), error: "setup_failed" } as ReportBody;
    const place: ReportBody = { type: "worktree-ready", path: "/w/b", branch: "ratchet/b", base_sha: "c" };
    const lines = summaryOf([
      event(0, started),
      event(0, begin("Fix it"), "b"),
      event(0, place, "b"),
      event(1, end, "b"),
    ]);
    const at = lines.indexOf("  setup failed: exit 1");
    expect(lines[at + 1]).toMatch(/^ {2}to go on: repair what it needs, .* and resume$/);
    expect(lines[at + 2]).toBe("  its worktree is /w/b, on ratchet/b");
  });

  it("tells of a target that is behind, until a later landing brought it along", () => {
    const behind =
      "main is behind: local changes, run `git merge --ff-only --no-overwrite-ignore refs/ratchet/landed/main`";
    const first = [
      event(0, begin("t"), "a"),
      event(1, landed(sha("a"), behind), "a"),
      event(2, finished("success", "", sha("a")), "a"),
    ];
    expect(summaryOf(first)).toContain(behind);
    const later = [
      event(3, begin("t"), "b"),
      event(4, landed(sha("b"), null), "b"),
      event(5, finished("success", "", sha("b")), "b"),
    ];
    expect(summaryOf([...first, ...later]).join("\n")).not.toMatch(/behind/);
    const last = (said: string | null) => event(6, { type: "target-followed", target_branch: "main", behind: said });
    expect(summaryOf([...first, last(null)]).join("\n")).not.toMatch(/behind/);
    expect(summaryOf([...first, last("main is behind: other")])).toContain("main is behind: other");
    expect(summaryOf([event(0, begin("t"), "a"), event(1, landed(sha("a"), "dirty"), "a")])).toContain(
      "main is behind: dirty",
    );
  });

  it("tells how run_end ended, and which other triggers of the run failed", () => {
    const log = (text: string): ReportBody => ({ type: "log", level: "info", text });
    const lines = summaryOf([
      event(0, begin("t"), "a"),
      event(1, finished("success", "done", sha("a")), "a"),
      event(2, log("[trigger] periodic completed: finished=2, result=pass")),
      event(3, { type: "trigger-completed", trigger: "periodic", about: "finished=4", result: "fail", reason: null }),
      event(4, { type: "run-end-completed", result: "fail", reason: "command_failed" }),
    ]);
    expect(lines.slice(-2)).toEqual(["periodic · fail · finished=4", "run_end · fail · command_failed"]);
    const message = "Landing was refused: main is protected";
    const refused = summaryOf([
      event(0, begin("t"), "a"),
      event(1, { type: "trigger-completed", trigger: "periodic", about: "n=1", result: "fail", reason: "x", message }),
      event(2, { type: "run-end-completed", result: "fail", reason: "landing_failed", message }),
    ]);
    expect(refused).toContain(`periodic · fail · n=1: ${message}`);
    expect(refused).toContain(`run_end · fail · landing_failed: ${message}`);
    const found = [event(0, started), event(1, begin("t"), "a"), event(2, finished("success", "done", sha("a")), "a")];
    expect(summaryOf([...found, event(3, raised("f1"))]).slice(-2)).toEqual([
      "What next:",
      "  ratchet findings r1   # the run's own checks",
    ]);
    const verified = (result: "pass" | "fail"): ReportBody => ({
      ...{ type: "trigger-completed", trigger: "epic_verification", about: "epic_id=E", result, reason: null },
    });
    const epic = [event(0, started), event(1, { ...raised("f1"), stage: "epic_verification" } as ReportBody)];
    expect(summaryOf([...epic, event(2, verified("fail"))])).toEqual([
      "epic_verification · fail · epic_id=E",
      "",
      "What next:",
      "  ratchet explain E   # E is not completed: what can be done",
    ]);
    const skipped = [event(0, begin("t"), "a"), event(1, { type: "run-end-skipped", reason: "run_aborted" })] as const;
    expect(summaryOf(skipped)).toContain("run_end · skipped · run_aborted");
  });

  it("counts a finding that came back as open", () => {
    const events = [event(0, begin("t"), "a"), event(1, raised("f"), "a"), event(2, closed("f", "resolved"), "a")];
    expect(summaryOf(events)[1]).toBe("1 finding raised, 1 resolved, 0 open");
    expect(summaryOf([...events, event(3, raised("f", { reopened: true }), "a")])[1]).toBe(
      "1 finding raised, 0 resolved, 1 open",
    );
  });

  it.each([
    ["success", "No review required", [/No review required/], [/What next/]],
    ["escalated", "budget reached", [/dossier: \/d\.md/, /ratchet explain a/], [/--resume/, /ratchet findings/]],
    ["interrupted", "stopped", [/a is unfinished/, /--resume/], []],
  ] as const)("an issue that ends as %s", (status, message, there, absent) => {
    const text = summaryOf([
      event(0, begin("t"), "a"),
      ...(status === "escalated" ? [event(1, { type: "escalated", reason: message, dossier: "/d.md" }, "a")] : []),
      event(2, finished(status, message, null), "a"),
    ]).join("\n");
    for (const part of there) expect(text).toMatch(part);
    for (const part of absent) expect(text).not.toMatch(part);
  });

  it("does not offer a resume of what only a retry brings back", () => {
    const once = [
      event(0, begin("t"), "a"),
      event(1, { ...finished("failed", "no", null), quarantined: true } as ReportBody, "a"),
    ];
    const text = summaryOf(once).join("\n");
    expect(text).toContain("a · quarantined");
    expect(text).toContain("ratchet explain a   # a is quarantined: what can be done");
    expect(text).not.toContain("--resume");
    const another = [event(2, begin("t"), "b"), event(3, finished("failed", "no", null), "b")];
    expect(summaryOf([...once, ...another]).join("\n")).toContain("ratchet run --resume");
  });

  it("says when there was nothing to do", () => {
    expect(summaryOf([event(0, started)])).toEqual(["Nothing to do: no issue was ready."]);
  });

  it("D3 says why nothing was begun: a tracker that gave no answer is not the same as no work", () => {
    const error = { type: "log", level: "error", text: "It could not be claimed: bd update a failed" } as const;
    expect(summaryOf([event(0, started), event(1, error, "a")])).toEqual([
      "No issue was begun:",
      "  a: It could not be claimed: bd update a failed",
    ]);
  });

  it("D3 says why a run whose issues succeeded has failed, and what tells the tracker", () => {
    const reason = "bd close a failed: locked\nby dolt";
    const untold = { text: "It went wrong", untold: { op: "complete", reason } };
    expectUntold(untold);
    // As older versions told it.
    expectUntold({ text: `The tracker could not be told (tracker:complete): ${reason}` });
  });

  function expectUntold(told: { readonly text: string; readonly untold?: { op: string; reason: string } }) {
    const events = [
      event(0, started),
      event(0, begin("Fix it"), "a"),
      event(1, landed(sha("a"), null), "a"),
      event(2, { type: "log", level: "error", ...told }, "a"),
      event(2, finished("success", "", sha("a")), "a"),
    ];
    const end = (code: number) =>
      event(3, { type: "run-finished", status: "failed", exit_code: code, success_count: 1, total_count: 1 });
    expect(summaryOf([...events, end(3)]).slice(-6)).toEqual([
      "",
      "Why the exit code is 3:",
      "  the tracker could not be told that a is done: bd close a failed: locked by dolt",
      "",
      "What next:",
      "  ratchet run   # once that works again: tells the tracker, and goes on",
    ]);
    for (const fine of [events, [...events, end(0)]]) expect(summaryOf(fine).join("\n")).not.toContain("tracker");
  }

  it("D3 tells beside it what else failed, and goes on with what is left by --resume", () => {
    const lines = summaryOf([
      event(0, started),
      event(0, begin("t"), "a"),
      event(1, finished("interrupted", "no answer", null), "a"),
      event(2, { type: "log", level: "error", text: "The next issue could not be asked for: bd ready failed" }),
      event(3, { type: "run-finished", status: "failed", exit_code: 3, success_count: 0, total_count: 0 }),
    ]);
    expect(lines).toContain("  The next issue could not be asked for: bd ready failed");
    expect(lines.filter((line) => line.startsWith("  ratchet run"))).toEqual([
      "  ratchet run --resume   # go on with these first",
    ]);
  });
});
