import { describe, expect, test } from "vitest";
import { checkConfigText } from "./check.js";
import { formatDiagnostic } from "./diagnostic.js";

const context = { dir: "/project", env: {}, flags: {}, machine: { cores: 4, freeMemoryBytes: 8e9 } };
const agent = "agent: {type: command, command: [my-agent]}\n";

/** What is said besides that triggers are not available yet. */
function said(text: string): string[] {
  const checked = checkConfigText(text, "ratchet.yaml", context);
  const all = checked.ok ? checked.warnings : checked.diagnostics;
  return all.map(formatDiagnostic).filter((line) => !line.includes("not available yet"));
}

test.each([
  [
    "agent: {type: command}",
    "1:1: agent.command: expected a program and its arguments with type: command, found nothing",
  ],
  [
    "agent: {type: command, command: []}",
    "1:33: agent.command: expected a program and its arguments with type: command, found an empty list",
  ],
  [
    "agent: {type: command, command: ['']}",
    "1:33: agent.command: expected a program and its arguments with type: command, found a list",
  ],
  ["agent: {type: scripted}", "1:1: agent.script: expected the path of a script with type: scripted, found nothing"],
])("an agent needs what its type needs: %s", (text, message) => {
  expect(said(text)).toEqual([`ratchet.yaml:${message}`]);
});

describe("an agent that reviews has a program or script of its own", () => {
  const program = (type: string) => `expected a program and its arguments with type: ${type}, found nothing`;
  const script = "expected the path of a script in agent.script with type: scripted, found nothing";
  const scripted = "agent: {type: scripted, script: a.yaml}\n";
  const acp = "agent: {type: acp, command: [my-agent]}\n";
  test.each([
    [agent, "{type: command}", "command", program("command")],
    [agent, "{type: command, command: [my-reviewer]}", "", null],
    [agent, "{type: acp}", "command", program("acp")],
    [acp, "{type: acp}", "", null],
    [agent, "{type: scripted}", "type", script],
    [scripted, "{type: scripted}", "", null],
    [agent, "null", "", null],
  ])("%s beside %s", (beside, written, key, message) => {
    const section = `{enabled: true, reviewer_type: agent_sdk, agent_sdk_agent: ${written}}`;
    const panel = `{enabled: true, reviewer_type: panel, panel: [{reviewer_type: agent_sdk, agent_sdk_agent: ${written}}]}`;
    for (const [review, path] of [
      [section, "per_issue_review"],
      [panel, "per_issue_review.panel[0]"],
    ]) {
      const expected = message === null ? [] : [expect.stringContaining(`${path}.agent_sdk_agent.${key}: ${message}`)];
      expect(said(`${beside}per_issue_review: ${review}`)).toEqual(expected);
    }
  });
  test.each(["scripted", "{type: scripted}"])("as one has that goes on instead: %s", (fallback) => {
    const [first, ...more] = said(`agent: {type: command, command: [my-agent], fallback: ${fallback}}`);
    expect([first, more]).toEqual([expect.stringContaining(`agent.fallback: ${script}`), []]);
    expect(said(`agent: {type: command, command: [my-agent], script: a.yaml, fallback: ${fallback}}`)).toEqual([]);
  });
});

describe("evidence_check.required names commands that exist", () => {
  test("an empty name is refused and never suggested", () => {
    const found = said(`commands: {"": x, test: y}\nevidence_check: {required: [z]}\n${agent}`);
    expect(found).toEqual([
      expect.stringContaining('commands."": expected a name of 1 to 64 characters without spaces, found ""'),
      expect.stringMatching(/found "z" \(the commands are test\)$/),
    ]);
  });
  test.each([
    ["commands: {tests: x}", "test", "2:29", 'found "test" (the commands are tests)\n  hint: did you mean tests?'],
    [
      "preset: go",
      "tset",
      "2:29",
      'found "tset" (the commands are setup, test, lint, format, typecheck)\n  hint: did you mean test?',
    ],
    ["preset: go\ncommands: {test: null}", "test", "3:29", "found test, which is switched off (null)"],
    ["", "toString", "2:29", 'found "toString" (there are no commands)'],
  ])("%s: %s", (text, name, place, message) => {
    const config = `${text}\nevidence_check: {required: [${name}]}\n${agent}`;
    expect(said(config)).toEqual([
      `ratchet.yaml:${place}: evidence_check.required[0]: expected the name of a command, ${message}`,
    ]);
  });
  test("a preset's command and one of the file are there", () => {
    expect(said(`${agent}preset: go\ncommands: {mine: x}\nevidence_check: {required: [test, mine]}`)).toEqual([]);
  });
});

