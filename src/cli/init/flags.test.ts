import { expect, test } from "vitest";
import { UserError } from "../../lib/errors.js";
import { type Answers, type Found, placeholderAgent } from "./answers.js";
import { type InitFlags, readFlags } from "./flags.js";
import { readStacks } from "./stacks.js";

const scripts = { test: "vitest" };
const found: Found = {
  ...readStacks({ "package.json": JSON.stringify({ scripts }), "package-lock.json": "", "go.mod": "" }),
  agents: [
    { program: "claude", type: "claude", command: [], isOnPath: true, isAvailable: false },
    { program: "gemini", type: "acp", command: ["gemini", "--acp"], isOnPath: false, isAvailable: false },
  ],
  reviewers: [{ type: "command", missing: null }],
  namesReviewingAgent: false,
  triggers: [],
  triggerReviews: false,
};

test.each<[InitFlags, readonly string[], Partial<Answers>]>([
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
])("%j answers %j", (flags, topics, answers) => {
  const given = readFlags(flags, found);
  expect([...given.topics]).toEqual(topics);
  expect(given.answers).toMatchObject(answers);
});

test("a trigger is named with its commands", () => {
  const { answers } = readFlags({ trigger: ["session_end=test,lint", "periodic"] }, found);
  expect(answers.triggers).toMatchObject([
    { name: "session_end", commands: ["test", "lint"] },
    { name: "periodic", commands: [] },
  ]);
});

test.each<[InitFlags, string]>([
  [{ preset: "java" }, "--preset java is not one of node-npm, python-uv, go, rust, none"],
  [{ agent: "cluade" }, "--agent cluade is not one of claude, gemini, command"],
  [{ agent: "command" }, "--agent command does not say which program"],
  [{ agentCommand: " " }, '--agent-command " ": a program is needed'],
  [{ agentCommand: "a 'b" }, `--agent-command "a 'b": a quote is not closed`],
  [{ command: ["=x"] }, "--command =x is not a name and a command line"],
  [{ review: "panel" }, "--review panel is not one of agent_sdk, cerberus, command, none"],
  [{ review: "command" }, "a review by a command needs the program"],
  [{ maxRetries: "2" }, "a review by a command needs the program"],
  [{ reviewCommand: "r", maxRetries: "two" }, "--max-retries two is not a whole number of 0 or more"],
  [{ reviewCommand: "r", findingThreshold: "P4" }, "--finding-threshold P4 is not one of none, P0, P1, P2, P3"],
  [{ trigger: ["sesion_end=test"] }, "--trigger sesion_end=test does not name one of session_end"],
])("%j is refused", (flags, message) => {
  expect(() => readFlags(flags, found)).toThrow(UserError);
  expect(() => readFlags(flags, found)).toThrow(message);
});
