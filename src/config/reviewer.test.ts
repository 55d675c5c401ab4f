import { describe, expect, test } from "vitest";
import type { Settings } from "../core/settings.js";
import type { Validation } from "./availability.js";
import { formatDiagnostic } from "./diagnostic.js";
import { resolveSettings } from "./resolve.js";
import { maxReviewRounds, reviewerSource } from "./reviewer.js";
import { configSchema } from "./schema/root.js";
import { noteUnusedReviewers } from "./unused-reviewers.js";
import { readYamlSource } from "./yaml-source.js";

function settings(written: object, ...disabled: Validation[]): Settings {
  const around = {
    dir: "/",
    machine: { cores: 2, freeMemoryBytes: 4e9 },
    maxReviewRetries: null,
    disabled: new Set(disabled),
  };
  return resolveSettings(configSchema.parse(written), around);
}
const review = (enabled: boolean, program: string) => ({ enabled, reviewer_type: "command", command: [program] });

describe("B6 one reviewer serves all reviews", () => {
  const triggers = {
    periodic: { interval: 5, code_review: review(true, "periodic") },
    run_end: { code_review: review(true, "run") },
    epic_completion: { code_review: review(true, "epic") },
    session_end: { code_review: review(true, "session") },
  };
  const { session_end: _, ...withoutSession } = triggers;
  test.each<[string, object, string, string[]]>([
    [
      "per_issue_review when enabled",
      { per_issue_review: review(true, "own"), validation_triggers: triggers },
      "per_issue_review",
      ["own"],
    ],
    [
      "else session_end",
      { per_issue_review: review(false, "own"), validation_triggers: triggers },
      "validation_triggers.session_end",
      ["session"],
    ],
    ["else epic_completion", { validation_triggers: withoutSession }, "validation_triggers.epic_completion", ["epic"]],
    [
      "else the next that is enabled",
      { validation_triggers: { ...withoutSession, epic_completion: { code_review: review(false, "epic") } } },
      "validation_triggers.run_end",
      ["run"],
    ],
    ["else the default", { per_issue_review: review(false, "own") }, "default", []],
  ])("%s", (_name, written, section, command) => {
    const source = reviewerSource(settings(written));
    expect([source.section, source.reviewer.command]).toEqual([section, command]);
  });

  test.each<[string, object, Validation, string, string[]]>([
    [
      "per_issue_review",
      { per_issue_review: review(true, "own"), validation_triggers: triggers },
      "review",
      "per_issue_review",
      ["own"],
    ],
    ["a trigger", { validation_triggers: triggers }, "session_end", "validation_triggers.session_end", ["session"]],
    ["another", { validation_triggers: triggers }, "run_end", "validation_triggers.session_end", ["session"]],
    ["the only one, for pull requests", { per_issue_review: review(true, "own") }, "review", "default", ["own"]],
  ])("a flag that leaves out %s chooses no other", (_name, written, disabled, section, command) => {
    const source = reviewerSource(settings(written, disabled));
    expect([source.section, source.reviewer.command]).toEqual([section, command]);
    expect(source.review?.enabled ?? null).toBe(section === "default" ? null : true);
  });

  test("the default is agent_sdk, 600 s, sonnet", () => {
    expect(reviewerSource(settings({})).reviewer).toMatchObject({
      reviewer_type: "agent_sdk",
      agent_sdk_timeout: 600,
      agent_sdk_model: "sonnet",
    });
  });
});

test.each([
  [{}, 3],
  [{ per_issue_review: { ...review(true, "r"), max_retries: 0 } }, 1],
  [{ per_issue_review: { ...review(true, "r"), max_retries: 5 } }, 5],
  [{ per_issue_review: { ...review(false, "r"), max_retries: 5 } }, 3],
  [{ validation_triggers: { run_end: { max_retries: 7 } } }, 3],
])("B7 rounds of review with %j", (written, rounds) => {
  expect(maxReviewRounds(settings(written))).toBe(rounds);
});

test("a trigger's commands are those of their names unless they say otherwise, and its counters are its own", () => {
  const { validation_triggers } = settings({
    commands: { test: { command: "npm test", timeout: 7 } },
    validation_triggers: {
      session_end: {
        failure_mode: "remediate",
        max_retries: 2,
        commands: ["test", { ref: "test", timeout: 9 }, { ref: "new", command: "x" }],
      },
    },
  });
  expect(validation_triggers.session_end).toEqual({
    failure_mode: "remediate",
    max_retries: 2,
    timeout: 1800,
    code_review: null,
    commands: [
      { ref: "test", command: "npm test", timeout: 7 },
      { ref: "test", command: "npm test", timeout: 9 },
      { ref: "new", command: "x", timeout: 120 },
    ],
  });
});

test("reviewer settings that have no effect because another section chooses are told in one line", () => {
  const text = [
    "per_issue_review: {enabled: true, reviewer_type: command, command: [r]}",
    "validation_triggers:",
    "  run_end: {code_review: {enabled: true, reviewer_type: command, command: [x], finding_threshold: P0}}",
    "  session_end: {code_review: {enabled: true, finding_threshold: P0}}",
    "  periodic: {interval: 1, code_review: {enabled: false, reviewer_type: command}}",
  ].join("\n");
  const { source } = readYamlSource(text, "ratchet.yaml");
  if (source === null) throw new Error("the text is good");
  expect(noteUnusedReviewers(source, settings(source.root)).map(formatDiagnostic)).toEqual([
    "ratchet.yaml:3:13: info: validation_triggers.run_end.code_review: the reviewer is chosen by per_issue_review; reviewer_type, command here have no effect",
  ]);
});
