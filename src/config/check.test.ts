import { describe, expect, test } from "vitest";
import { type Checked, checkConfigText } from "./check.js";
import { formatDiagnostic } from "./diagnostic.js";

const context = { dir: "/project", env: {}, flags: {}, machine: { cores: 4, freeMemoryBytes: 8e9 } };
const agent = "agent: {type: command, command: [my-agent]}\n";

function check(text: string): Checked {
  return checkConfigText(text, "ratchet.yaml", context);
}
function errors(text: string): string[] {
  const checked = check(text);
  return checked.ok ? [] : checked.diagnostics.map(formatDiagnostic);
}

const words = "expected a whole number of 0 or more";
const keys =
  "enabled, reviewer_type, command, cerberus, agent_sdk_timeout, agent_sdk_model, agent_sdk_agent, panel, max_retries, finding_threshold, track_review_issues, failure_mode, baseline";

describe("B4 what is wrong is named with its place, its key, what was found and what is allowed", () => {
  test.each([
    ['enabled: "yes"', '2:29: per_issue_review.enabled: expected true or false, found "yes"'],
    ["max_retries: -1", `2:33: per_issue_review.max_retries: ${words}, found -1`],
    ["max_retries: true", `2:33: per_issue_review.max_retries: ${words}, found true`],
    ["max_retries: 1.5", `2:33: per_issue_review.max_retries: ${words}, found 1.5`],
    ["max_retries: null", `2:33: per_issue_review.max_retries: ${words}, found nothing`],
    ["max_retries: .nan", `2:33: per_issue_review.max_retries: ${words}, found NaN`],
    [
      "finding_threshold: P4",
      '2:39: per_issue_review.finding_threshold: expected one of P0, P1, P2, P3, none, found "P4"',
    ],
    [
      "failure_mode: stop",
      '2:34: per_issue_review.failure_mode: expected one of abort, continue, remediate, found "stop"',
    ],
    [
      "agent_sdk_model: gpt",
      '2:37: per_issue_review.agent_sdk_model: expected one of sonnet, opus, haiku, found "gpt"',
    ],
    [
      "agent_sdk_timeout: 0",
      "2:39: per_issue_review.agent_sdk_timeout: expected seconds, more than 0 and at most 604800, found 0",
    ],
    ["foo: 1", `2:20: per_issue_review.foo: unknown key; allowed in per_issue_review: ${keys}`],
    [
      "max_retry: 1",
      `2:20: per_issue_review.max_retry: unknown key; allowed in per_issue_review: ${keys}\n  hint: did you mean max_retries?`,
    ],
  ])("per_issue_review: {%s}", (setting, message) => {
    const expected = [`ratchet.yaml:${message}`];
    expect(errors(`${agent}per_issue_review: {${setting}}`)).toEqual(expected);
    if (setting.startsWith("enabled")) return;
    expect(errors(`${agent}per_issue_review: {${setting}, enabled: false}`)).toEqual(expected);
  });

  test.each([
    ["per_issue_review: []", `2:19: per_issue_review: expected a mapping of ${keys}, found an empty list`],
    ["per_issue_review: yes", `2:19: per_issue_review: expected a mapping of ${keys}, found "yes"`],
    ["per_issue_review:", `2:18: per_issue_review: expected a mapping of ${keys}, found nothing`],
    [
      "validation_triggers: {per_issue_review: {enabled: true}}",
      "2:23: validation_triggers.per_issue_review: unknown key; allowed in validation_triggers: session_end, run_end, epic_completion, periodic\n  hint: per_issue_review belongs at the top level",
    ],
    ["timeout_minutes: 0", "2:18: timeout_minutes: expected minutes, more than 0 and at most 10080, found 0"],
    ["max_agents: 0", "2:13: max_agents: expected auto, or a whole number of 1 or more, found 0"],
    ["max_agents: many", '2:13: max_agents: expected auto, or a whole number of 1 or more, found "many"'],
    [
      "commands: {a: {command: x, timeout: 0}}",
      "2:37: commands.a.timeout: expected seconds, more than 0 and at most 604800, found 0",
    ],
    ["commands: {a: {command: ' '}}", '2:25: commands.a.command: expected a command line that is not empty, found " "'],
    ["commands: {a: {}}", "2:12: commands.a.command: expected a command line, found nothing"],
    ["commands: {'a b': x}", '2:12: commands."a b": expected a name of 1 to 64 characters without spaces, found "a b"'],
    [
      "commands: {a: 5}",
      "2:15: commands.a: expected a command line, a mapping of command, timeout, allow_fail and exclusive, or null to switch it off, found 5",
    ],
    [
      "worktree: {copy: [../secret]}",
      '2:19: worktree.copy[0]: expected a path inside the repository, and not in .git, found "../secret"',
    ],
    [
      "worktree: {copy: [.env, ./.git/config]}",
      '2:25: worktree.copy[1]: expected a path inside the repository, and not in .git, found "./.git/config"',
    ],
    [
      "worktree: {copy: [.git]}",
      '2:19: worktree.copy[0]: expected a path inside the repository, and not in .git, found ".git"',
    ],
    ["finalize: {into: -x}", '2:18: finalize.into: expected the name of a branch, or null, found "-x"'],
    ["finalize: {into: HEAD}", '2:18: finalize.into: expected the name of a branch, or null, found "HEAD"'],
  ])("%s", (text, message) => {
    expect(errors(agent + text)).toEqual([`ratchet.yaml:${message}`]);
  });

  test.each([
    ["per_isue_review: {}", "did you mean per_issue_review?"],
    ["maxAgents: 1", "did you mean max_agents?"],
    ["session_end: {}", "did you mean validation_triggers.session_end?"],
    ["finding_threshold: P1", "did you mean per_issue_review.finding_threshold"],
    ["coder: claude", "coder is of mala.yaml, here it is agent"],
    ["context_limit: 1", "context_limit is of mala.yaml and has no meaning here"],
  ])("a misspelt or misplaced key gets a suggestion: %s", (text, suggestion) => {
    const [only, ...others] = errors(agent + text);
    expect(only).toContain(suggestion);
    expect(only).toContain("allowed at the top level: preset, commands,");
    expect(others).toEqual([]);
  });
});

