import { expect, test } from "vitest";
import type { PublicEvent, ReportBody } from "../core/report.js";
import { logLine } from "./log-lines.js";
import { emptySummary, foldSummary, renderSummary } from "./summary.js";

const stamp = { seq: 1, time: "2026-01-01T00:00:00.000Z", run_id: "r1" };
const told = (body: ReportBody, issue?: string): PublicEvent =>
  issue === undefined ? { ...stamp, ...body } : { ...stamp, ...body, issue_id: issue };
const usage = { input_tokens: 1, output_tokens: 2, cost_usd: 0.5 };
const ended = { type: "stage-ended", stage: "fix", visit: 2, outcome: "fail", attempts: 3 } as const;
const failed: ReportBody = { ...ended, seconds: 1.25, usage, reason: "it broke" };
const finished: ReportBody = { type: "workflow-finished", name: "dev", status: "success", reason: null, stage: null };

test.each<[PublicEvent, string, string]>([
  [told({ type: "workflow-started", name: "dev", goal: "Be fast" }), "info", "workflow dev started: Be fast"],
  [told({ type: "stage-started", stage: "fix", visit: 1, attempt: 2 }), "info", "stage fix started, attempt 2"],
  [told(failed), "warn", "stage fix, visit 2: fail (1.3 s, 0.50 USD, 3 attempts): it broke"],
  [told(failed, "i1"), "warn", "i1: stage fix, visit 2: fail (1.3 s, 0.50 USD, 3 attempts): it broke"],
  [told({ type: "edge-taken", from: "a", to: "b" }), "info", "a → b"],
  [told(finished), "info", "workflow dev ended: success"],
])("%j is told as a line", (event, level, text) => {
  expect(logLine(event)).toEqual({ level, text });
});

test("the summary of a run that is a workflow is how its stages came out; those of an issue's are the issue's", () => {
  const events = [told(failed), told(finished)];
  expect(renderSummary(events.reduce(foldSummary, emptySummary))).toEqual([
    "fix · fail · visit 2 · it broke",
    "workflow dev · success",
  ]);
  expect(foldSummary(emptySummary, told(failed, "i1")).workflow).toEqual([]);
});
