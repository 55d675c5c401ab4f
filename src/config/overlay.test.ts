import { describe, expect, test } from "vitest";
import type { Settings } from "../core/settings.js";
import { checkConfigText } from "./check.js";
import { formatDiagnostic } from "./diagnostic.js";
import type { ConfigFlags } from "./overlay.js";
import { reviewerSource } from "./reviewer.js";

const agent = "agent: {type: command, command: [my-agent]}\n";

function check(text: string, { env = {}, flags = {} }: { env?: Record<string, string>; flags?: ConfigFlags }) {
  const context = { dir: "/project", env, flags, machine: { cores: 4, freeMemoryBytes: 8e9 } };
  return checkConfigText(agent + text, "ratchet.yaml", context);
}
function settings(text: string, over: { env?: Record<string, string>; flags?: ConfigFlags }): Settings {
  const checked = check(text, over);
  if (!checked.ok) throw new Error(checked.diagnostics.map(formatDiagnostic).join("\n"));
  return checked.settings;
}
function said(text: string, over: { env?: Record<string, string>; flags?: ConfigFlags }): string[] {
  const checked = check(text, over);
  return (checked.ok ? checked.warnings : checked.diagnostics).map(formatDiagnostic);
}

describe("a flag wins over the environment, that over the file, that over the default", () => {
  const env = { RATCHET_MAX_ISSUES: "3" };
  const flags = { maxIssues: "4" };
  test.each([
    ["", {}, null],
    ["max_issues: 2", {}, 2],
    ["max_issues: 2", { env }, 3],
    ["max_issues: 2", { env, flags }, 4],
    ["", { flags: { maxIssues: 5 } }, 5],
    ["max_issues: 2", { env: { RATCHET_MAX_ISSUES: "" } }, 2],
    ["max_issues: 2", { env: { RATCHET_MAX_ISSUES: "null" } }, null],
  ])("file %j, over it %j", (text, over, expected) => {
    expect(settings(text, over).max_issues).toBe(expected);
  });
});

describe("the environment", () => {
  test.each<[string, string, (resolved: Settings) => unknown, unknown]>([
    ["RATCHET_AGENT__TYPE", "scripted", ({ agent: { type } }) => type, "scripted"],
    ["RATCHET_AGENT__COMMAND", "[node, a.js]", ({ agent: { command } }) => command, ["node", "a.js"]],
    ["RATCHET_COMMANDS__TEST", "npm run test: unit", ({ commands }) => commands.test?.command, "npm run test: unit"],
    ["RATCHET_TIMEOUT_MINUTES", "0.5", ({ timeout_minutes }) => timeout_minutes, 0.5],
    ["RATCHET_PRESET", "go", ({ commands }) => commands.test?.command, "go test ./..."],
  ])("%s=%s", (name, value, read, expected) => {
    expect(read(settings("", { env: { [name]: value, RATCHET_AGENT__SCRIPT: "s.yaml" } }))).toEqual(expected);
  });

  test("reaches into a section of the file and leaves the rest of it", () => {
    const text = "per_issue_review: {enabled: true, reviewer_type: command, command: [r], max_retries: 7}";
    const { per_issue_review } = settings(text, { env: { RATCHET_PER_ISSUE_REVIEW__MAX_RETRIES: "2" } });
    expect(per_issue_review).toMatchObject({ enabled: true, command: ["r"], max_retries: 2 });
  });

  test.each<[Record<string, string>, string]>([
    [
      { RATCHET_MAX_AGENTS: "x" },
      'environment: RATCHET_MAX_AGENTS: expected auto, or a whole number of 1 or more, found "x"',
    ],
    [
      { RATCHET_AGENT__BACKOFF_SECONDS: "[1, -1]" },
      "environment: RATCHET_AGENT__BACKOFF_SECONDS: expected seconds, from 0 to 604800, found -1",
    ],
    [
      { RATCHET_PREEST: "go" },
      "environment: warning: RATCHET_PREEST: not a setting, ignored; did you mean RATCHET_PRESET?",
    ],
    [
      { RATCHET_AGENT__TYP: "go" },
      "environment: warning: RATCHET_AGENT__TYP: not a setting, ignored; did you mean RATCHET_AGENT__TYPE?",
    ],
    [
      { RATCHET_MAX_REVIEW_RETRIES: "1" },
      "environment: warning: RATCHET_MAX_REVIEW_RETRIES: not a setting, ignored; did you mean RATCHET_PER_ISSUE_REVIEW__MAX_RETRIES?",
    ],
    [
      { RATCHET_agent__type: "scripted" },
      "environment: warning: RATCHET_agent__type: not a setting, ignored; did you mean RATCHET_AGENT__TYPE?",
    ],
    [
      { RATCHET_commands__Test: "x" },
      "environment: warning: RATCHET_commands__Test: not a setting, ignored; did you mean RATCHET_COMMANDS__TEST?",
    ],
    [
      { RATCHET_agent__typ: "x" },
      "environment: warning: RATCHET_agent__typ: not a setting, ignored; did you mean RATCHET_AGENT__TYPE?",
    ],
    [{ RATCHET_TYPE: "claude" }, "environment: warning: RATCHET_TYPE: not a setting, ignored"],
    [{ RATCHET_ZZZZZZ: "1" }, "environment: warning: RATCHET_ZZZZZZ: not a setting, ignored"],
    [
      { RATCHET_STORE__URL: "postgres://h/d" },
      "environment: RATCHET_STORE__URL: another database is not available yet",
    ],
    [
      { RATCHET_COMMANDS__TEST__TIMEOUT: "5" },
      "environment: RATCHET_COMMANDS__TEST__TIMEOUT: commands.test.command: expected a command line, found nothing",
    ],
    [
      { RATCHET_PER_ISSUE_REVIEW__ENABLED: "true", RATCHET_PER_ISSUE_REVIEW__REVIEWER_TYPE: "command" },
      "environment: RATCHET_PER_ISSUE_REVIEW__ENABLED: per_issue_review.command: expected a program and its arguments with reviewer_type: command, found nothing",
    ],
  ])("%j is named by its variable", (env, message) => {
    expect(said("", { env })).toEqual([message]);
  });

  test("a variable that cannot be put into the file's value is an error, not ignored", () => {
    expect(said("commands: {a: x}", { env: { RATCHET_COMMANDS__A__TIMEOUT: "5" } })).toEqual([
      "environment: RATCHET_COMMANDS__A__TIMEOUT: cannot be set here: commands.a is not a mapping in ratchet.yaml",
    ]);
  });

  test("what Ratchet tells its own programs is no setting, and nothing is said about it", () => {
    const names =
      "HOME TURN SLOT ROLE RUN_ID ISSUE_ID PROMPT_KIND ATTEMPT STAGE_ID SESSION_ID RESULT_FILE REVIEWER BASE_SHA HEAD_SHA MODEL EFFORT";
    const env = Object.fromEntries(names.split(" ").map((name) => [`RATCHET_${name}`, "x"]));
    expect(said("", { env: { ...env, PATH: "/bin", MAX_AGENTS: "x" } })).toEqual([]);
  });
});