test("all errors come at once, in the order of the file", () => {
  const text = [
    "max_agents: x",
    "nonsense: 1",
    "commands: {a: 5}",
    "evidence_check: {required: [b]}",
    "agent: {type: command}",
    'store: {url: "postgres://h/d"}',
  ].join("\n");
  const lines = errors(text).map((line) => line.split(": ").slice(0, 2).join(" "));
  expect(lines).toEqual([
    "ratchet.yaml:1:13 max_agents",
    "ratchet.yaml:2:1 nonsense",
    "ratchet.yaml:3:15 commands.a",
    "ratchet.yaml:4:29 evidence_check.required[0]",
    "ratchet.yaml:5:1 agent.command",
    "ratchet.yaml:6:14 store.url",
  ]);
});

test("the password of an address is not shown", () => {
  const [message] = errors(`${agent}store: {url: "mysql://me:hunter2@host/db"}`);
  expect(message).toContain("mysql://me:***@host/db");
  expect(errors(`${agent}store: {url: "mysql://me:hunter2@host/db"}`).join()).not.toContain("hunter2");
});

test("very many errors are counted, not all shown", () => {
  const text = agent + Array.from({ length: 500 }, (_, index) => `key${index}: 1\n`).join("");
  const found = errors(text);
  expect(found).toHaveLength(201);
  expect(found.at(-1)).toBe("ratchet.yaml: and 300 more problems");
});

test("a warning does not make a file wrong: baseline in per_issue_review is accepted and ignored", () => {
  const checked = check(`${agent}per_issue_review: {baseline: since_run_start}`);
  expect(checked).toMatchObject({ ok: true, settings: { per_issue_review: { baseline: null } } });
  expect(checked.ok && checked.warnings.map(formatDiagnostic)).toEqual([
    "ratchet.yaml:2:30: warning: per_issue_review.baseline: ignored here: the review always starts at the issue's base",
  ]);
});

describe("C14 retired keys are refused with what to write in their place", () => {
  const migration =
    "global_validation_commands is deprecated. Migrate to validation_triggers.run_end:\n\nvalidation_triggers:\n  run_end:\n    failure_mode: continue\n    commands:\n      - ref: test\n      - ref: lint\n";
  test.each(["", "validation_triggers: {run_end: {commands: []}}\n"])("global_validation_commands %#", (more) => {
    const checked = check(`${agent}global_validation_commands: {a: b}\n${more}`);
    expect(checked.ok).toBe(false);
    expect(!checked.ok && checked.diagnostics[0]?.message).toBe(migration);
  });
  test.each([
    ["custom_commands: {}", "Define them under commands:"],
    ["validate_every: 5", "Use validation_triggers.periodic with interval:"],
  ])("%s", (text, advice) => {
    expect(errors(agent + text)).toEqual([expect.stringContaining(advice)]);
  });
});
