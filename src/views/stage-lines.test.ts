import { expect, test } from "vitest";
import type { PublicEvent, ReportBody } from "../core/report.js";
import { logLine, logLines } from "./log-lines.js";
import { answerCommand } from "./question-lines.js";
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

test("E7 what a gate asks is told with what it is about, how much of that is missing, and the command that answers", () => {
  const question: ReportBody = {
    type: "question",
    stage: "approval",
    visit: 1,
    prompt: "Is this the plan?",
    details: "# Plan\n\u001b[31mDo it",
    more: 12,
    options: [
      { key: "approve", label: "Approve", feedback: false },
      { key: "revise", label: "Revise", feedback: true },
    ],
    default: null,
    until: 0,
    gate: "g-1/approval",
  };
  expect(logLines(told(question, "g-1")).map(({ text }) => text)).toEqual([
    "g-1: approval asks: Is this the plan?",
    "g-1: # Plan",
    "g-1: Do it",
    "g-1: … 12 more characters, shown by: ratchet answer g-1/approval",
    "g-1:   approve: Approve",
    "g-1:   revise: Revise (with --feedback)",
    "g-1: answer with: ratchet answer g-1/approval <approve|revise> [--feedback TEXT]",
    "g-1: until 1970-01-01T00:00:00.000Z, then it fails",
  ]);
});

test("a prompt that is a workflow's goal is not called sent", () => {
  const sent = {
    type: "prompt-sent",
    kind: "implementer",
    attempt: 1,
    max_attempts: 3,
    path: "p",
    role: "implementer",
  };
  const event = { ...sent, workflow: "dev" } as const;
  expect(logLine(told(event as ReportBody, "i1"))?.text).toBe("i1: implementer by workflow dev, attempt 1 of 3");
});

test("the command that answers a gate can be pasted into a shell, whatever its names are", () => {
  const options = ["yes", "it's fine"].map((key) => ({ key, label: key, feedback: false }));
  expect(answerCommand({ gate: "x-1/is it?", options })).toBe(
    String.raw`ratchet answer 'x-1/is it?' <yes|'it'\''s fine'>`,
  );
});
