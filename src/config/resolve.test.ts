import { describe, expect, test } from "vitest";
import type { Settings } from "../core/settings.js";
import { checkConfigText } from "./check.js";
import { formatDiagnostic } from "./diagnostic.js";

const agent = "agent: {type: command, command: [my-agent]}\n";

function settings(text: string, machine = { cores: 4, freeMemoryBytes: 8e9 }): Settings {
  const context = { dir: "/project/app", env: {}, flags: {}, machine };
  const checked = checkConfigText(text, "ratchet.yaml", context);
  if (!checked.ok) throw new Error(checked.diagnostics.map(formatDiagnostic).join("\n"));
  return checked.settings;
}

test("the defaults", () => {
  expect(settings(agent)).toMatchObject({
    preset: null,
    commands: {},
    commands_env: [],
    evidence_check: { required: [] },
    agent: {
      model: null,
      backoff_seconds: [1, 2, 4, 8],
      env: ["PATH", "HOME", "USER", "LANG", "LC_*", "TERM", "TMPDIR", "SHELL"],
    },
    timeout_minutes: 30,
    idle_timeout_seconds: 360,
    max_agents: 4,
    max_issues: null,
    max_gate_retries: 3,
    tracker: { type: "local" },
    finalize: { mode: "merge", into: null },
    validation_triggers: { session_end: null, run_end: null, epic_completion: null, periodic: null },
    worktree: { copy: [] },
  });
});

test("B2 the defaults of an enabled review, and the full section", () => {
  expect(
    settings(`${agent}per_issue_review: {enabled: true, reviewer_type: command, command: [r]}`).per_issue_review,
  ).toEqual({
    enabled: true,
    reviewer_type: "command",
    command: ["r"],
    panel: [],
    max_retries: 3,
    finding_threshold: "none",
    track_review_issues: true,
    failure_mode: "continue",
    cerberus: { timeout: 300, spawn_args: [], wait_args: [], env: {} },
    agent_sdk_timeout: 600,
    agent_sdk_model: "sonnet",
    agent_sdk_agent: null,
    baseline: null,
  });
});

test.each(["env: [A=1, B=x=y]", 'env: {A: "1", B: x=y}'])("cerberus.env is a mapping in the end: %s", (env) => {
  const text = `${agent}per_issue_review: {enabled: true, reviewer_type: command, command: [r], cerberus: {${env}}}`;
  expect(settings(text).per_issue_review.cerberus.env).toEqual({ A: "1", B: "x=y" });
});

test("B6 a section that is off is ignored in every field", () => {
  const text = "per_issue_review: {enabled: false, max_retries: 9, reviewer_type: agent_sdk, finding_threshold: P3}";
  expect(settings(agent + text)).toEqual(settings(agent));
});

test("a panel's members get their names by kind and position", () => {
  const members = "[{reviewer_type: command, command: [a]}, {name: security, reviewer_type: command, command: [b]}]";
  const text = `${agent}per_issue_review: {enabled: true, reviewer_type: panel, panel: ${members}}`;
  expect(settings(text).per_issue_review.panel.map(({ name, command }) => [name, command])).toEqual([
    ["command-1", ["a"]],
    ["security", ["b"]],
  ]);
});

describe("commands", () => {
  test("of the file override the preset's one by one and field by field, null switches one off", () => {
    const { commands } = settings(
      `${agent}preset: node-npm\ncommands: {test: make test, lint: {timeout: 5}, format: null, e2e: {command: x, allow_fail: true, exclusive: true}}`,
    );
    expect(commands).toEqual({
      setup: { command: "npm ci", timeout: 900, allow_fail: false, exclusive: false },
      test: { command: "make test", timeout: 120, allow_fail: false, exclusive: false },
      lint: { command: "npm run lint", timeout: 5, allow_fail: false, exclusive: false },
      typecheck: { command: "npm run typecheck", timeout: 120, allow_fail: false, exclusive: false },
      e2e: { command: "x", timeout: 120, allow_fail: true, exclusive: true },
    });
  });

  test.each([
    ["node-npm", ["npm ci", "npm test", "npm run lint", "npm run format", "npm run typecheck"]],
    ["python-uv", ["uv sync", "uv run pytest", "uvx ruff check .", "uvx ruff format --check .", "uvx ty check"]],
    ["go", expect.arrayContaining(["go test ./..."])],
    ["rust", expect.arrayContaining(["cargo test"])],
  ])("B1 the preset %s sets commands and nothing else", (preset, lines) => {
    const resolved = settings(`${agent}preset: ${preset}`);
    expect(Object.values(resolved.commands).map(({ command }) => command)).toEqual(lines);
    expect({ ...resolved, preset: null, commands: {} }).toEqual(settings(agent));
  });

  test("setup of the file keeps its long timeout", () => {
    expect(settings(`${agent}commands: {setup: make}`).commands.setup?.timeout).toBe(900);
  });
});

test.each([
  [30, 360],
  [10, 300],
  [120, 900],
  [2, 120],
  [0.05, 3],
])("a turn of %d minutes may be idle for %d seconds", (minutes, seconds) => {
  expect(settings(`${agent}timeout_minutes: ${minutes}`).idle_timeout_seconds).toBeCloseTo(seconds);
});

test.each([
  [4, 8, 4],
  [16, 64, 8],
  [8, 2.5, 2],
  [8, 0.3, 1],
  [0, 8, 1],
])("%d cores and %d GB free take %d agents", (cores, gigabytes, agents) => {
  expect(settings(agent, { cores, freeMemoryBytes: gigabytes * 1e9 }).max_agents).toBe(agents);
});

test("a script is found from the configuration file", () => {
  expect(settings("agent: {type: scripted, script: ../play.yaml}").agent.script).toBe("/project/play.yaml");
  expect(settings("agent: {type: scripted, script: /abs/play.yaml}").agent.script).toBe("/abs/play.yaml");
});

test("B10 nothing of it can be changed afterwards", () => {
  const frozen = (value: unknown): boolean =>
    typeof value !== "object" || value === null || (Object.isFrozen(value) && Object.values(value).every(frozen));
  expect(frozen(settings(`${agent}preset: go`))).toBe(true);
});
