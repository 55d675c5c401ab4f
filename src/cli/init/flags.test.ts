import { expect, test } from "vitest";
import { UserError } from "../../lib/errors.js";
import { type Found, placeholderAgent } from "./answers.js";
import { readFlags } from "./flags.js";
import type { InitFlags } from "./read-flag.js";
import { readStacks } from "./stacks.js";

const scripts = { test: "vitest" };
const found: Found = {
  ...readStacks({ "package.json": JSON.stringify({ scripts }), "package-lock.json": "", "go.mod": "" }),
  agents: [
    { program: "claude", type: "claude", command: [], isOnPath: true, isAvailable: false, canReview: true },
    {
      program: "gemini",
      type: "acp",
      command: ["gemini", "--acp"],
      isOnPath: false,
      isAvailable: false,
      canReview: true,
    },
  ],
  reviewers: [{ type: "command", missing: null }],
  triggers: [],
  triggerReviews: false,
};

test.each<[InitFlags, string]>([
  [{ maxRetries: "2" }, "--max-retries does not say who reviews"],
  [{ findingThreshold: "P1" }, "--finding-threshold does not say who reviews"],
])("B9 --yes with %j adds no reviewer that nobody named, whoever is on PATH", (flags, message) => {
  const reviewers = (["agent_sdk", "cerberus", "command"] as const).map((type) => ({ type, missing: null }));
  expect(() => readFlags({ yes: true, ...flags }, { ...found, reviewers })).toThrow(message);
});

test.each<[InitFlags, readonly string[], object]>([
  [{}, [], { preset: "node-npm", agent: placeholderAgent, required: ["test"], review: null, triggers: [] }],
  [{ yes: true }, [], { review: null, triggers: [] }],
  [{ preset: "none" }, ["preset"], { preset: null, commands: {}, required: [] }],
  [{ preset: "go" }, ["preset"], { preset: "go", required: ["test", "format", "typecheck"] }],
  [{ agentCommand: "a 'b c'" }, ["agent"], { agent: { type: "command", command: ["a", "b c"] } }],
  [{ agent: "claude" }, ["agent"], { agent: { type: "claude", command: [] } }],
  [{ agent: "gemini" }, ["agent"], { agent: { type: "acp", command: ["gemini", "--acp"] } }],
  [
    { command: ["e2e=make e2e A=1", "setup=make"] },
    ["commands"],
    { commands: { setup: "make", test: "npm test", e2e: "make e2e A=1" }, required: ["test", "e2e"] },
  ],
  [{ required: "lint, test,lint" }, ["evidence"], { required: ["lint", "test"] }],
  [{ required: "none" }, ["evidence"], { required: [] }],
  [
    { reviewCommand: "rev -x" },
    ["review"],
    { review: { type: "command", command: ["rev", "-x"], maxRetries: 3, threshold: "none" } },
  ],
  [
    { review: "cerberus", maxRetries: "0", findingThreshold: "P3" },
    ["review"],
    { review: { type: "cerberus", command: [], maxRetries: 0, threshold: "P3" } },
  ],
  [{ review: "none" }, ["review"], { review: null }],
  [{ reviewAgent: "gemini" }, ["review"], { review: { type: "agent_sdk", agent: { type: "acp" } } }],
  [
    { reviewAgent: "command", reviewCommand: "a b" },
    ["review"],
    { review: { type: "agent_sdk", agent: { type: "command", command: ["a", "b"] } } },
  ],
  [
    { review: "agent_sdk", agent: "codex" },
    ["agent", "review"],
    { review: { agent: { type: "claude", command: [] } } },
  ],
  [
    { reviewMember: ["sec=agent_sdk:gemini", "command:./my=rev.sh -c a:b", "agent_sdk", "cerberus"], agent: "pi" },
    ["agent", "review"],
    {
      review: {
        type: "panel",
        members: [
          { name: "sec", type: "agent_sdk", agent: { type: "acp", command: ["gemini", "--acp"] } },
          { name: "my-rev", type: "command", command: ["./my=rev.sh", "-c", "a:b"] },
          { name: "claude", type: "agent_sdk", agent: { type: "claude" } },
          { name: "cerberus", type: "cerberus" },
        ],
      },
    },
  ],
  [
    {
      trigger: ["run_end=test", "epic_completion=test", "periodic=test"],
      triggerOption: [
        "run_end.fire_on=both",
        "epic_completion.epic_depth=all",
        "epic_completion.failure_mode=remediate",
        "epic_completion.max_retries=2",
        "periodic.interval=7",
        "periodic.code_review=true",
      ],
    },
    ["triggers"],
    {
      triggers: [
        { name: "run_end", fireOn: "both" },
        { name: "epic_completion", epicDepth: "all", failureMode: "remediate", maxRetries: 2 },
        { name: "periodic", interval: 7, codeReview: true },
      ],
    },
  ],
])("%j answers %j", (flags, topics, answers) => {
  const given = readFlags(flags, found);
  expect([...given.topics]).toEqual(topics);
  expect(given.answers).toMatchObject(answers);
});