describe("reviewers", () => {
  const none = "expected a program and its arguments with reviewer_type: command, found nothing";
  test.each([
    ["{enabled: true, reviewer_type: command}", `2:1: per_issue_review.command: ${none}`],
    [
      "{enabled: true, reviewer_type: panel}",
      "2:1: per_issue_review.panel: expected at least one reviewer with reviewer_type: panel, found nothing",
    ],
    [
      "{enabled: true, reviewer_type: panel, panel: []}",
      "2:64: per_issue_review.panel: expected at least one reviewer with reviewer_type: panel, found an empty list",
    ],
    [
      "{enabled: true, reviewer_type: panel, panel: [{reviewer_type: command}]}",
      `2:65: per_issue_review.panel[0].command: ${none}`,
    ],
    [
      "{panel: [{name: a, reviewer_type: command}, {name: a, reviewer_type: command}]}",
      '2:70: per_issue_review.panel[1].name: expected a name of its own, found "a", the name of panel[0]',
    ],
    [
      "{panel: [{name: command-2, reviewer_type: command}, {reviewer_type: command}]}",
      '2:71: per_issue_review.panel[1].name: expected a name of its own, found "command-2", the name of panel[0]',
    ],
    [
      "{panel: [{reviewer_type: panel}]}",
      '2:44: per_issue_review.panel[0].reviewer_type: expected one of cerberus, agent_sdk, command, found "panel"',
    ],
    [
      "{panel: [{name: Security, reviewer_type: command}]}",
      '2:35: per_issue_review.panel[0].name: expected a name of lower-case letters, digits, _ and -, found "Security"',
    ],
    ["{cerberus: {env: [NOPE]}}", '2:37: per_issue_review.cerberus.env[0]: expected KEY=VALUE, found "NOPE"'],
    ["{cerberus: {env: {A: 1}}}", "2:40: per_issue_review.cerberus.env.A: expected a text, found 1"],
  ])("per_issue_review: %s", (section, message) => {
    expect(said(`${agent}per_issue_review: ${section}`)).toEqual([`ratchet.yaml:${message}`]);
  });

  test.each(["{reviewer_type: command}", "{reviewer_type: panel}", "{enabled: false, reviewer_type: cerberus}"])(
    "a section that is off need not be complete: %s",
    (section) => {
      expect(said(`${agent}per_issue_review: ${section}`)).toEqual([]);
    },
  );
});

describe("triggers", () => {
  const commands = `${agent}commands: {test: x}\nvalidation_triggers: `;
  test.each([
    [
      "C5 remediate needs max_retries",
      "{run_end: {failure_mode: remediate, commands: [test]}}",
      [
        "3:47: validation_triggers.run_end.max_retries: expected a whole number of 0 or more with failure_mode: remediate, found nothing",
      ],
    ],
    ["C5 max_retries 0 is enough", "{run_end: {failure_mode: remediate, max_retries: 0, commands: [test]}}", []],
    ["names and mappings", "{session_end: {commands: [test, {ref: test}, {ref: other, command: y}]}}", []],
    [
      "a ref that does not exist",
      "{session_end: {commands: [tets, {ref: nope, timeout: 1}]}}",
      [
        '3:48: validation_triggers.session_end.commands[0]: expected the name of a command, found "tets" (the commands are test)\n  hint: did you mean test?',
        '3:60: validation_triggers.session_end.commands[1].ref: expected the name of a command, found "nope" (the commands are test)',
      ],
    ],
    ["C13 no commands but a review", "{run_end: {commands: [], code_review: {enabled: true}}}", []],
    [
      "nothing to do",
      "{run_end: {commands: []}}",
      ["3:32: warning: validation_triggers.run_end: does nothing: it has no commands and no enabled code_review"],
    ],
    [
      "what cannot be read, which may have been something to do",
      "{run_end: {commands: ok}}",
      ['3:43: validation_triggers.run_end.commands: expected a list of commands, found "ok"'],
    ],
    [
      "periodic without an interval",
      "{periodic: {commands: [test]}}",
      ["3:23: validation_triggers.periodic.interval: expected a whole number of 1 or more, found nothing"],
    ],
    [
      "the counters of session_end's review",
      "{session_end: {commands: [test], code_review: {max_retries: 1, failure_mode: abort}}}",
      [
        "3:82: validation_triggers.session_end.code_review.max_retries: not allowed here: max_retries of session_end itself counts",
        "3:99: validation_triggers.session_end.code_review.failure_mode: not allowed here: failure_mode of session_end itself counts",
      ],
    ],
  ])("%s", (_, text, messages) => {
    expect(said(commands + text)).toEqual(messages.map((message) => `ratchet.yaml:${message}`));
  });
});

test.each([
  ["member", "MEMBER"],
  ["Owners", "OWNER"],
  ["COLABORATER", "COLLABORATOR"],
  ["first-timer", "FIRST_TIMER"],
])("trusted %s is no login that anybody meant", (name, meant) => {
  const [line = "", ...more] = said(`${agent}pull_requests: {trusted: [OWNER, ${name}]}`);
  expect(more).toEqual([]);
  expect(line).toMatch(/^ratchet\.yaml:2:\d+: pull_requests\.trusted\[1\]: expected an association/);
  expect(line).toContain(`hint: did you mean ${meant}? A login of that name is written "@${name}"`);
});

test("trusted takes associations, logins and @logins", () => {
  const names = 'OWNER, CONTRIBUTOR, NONE, jo, nine, "coderabbitai[bot]", "@member"';
  expect(said(`${agent}pull_requests: {trusted: [${names}]}`)).toEqual([]);
});
