import { expect, test } from "vitest";
import { type Checked, checkConfigText } from "./check.js";
import { formatDiagnostic } from "./diagnostic.js";

const context = { dir: "/project", flags: {}, machine: { cores: 4, freeMemoryBytes: 8e9 } };
const command = { RATCHET_AGENT__TYPE: "command", RATCHET_AGENT__COMMAND: "[my-agent]" };

function check(text: string, env: Record<string, string> = command): Checked {
  return checkConfigText(text, "mala.yaml", { ...context, env });
}
function said(checked: Checked): string[] {
  return (checked.ok ? checked.warnings : checked.diagnostics).map(formatDiagnostic);
}

test("coder: claude is the agent of that name", () => {
  expect(check("coder: claude", {})).toMatchObject({ ok: true, settings: { agent: { type: "claude" } } });
});

test.each([
  [
    "coder: amp",
    "1:8: coder: there is no agent amp here, expected one of claude, codex; other programs are given as agent",
  ],
  ["coder: gpt", '1:8: coder: expected one of claude, codex, found "gpt"; other programs are given as agent'],
  ["coder: [a]", "1:8: coder: expected one of claude, codex, found a list; other programs are given as agent"],
  ["model: 5", "1:8: model: expected a text that is not empty, or null, found 5"],
  ["coder_options: x", '1:16: coder_options: expected a mapping of a coder to its options, found "x"'],
])("%s", (text, message) => {
  expect(said(check(text))).toEqual([`mala.yaml:${message}`]);
});

test.each([
  ["model: a\neffort: high", { model: "a", effort: "high" }],
  ["coder: codex\ncoder_options: {codex: {model: b, effort: low}}", { model: "b", effort: "low" }],
  ["coder: codex\nmodel: a\ncoder_options: {codex: {model: b}}", { model: "a", effort: null }],
])("the agent is read from %j", (text, agent) => {
  const checked = check(text);
  expect(checked).toMatchObject({ ok: true, warnings: [], settings: { agent: { type: "command", ...agent } } });
});

test("every key without a meaning gets one warning, and the rest is read", () => {
  const keys =
    "code_patterns config_files setup_files coverage claude_settings_sources max_idle_retries max_diff_size_kb context_limit epic_verification long_running lock_wait amp_mode".split(
      " ",
    );
  const text = [
    "preset: python-uv",
    "commands: {e2e: {command: make e2e, timeout: 600, allow_fail: true}}",
    "timeout_minutes: 60",
    "idle_timeout_seconds: 400",
    "evidence_check: {required: [test, e2e]}",
    "per_issue_review: {enabled: false}",
    "coder_options: {codex: {sandbox: x}}",
    ...keys.map((key) => `${key}: [{anything: 1}]`),
  ].join("\n");
  const checked = check(text);
  expect(checked).toMatchObject({ ok: true, settings: { timeout_minutes: 60, idle_timeout_seconds: 400 } });
  expect(said(checked)).toEqual([
    "mala.yaml:7:1: warning: coder_options: only model and effort of the chosen coder have a meaning here, the rest is ignored",
    ...keys.map((key, index) => {
      const told = key === "epic_verification" ? "ignored: epics are verified" : "has no meaning here, ignored";
      return expect.stringContaining(`mala.yaml:${index + 8}:1: warning: ${key}: ${told}`);
    }),
  ]);
});

test("other keys are unknown, its own are suggested, retired ones are refused", () => {
  expect(said(check("codr: claude\nglobal_validation_commands: {}"))).toEqual([
    expect.stringMatching(/^mala.yaml:1:1: codr: unknown key; [^\n]+\n {2}hint: did you mean coder\?$/),
    expect.stringContaining("global_validation_commands is deprecated"),
  ]);
});

test("what agent says counts more than coder, and that is said", () => {
  const checked = check("coder: claude\nagent: {type: command, command: [a]}", {});
  expect(checked).toMatchObject({ ok: true, settings: { agent: { type: "command" } } });
  expect(said(checked)).toEqual(["mala.yaml:1:1: warning: coder: ignored: agent.type is given too"]);
});