test("a trigger is named with its commands, or has a review", () => {
  const trigger = ["session_end=test,lint", "periodic"];
  const { answers } = readFlags({ trigger, triggerOption: ["periodic.code_review=true"] }, found);
  expect(answers.triggers).toMatchObject([
    { name: "session_end", commands: ["test", "lint"], codeReview: false },
    { name: "periodic", commands: [], codeReview: true },
  ]);
});

test.each<[InitFlags, string]>([
  [{ preset: "java" }, "--preset java is not one of node-npm, python-uv, go, rust, none"],
  [{ agent: "cluade" }, "--agent cluade is not one of claude, gemini, command"],
  [{ agent: "command" }, "--agent command does not say which program"],
  [{ agentCommand: " " }, '--agent-command " ": a program is needed'],
  [{ agentCommand: "a 'b" }, `--agent-command "a 'b": a quote is not closed`],
  [{ command: ["=x"] }, "--command =x is not a name and a command line"],
  [{ review: "panels" }, "--review panels is not one of agent_sdk, cerberus, command, panel, none"],
  [{ review: "panel" }, "a panel needs its members"],
  [{ review: "none", maxRetries: "2" }, "--max-retries has no effect with --review none"],
  [{ review: "none", findingThreshold: "P1" }, "--finding-threshold has no effect with --review none"],
  [{ review: "none", reviewAgent: "claude" }, "--review-agent has no effect with --review none"],
  [{ reviewMember: ["x=panel"] }, "--review-member x=panel does not name one of agent_sdk, cerberus, command"],
  [{ reviewMember: ["a=command:"] }, '--review-member "a=command:": a program is needed'],
  [{ reviewMember: ["x=command"] }, "--review-member x=command does not say which program"],
  [{ reviewMember: ["x=agent_sdk:nobody"] }, "--review-member nobody is not one of claude, gemini, command"],
  [{ reviewMember: ["x=agent_sdk:command"] }, "--review-member x=agent_sdk:command does not say which program"],
  [{ review: "cerberus", reviewAgent: "claude" }, "--review-agent has no effect with a review by cerberus"],
  [{ reviewAgent: "claude", reviewCommand: "x" }, "--review-command has no effect with a review by agent_sdk"],
  [{ reviewAgent: "command" }, "a review by an agent that is a command needs the program"],
  [{ triggerOption: ["run_end.fire_on=both"] }, "there is no --trigger run_end"],
  [
    { trigger: ["run_end=a"], triggerOption: ["run_end.fire_on=no"] },
    "fire_on no is not one of success, failure, both",
  ],
  [{ trigger: ["run_end=a"], triggerOption: ["run_end.interval=5"] }, "interval belongs to periodic"],
  [{ trigger: ["run_end=a"], triggerOption: ["run_end.colour=5"] }, "does not name one of failure_mode"],
  [{ trigger: ["run_end"] }, "--trigger run_end has no effect: it names no commands, and no review"],
  [{ trigger: ["run_end="], triggerOption: ["run_end.failure_mode=abort"] }, "--trigger run_end has no effect"],
  [{ trigger: ["run_end=a"], triggerOption: ["run_end.max_retries=2"] }, "max_retries of run_end has no effect"],
  [{ trigger: ["periodic=a"], triggerOption: ["periodic.interval=0"] }, "0 is not a whole number of 1 or more"],
  [{ review: "command" }, "a review by a command needs the program"],
  [{ reviewCommand: "r", maxRetries: "two" }, "--max-retries two is not a whole number of 0 or more"],
  [{ reviewCommand: "r", findingThreshold: "P4" }, "--finding-threshold P4 is not one of none, P0, P1, P2, P3"],
  [{ trigger: ["sesion_end=test"] }, "--trigger sesion_end=test does not name one of session_end"],
])("%j is refused", (flags, message) => {
  expect(() => readFlags(flags, found)).toThrow(UserError);
  expect(() => readFlags(flags, found)).toThrow(message);
});
