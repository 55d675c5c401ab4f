import { expect, it } from "vitest";
import { emptyLedger, raise } from "./ledger.js";
import { type LaterTrigger, settleOlder } from "./settle-older.js";

function older(source: "command" | "review") {
  const remark = { file: "a.ts", line_start: 1, line_end: 1, priority: 0, title: "Wrong", body: { text: "It is." } };
  const visit = { stage: "run_end", source, reviewer: "one", outcome: "fail", visit: 1, at: 1, commit: null } as const;
  const [finding] = raise(emptyLedger("r1"), { ...visit, runId: "r1", remarks: [remark] }).ledger.findings;
  if (!finding) throw new Error("nothing was raised");
  return finding;
}
const passed = [{ ref: "one", passed: true }];
const failed = [{ ref: "one", passed: false }];

it.each<["command" | "review", Partial<LaterTrigger> & { again?: true }, [string, string] | null]>([
  ["command", { results: passed }, ["resolved", "one passed in run r2"]],
  ["command", { results: failed }, ["superseded", "one failed again in run r2"]],
  ["command", { results: [], again: true }, ["superseded", "found again in run r2"]],
  ["command", { results: [{ ref: "two", passed: true }] }, null],
  ["review", { results: passed }, null],
  ["review", { again: true }, ["superseded", "found again in run r2"]],
  ["review", { found: ["another"] }, null],
])("what a %s found in an earlier run, after %j: %j", (source, { again, ...later }, expected) => {
  const finding = older(source);
  const how = settleOlder(finding, { runId: "r2", results: [], found: again ? [finding.id] : [], ...later });
  expect(how && [how.status, how.reason]).toEqual(expected);
});
