import { expect, test } from "vitest";
import { checkConfigText } from "./check.js";
import { formatDiagnostic } from "./diagnostic.js";

const agent = "agent: {type: command, command: [my-agent]}\n";
const context = { dir: "/project", env: {}, flags: {}, machine: { cores: 4, freeMemoryBytes: 8e9 } };

function errors(text: string): string[] {
  const checked = checkConfigText(text, "ratchet.yaml", context);
  return checked.ok ? [] : checked.diagnostics.map((one) => formatDiagnostic(one).split("\n")[0] ?? "");
}

const on = "per_issue_review: {enabled: true, reviewer_type:";
test("another database is refused where it is named", () => {
  const message = "2:14: store.url: another database is not available yet";
  expect(errors(`${agent}store: {url: "postgres://h/d"}`)).toEqual([`ratchet.yaml:${message}`]);
});

test.each([
  `${on} agent_sdk, agent_sdk_agent: {type: codex}}`,
  `${on} agent_sdk}`,
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
  `${on} agent_sdk, agent_sdk_agent: {type: command, command: [r]}}`,
  `${on} panel, panel: [{reviewer_type: cerberus}]}`,
  "finalize: {mode: branch}",
  "finalize: {mode: pr}\nforge: {repo: a/b}\npull_requests: {max_rework_cycles: 0}",
  "tracker: {type: github}",
  "convergence: {same_failure: 2}",
  `${on} command, command: [r], track_review_issues: true}`,
  `${on} panel, panel: [{reviewer_type: command, command: [r]}]}`,
])("nothing is refused that is not used: %s", (text) => {
  expect(errors(agent + text)).toEqual([]);
});
