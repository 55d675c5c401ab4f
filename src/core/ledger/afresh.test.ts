import { expect, test } from "vitest";
import type { Remark } from "../finding.js";
import { begunAfresh, closeAfresh } from "./afresh.js";
import { emptyLedger, raise, reject, settledFindings } from "./ledger.js";

const remark: Remark = { file: "a.ts", line_start: 1, line_end: 1, priority: 1, title: "Wrong", body: { text: "" } };
const visit = { stage: "per_issue_review", source: "review", reviewer: "r", outcome: "fail", commit: null } as const;

test("what was found is superseded, and an objection that nobody has answered settles nothing", () => {
  const raised = raise(emptyLedger("one"), { ...visit, visit: 1, at: 1, runId: "r0", remarks: [remark] }).ledger;
  const rejected = reject(raised, [{ id: raised.findings[0]?.id ?? "", reason: "It is right" }]).ledger;
  const findings = rejected.findings.map((one) => closeAfresh(one, 2));
  expect(findings).toMatchObject([{ status: "superseded", reason: begunAfresh, resolved_at: 2 }]);
  const ledger = { issueId: "one", findings };
  expect(settledFindings(ledger, "none")).toEqual([]);
  const again = raise(ledger, { ...visit, visit: 1, at: 3, runId: "r1", remarks: [remark] }).ledger;
  expect(again.findings).toMatchObject([{ status: "open", id: raised.findings[0]?.id }]);
});