describe("B7 how many rounds of review", () => {
  const on = "per_issue_review: {enabled: true, reviewer_type: command, command: [r], max_retries: 2}";
  const off = "per_issue_review: {enabled: false, max_retries: 2}";
  test.each([
    [on, { maxReviewRetries: "5" }, 5],
    [on, { maxReviewRetries: 0 }, 0],
    [on, {}, 2],
    [off, {}, 3],
    [off, { maxReviewRetries: 5 }, 5],
    ["", {}, 3],
  ])("%s with %j", (text, flags, expected) => {
    expect(settings(text, { flags }).per_issue_review.max_retries).toBe(expected);
  });

  test("--disable-validations review turns the per-issue review off, and what it needs is not asked for", () => {
    const flags = { disableValidations: ["review"] };
    expect(settings(on, { flags }).per_issue_review).toMatchObject({ enabled: false, max_retries: 2 });
    expect(reviewerSource(settings(on, { flags }))).toMatchObject({ section: "default", review: null });
    expect(said("per_issue_review: {enabled: true}", { flags })).toEqual([]);
  });

  test("--disable-validations session_end turns it off, and keeps what it is without the flag", () => {
    const text = "validation_triggers: {session_end: {failure_mode: abort, commands: []}}";
    const flags = { disableValidations: ["session_end"] };
    expect(settings(text, { flags })).toMatchObject({
      validation_triggers: { session_end: null },
      left_out_session_end: { failure_mode: "abort" },
    });
    expect(settings(text, {})).not.toHaveProperty("left_out_session_end");
    expect(settings("", { flags })).not.toHaveProperty("left_out_session_end");
  });

  test.each<[ConfigFlags, string]>([
    [{ maxReviewRetries: "x" }, 'command line: --max-review-retries: expected a whole number of 0 or more, found "x"'],
    [{ maxReviewRetries: -1 }, "command line: --max-review-retries: expected a whole number of 0 or more, found -1"],
    [{ maxAgents: "0" }, "command line: --max-agents: expected auto, or a whole number of 1 or more, found 0"],
    [
      { disableValidations: ["reviw"] },
      'command line: --disable-validations: expected some of review, session_end, run_end, epic_completion, periodic, found "reviw"\n  hint: did you mean review?',
    ],
  ])("%j is named by its flag", (flags, message) => {
    expect(said("", { flags })).toEqual([message]);
  });
});
