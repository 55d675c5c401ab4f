import { expect, test } from "vitest";
import { checkConfigText } from "../../config/check.js";
import { triggerNames } from "../../config/rules.js";
import { agentKinds } from "../../config/schema/agent.js";
import { availableKinds } from "./available.js";

const machine = { cores: 4, freeMemoryBytes: 8e9 };
const agent = { type: "command", command: ["a"], script: "s" };
/** JSON is YAML. */
function isFine(config: object): boolean {
  const text = JSON.stringify({ agent, commands: { test: "t" }, ...config });
  return checkConfigText(text, "ratchet.yaml", { dir: "/p", env: {}, flags: {}, machine }).ok;
}

const available = availableKinds();

test.each(agentKinds)("the agent %s is offered when the configuration takes it", (type) => {
  expect(available.agents.includes(type)).toBe(isFine({ agent: { type, command: ["a"], script: "s" } }));
});

test.each(agentKinds)("the agent %s is offered as a reviewer when the configuration takes it", (type) => {
  const section = { enabled: true, reviewer_type: "agent_sdk", agent_sdk_agent: { type, command: ["a"] } };
  expect(available.reviewingAgents.includes(type)).toBe(isFine({ per_issue_review: section }));
});

test.each(["agent_sdk", "cerberus", "command", "panel"] as const)(
  "the reviewer %s is offered when the configuration takes it",
  (reviewer_type) => {
    const panel = [{ reviewer_type: "command", command: ["r"] }];
    const agent_sdk_agent = { type: "command", command: ["a"] };
    const section = { enabled: true, reviewer_type, command: ["r"], agent_sdk_agent, panel };
    expect(available.reviewers.includes(reviewer_type)).toBe(isFine({ per_issue_review: section }));
  },
);

test.each(triggerNames)("the trigger %s is offered when the configuration takes it", (name) => {
  const section = { commands: ["test"], ...(name === "periodic" ? { interval: 5 } : {}) };
  expect(available.triggers.includes(name)).toBe(isFine({ validation_triggers: { [name]: section } }));
});

test("a program of one's own can always be agent and reviewer", () => {
  expect(available.agents).toContain("command");
  expect(available.reviewers).toContain("command");
});
