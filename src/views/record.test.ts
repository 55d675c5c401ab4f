import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Settings } from "../core/settings.js";
import { readStoredReviewIssues, toRunRecord } from "./record.js";

const defaults = {
  file: "unknown",
  line_start: 0,
  line_end: 0,
  priority: null,
  title: "Unknown issue",
  body: "",
  reviewer: "unknown",
};

describe("readStoredReviewIssues", () => {
  it.each<[string, unknown, unknown]>([
    [
      "A4 the example",
      [{ title: "x", line_start: "7" }, 5, null],
      [{ ...defaults, title: "x", line_start: 7, line_end: 7 }],
    ],
    ["A4 a text is absent", "oops", null],
    ["A3 absent", undefined, null],
    ["null", null, null],
    ["an object", { title: "x" }, null],
    ["an empty list", [], null],
    ["nothing usable", [5, "x", null, [1]], null],
    ["defaults", [{}], [defaults]],
    ["x as a number", [{ line_start: "x", line_end: "y", priority: "z" }], [defaults]],
    [
      "numbers as texts",
      [{ line_start: "3", line_end: " 9 ", priority: "1" }],
      [{ ...defaults, line_start: 3, line_end: 9, priority: 1 }],
    ],
    [
      "broken numbers",
      [{ line_start: 7.9, line_end: true, priority: Number.NaN }],
      [{ ...defaults, line_start: 7, line_end: 7 }],
    ],
    ["an end before the beginning", [{ line_start: 9, line_end: 3 }], [{ ...defaults, line_start: 9, line_end: 9 }]],
    ["null values", [{ file: null, title: null, body: null, reviewer: null, line_end: null }], [defaults]],
    ["numbers for texts", [{ title: 5, file: false }], [{ ...defaults, title: "5", file: "false" }]],
    ["objects for texts", [{ title: {}, body: [] }], [defaults]],
    ["extra keys", [{ title: "x", extra: 1 }], [{ ...defaults, title: "x" }]],
    [
      "a whole one",
      [{ file: "a.ts", line_start: 10, line_end: 12, priority: 0, title: "Null deref", body: "b", reviewer: "sec" }],
      [{ file: "a.ts", line_start: 10, line_end: 12, priority: 0, title: "Null deref", body: "b", reviewer: "sec" }],
    ],
    [
      "priorities as a reviewer's: 0 to 3, with or without a P, or none",
      ["P1", " p0 ", 3, 9, -3, 1e300, 1.5, "P4"].map((priority) => ({ priority })),
      [1, 0, 3, null, null, null, null, null].map((priority) => ({ ...defaults, priority })),
    ],
    ["empty texts", [{ file: "", title: " ", body: "", reviewer: "" }], [defaults]],
  ])("reads %s", (_what, value, expected) => {
    expect(readStoredReviewIssues(value)).toEqual(expected);
  });

  it("never throws", () => {
    fc.assert(fc.property(fc.anything(), (value) => void readStoredReviewIssues(value)));
    fc.assert(fc.property(fc.array(fc.anything()), (value) => void readStoredReviewIssues(value)));
  });
});

describe("toRunRecord", () => {
  // Only passed through.
  const config = {} as unknown as Settings;
  const record = toRunRecord({
    run: { run_id: "r1", config },
    issues: [{ issue_id: "a" }, { issue_id: "b", review_base: "x" }],
    now: 0,
  });

  it("has every key of the contract in order", () => {
    expect(Object.keys(record)).toEqual(
      "run_id started_at completed_at version repo_path project_id status exit_code target_branch run_start_commit config run_end issues".split(
        " ",
      ),
    );
    expect(Object.keys(record.issues.a ?? {})).toEqual(
      (
        "issue_id title status message error session_id agent branch worktree_path base_sha commit resolution gate_attempts review_attempts " +
        "session_end_attempts evidence_check session_end_result last_review_issues findings usage duration_seconds started_at finished_at"
      ).split(" "),
    );
    expect(record.issues.b?.review_base).toBe("x");
  });

  it("fills in what is not known yet", () => {
    expect(record).toMatchObject({ status: "running", exit_code: null, completed_at: null, run_end: null });
    expect(record.issues.a).toMatchObject({
      ...{
        status: "running",
        session_id: null,
        gate_attempts: 0,
        last_review_issues: null,
        findings: { open: 0, resolved: 0 },
      },
      evidence_check: { passed: false, evidence: {}, failure_reasons: [] },
      usage: { input_tokens: 0, output_tokens: 0, cost_usd: null },
    });
  });

  it("keeps what is there", () => {
    const usage = { input_tokens: 5, output_tokens: 6, cost_usd: 0 };
    const kept = toRunRecord({
      run: { run_id: "r", config, exit_code: 0, status: "succeeded" },
      issues: [{ issue_id: "a", status: "success", usage, commit: "c", duration_seconds: 1.5 }],
      now: 0,
    });
    expect(kept).toMatchObject({
      exit_code: 0,
      status: "succeeded",
      issues: { a: { status: "success", usage, commit: "c", duration_seconds: 1.5 } },
    });
  });

  it("tells of an issue that is at work how long it has been", () => {
    const started_at = "2026-01-02T03:04:05.000Z";
    const issues = [{ issue_id: "a", status: "running", started_at, duration_seconds: 0 }] as const;
    const at = (now: string) => toRunRecord({ run: { run_id: "r", config }, issues, now: Date.parse(now) }).issues.a;
    expect(at("2026-01-02T03:05:10.200Z")?.duration_seconds).toBe(65);
    // Another machine's clock.
    expect(at("2026-01-02T03:00:00.000Z")?.duration_seconds).toBe(0);
  });
});
