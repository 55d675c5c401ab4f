import { describe, expect, it } from "vitest";
import { type IssueSituation, type RunSituation, renderStatus, toStatus } from "./status.js";

const issue: IssueSituation = {
  ...{
    issueId: "demo-1",
    phase: "gating",
    status: "running",
    attempt: 1,
    maxAttempts: 3,
    openFindings: [0, 1, 1, 3, null, 7],
  },
  ...{ sessionId: "s1", startedAt: 1_000, finishedAt: null, costUsd: 0.5, waitingFor: null },
};
const run = (more: Partial<RunSituation> = {}): RunSituation => ({
  ...{ runId: "r1", projectId: "shop", status: "running", draining: false, driven: true, issues: [issue], ...more },
});
const room = { columns: 80, width: (text: string) => [...text].length };

describe("toStatus", () => {
  it("has the shape of status --json", () => {
    expect(toStatus([run()], 66_000)).toEqual({
      runs: [
        {
          run_id: "r1",
          project_id: "shop",
          status: "running",
          draining: false,
          stopping: false,
          aborting: false,
          driven: true,
          issues: [
            {
              issue_id: "demo-1",
              phase: "gating",
              attempt: 1,
              max_attempts: 3,
              open_findings: { p0: 1, p1: 2, p2: 0, p3: 1, other: 2 },
              session_id: "s1",
              elapsed_seconds: 65,
              cost_usd: 0.5,
              waiting_for: null,
            },
          ],
        },
      ],
    });
  });

  it.each([
    ["closing", "running", "finalizing"],
    ["done", "running", "finalizing"],
    ["implementing", "running", "implementing"],
    ["done", "success", "succeeded"],
    ["done", "failed", "failed"],
    ["done", "escalated", "escalated"],
    ["reviewing", "interrupted", "interrupted"],
  ] as const)("calls %s of a %s issue %s", (phase, status, shown) => {
    expect(toStatus([run({ issues: [{ ...issue, phase, status }] })], 0).runs[0]?.issues[0]?.phase).toBe(shown);
  });

  it("names the trigger of the run's own row", () => {
    const own = { ...issue, issueId: "_run", trigger: "run_end", phase: "session-ending" };
    const status = toStatus([run({ issues: [own] })], 66_000);
    expect(status.runs[0]?.issues[0]).toMatchObject({ issue_id: "_run", trigger: "run_end", phase: "session-ending" });
    expect(renderStatus(status, room)[2]).toMatch(/^_run: run_end +session-ending /);
  });

  it("stops the clock of what has ended", () => {
    expect(
      toStatus([run({ issues: [{ ...issue, finishedAt: 4_000 }] })], 99_000).runs[0]?.issues[0]?.elapsed_seconds,
    ).toBe(3);
  });
});

describe("renderStatus", () => {
  it("is a table per run", () => {
    expect(renderStatus(toStatus([run(), run({ runId: "r2", issues: [] })], 66_000), room)).toEqual([
      "run r1: running",
      "ISSUE   PHASE   TRY  FINDINGS              COST  TIME",
      "demo-1  gating  1/3  P0:1 P1:2 P3:1 P?:2  $0.50  1:05",
      "",
      "run r2: running",
      "no issue has started",
    ]);
  });

  it("names the projects to a reader who is in none of them", () => {
    expect(renderStatus(toStatus([run()], 0), room, { named: true })[0]).toBe("run r1 of shop: running");
  });

  it("says draining, and what is waited for", () => {
    const lines = renderStatus(
      toStatus([run({ draining: true, issues: [{ ...issue, waitingFor: "a\u001b[1m slot" }] })], 0),
      room,
    );
    expect(lines[0]).toBe("run r1: draining, press again to stop");
    const left = renderStatus(toStatus([run({ driven: false })], 0), room);
    expect(left[0]).toBe("run r1: nobody drives it; `ratchet run` goes on with it");
    const workflow = run({ driven: false, workflowFile: "/a b/plan.kdl" });
    expect(renderStatus(toStatus([workflow], 0), room)[0]).toBe(
      "run r1: nobody drives it; `ratchet workflow run '/a b/plan.kdl' --resume r1` goes on with it",
    );
    expect(lines[2]).toMatch(/a slot$/);
    const stopping = renderStatus(toStatus([run({ draining: true, stopping: true })], 0), room);
    expect(stopping[0]).toBe("run r1: stopping at the next safe point");
    const aborting = renderStatus(toStatus([run({ draining: true, aborting: true })], 0), room);
    expect(aborting[0]).toBe("run r1: aborting: what runs ends at its next safe point, nothing new starts");
  });

  it.each([
    ["draining", { draining: true }],
    ["stopping", { draining: true, stopping: true }],
    ["aborting", { aborting: true }],
  ])("says of a run that nobody drives that it will be %s", (word, told) => {
    const [head] = renderStatus(toStatus([run({ driven: false, ...told })], 0), room);
    expect(head).toBe(`run r1: nobody drives it; it will be ${word} when \`ratchet run\` takes it up`);
  });

  it("says when nothing runs", () => {
    expect(renderStatus({ runs: [] }, room)).toEqual(["Nothing is running. Start with `ratchet run`."]);
  });
});
