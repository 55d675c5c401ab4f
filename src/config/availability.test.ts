import { expect, test } from "vitest";
import { checkConfigText } from "./check.js";
import { formatDiagnostic } from "./diagnostic.js";

const agent = "agent: {type: command, command: [my-agent]}\n";
const context = { dir: "/project", env: {}, flags: {}, machine: { cores: 4, freeMemoryBytes: 8e9 } };

function errors(text: string, disableValidations: string[] = []): string[] {
  const checked = checkConfigText(text, "ratchet.yaml", { ...context, flags: { disableValidations } });
  return checked.ok ? [] : checked.diagnostics.map((one) => formatDiagnostic(one).split("\n")[0] ?? "");
}

const on = "per_issue_review: {enabled: true, reviewer_type:";
test.each([
  ["agent: {type: claude}", "1:15: agent.type: claude is not available yet"],
  ["agent: {type: acp}", "1:15: agent.type: acp is not available yet"],
  ["max_issues: 1", "1:1: agent.type: claude (the default) is not available yet"],
  [
    "agent: {type: command, command: [a], workflow: w}",
    "1:48: agent.workflow: a workflow as the agent is not available yet",
  ],
  ["agent: {type: command, command: [a], sandbox: bwrap}", "1:47: agent.sandbox: bwrap is not available yet"],
  ["agent: {type: command, command: [a], fallback: x}", "1:48: agent.fallback: a fallback agent is not available yet"],
  [`${agent}tracker: {type: github}`, "2:17: tracker.type: github is not available yet"],
  [`${agent}finalize: {mode: pr}`, "2:18: finalize.mode: pr is not available yet"],
  [
    `${agent}${on} agent_sdk}`,
    "2:50: per_issue_review.reviewer_type: agent_sdk without agent_sdk_agent, which means claude, is not available yet",
  ],
  [
    `${agent}${on} agent_sdk, agent_sdk_agent: {type: codex}}`,
    "2:85: per_issue_review.agent_sdk_agent.type: codex is not available yet",
  ],
  [
    `${agent}${on} panel, panel: [{reviewer_type: agent_sdk, agent_sdk_agent: {type: pi}}]}`,
    "2:116: per_issue_review.panel[0].agent_sdk_agent.type: pi is not available yet",
  ],
  [`${agent}pull_requests: {}`, "2:16: pull_requests: the pull-request loop is not available yet"],
  [`${agent}forge: {repo: a/b}`, "2:8: forge: a forge is not available yet"],
  [`${agent}store: {url: "postgres://h/d"}`, "2:14: store.url: another database is not available yet"],
])("%s", (text, message) => {
  expect(errors(text)).toEqual([`ratchet.yaml:${message}`]);
});

test.each([
  "per_issue_review: {enabled: false, reviewer_type: agent_sdk, agent_sdk_agent: {type: codex}}",
  "per_issue_review: {panel: [{reviewer_type: cerberus}]}",
  "validation_triggers: {}",
  "validation_triggers: {run_end: null}",
  "commands: {a: x}\nvalidation_triggers: {session_end: {commands: [a]}, run_end: {commands: [a]}}",
  "budgets: {issue: {usd: 5, tokens: 1000}, run: {minutes: 0.5}}",
  "store: {url: null}",
  "tracker: {type: local}",
  "tracker: {type: beads}",
  "commands: {a: x}\ntracker: {type: beads}\nvalidation_triggers: {epic_completion: {commands: [a]}}",
  "per_issue_review: {enabled: true}",
  `${on} agent_sdk, agent_sdk_agent: {type: command}}`,
  `${on} panel, panel: [{reviewer_type: cerberus}]}`,
  "finalize: {mode: branch}",
  `${on} command, command: [r], track_review_issues: true}`,
  `${on} panel, panel: [{reviewer_type: command, command: [r]}]}`,
])("nothing is refused that is not used: %s", (text) => {
  expect(errors(agent + text)).toEqual([]);
});

test("what the command line switches off is not used", () => {
  const text = `${agent}${on} agent_sdk, agent_sdk_agent: {type: codex}}`;
  expect(errors(text, ["review", "run_end"])).toEqual([]);
  expect(errors(text, ["run_end"])).toHaveLength(1);
});
