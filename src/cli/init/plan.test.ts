import { expect, test } from "vitest";
import { checkConfigText } from "../../config/check.js";
import { formatDiagnostic } from "../../config/diagnostic.js";
import { triggerNames } from "../../config/rules.js";
import type { Settings } from "../../core/settings.js";
import { type Answers, defaultAnswers, defaultReview, defaultTrigger, type Found } from "./answers.js";
import { planConfig } from "./plan.js";
import { renderConfig } from "./render.js";
import { readStacks } from "./stacks.js";

const scripts = { test: "vitest", lint: "biome", build: "tsc" };
const found: Found = {
  ...readStacks({ "package.json": JSON.stringify({ scripts }), "package-lock.json": "" }),
  agents: [],
  reviewers: [{ type: "command", missing: null }],
  triggers: triggerNames,
  triggerReviews: true,
};
const answers = defaultAnswers(found);

/** Triggers are checked by shape and rules here, whether or not this version can run them. */
function check(text: string): Settings {
  const flags = { disableValidations: triggerNames };
  const machine = { cores: 4, freeMemoryBytes: 8e9 };
  const checked = checkConfigText(text, "ratchet.yaml", { dir: "/p", env: {}, flags, machine });
  if (!checked.ok) throw new Error(checked.diagnostics.map(formatDiagnostic).join("\n"));
  expect(checked.warnings).toEqual([]);
  return checked.settings;
}
const render = (patch: Partial<Answers> = {}) => renderConfig(planConfig({ ...answers, ...patch }, found));

test("what is found becomes a short file that says what everything is for", () => {
  expect(
    render(),
  ).toBe(`# What Ratchet does in this repository. \`ratchet config check\` reads it over; every setting is in
# \`ratchet config schema\`.

# A set of commands to start from; those below add to it, and null switches one off.
preset: node-npm

# Run by \`sh -c\` in an issue's own checkout; \`setup\` once in each new one.
commands:
  format: null # package.json has no script format
  typecheck: null # package.json has no script typecheck

# The commands that must pass on the exact commit before an issue is done.
evidence_check:
  required: [test, lint]

# Who implements the issues: any program. It is started in the issue's checkout with the prompt on stdin
# and commits its work; exit 0 says that it is done.
# my-agent stands for yours: put it here before the first run.
agent:
  type: command
  command: [my-agent]
`);
});

const review = {
  ...defaultReview("command", answers.agent),
  command: ["rev", "a b"],
  maxRetries: 0,
  threshold: "P2",
} as const;
test.each<[string, Partial<Answers>, object]>([
  ["what is found", {}, { preset: "node-npm", evidence_check: { required: ["test", "lint"] } }],
  ["no preset and nothing else", { preset: null, commands: {}, required: [] }, { preset: null, commands: {} }],
  [
    "commands of one's own",
    { preset: null, commands: { test: 'sh -c "a: b" # no', "e2e:all": "make e2e" }, required: ["e2e:all"] },
    {
      commands: { test: { command: 'sh -c "a: b" # no' }, "e2e:all": { command: "make e2e" } },
      evidence_check: { required: ["e2e:all"] },
    },
  ],
  [
    "names and lines that look like something else in YAML",
    { preset: null, commands: { "1": "true", null: "null", yes: "- x", constructor: "'" }, required: [] },
    {
      commands: {
        "1": { command: "true" },
        null: { command: "null" },
        yes: { command: "- x" },
        constructor: { command: "'" },
      },
    },
  ],
  [
    "another line for a preset's command",
    { commands: { test: "make test" } },
    { commands: { test: { command: "make test" } } },
  ],
  [
    "an agent with odd arguments",
    { agent: { type: "command", command: ["./agent", "", "{x}", "#", "ä\n"] } },
    { agent: { type: "command", command: ["./agent", "", "{x}", "#", "ä\n"] } },
  ],
  [
    "a review",
    { review },
    {
      per_issue_review: {
        enabled: true,
        reviewer_type: "command",
        command: ["rev", "a b"],
        max_retries: 0,
        finding_threshold: "P2",
      },
    },
  ],
])("%s passes the check", (_, patch, settings) => {
  const text = render({ required: patch.commands ? [] : answers.required, ...patch });
  expect(check(text)).toMatchObject(settings);
});

test("an agent that reviews is named", () => {
  const text = render({ review: { ...review, type: "agent_sdk", agent: { type: "codex", command: [] } } });
  expect(check(text).per_issue_review).toMatchObject({
    reviewer_type: "agent_sdk",
    agent_sdk_agent: { type: "codex" },
  });
});

test("a panel is written with its members", () => {
  const agent = { type: "acp", command: ["gemini", "--acp"] } as const;
  const members = [
    { name: "gemini", type: "agent_sdk", command: [], agent },
    { name: "style", type: "command", command: ["rev", "a b"], agent },
    { name: "cerberus", type: "cerberus", command: [], agent },
  ] as const;
  const text = render({ review: { ...review, type: "panel", members } });
  check(text);
  expect(text.slice(text.indexOf("per_issue_review:"))).toBe(`per_issue_review:
  enabled: true
  reviewer_type: panel
  panel:
    - name: gemini
      reviewer_type: agent_sdk
      agent_sdk_agent:
        type: acp
        command: [gemini, --acp]
    - name: style
      reviewer_type: command
      command: [rev, a b]
    - name: cerberus
      reviewer_type: cerberus
  max_retries: 0 # rounds of review an issue gets
  finding_threshold: P2 # P2 and worse block
`);
});

test("B9 a declined review leaves no key", () => {
  expect(render({ review: null })).not.toContain("per_issue_review");
});

test("triggers are written as chosen", () => {
  const [first, second, third, last] = triggerNames.map((name) => defaultTrigger(name, ["test"]));
  if (!first || !second || !third || !last) throw new Error("there are four triggers");
  const triggers = [
    { ...first, failureMode: "remediate", maxRetries: 2, codeReview: true } as const,
    { ...second, fireOn: "both", epicDepth: "all" } as const,
    { ...third, failureMode: "abort" } as const,
    { ...last, interval: 7 },
  ];
  const text = render({ review, triggers });
  check(text);
  expect(text.slice(text.indexOf("validation_triggers"))).toBe(`validation_triggers:
  session_end:
    failure_mode: remediate
    max_retries: 2
    commands: [test]
    code_review:
      enabled: true
  epic_completion:
    fire_on: both
    epic_depth: all
    failure_mode: continue
    commands: [test]
  run_end:
    fire_on: success
    failure_mode: abort
    commands: [test]
  periodic:
    interval: 7
    failure_mode: continue
    commands: [test]
`);
});

test("a trigger that would do nothing is not written, nor its review without a reviewer", () => {
  const triggers = [{ ...defaultTrigger("run_end", []), codeReview: true }];
  expect(render({ triggers })).not.toContain("validation_triggers");
});
