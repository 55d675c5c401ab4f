import { expect, it } from "vitest";
import { type Dossier, renderDossier } from "./dossier.js";
import { toFindingJson } from "./finding-json.js";
import { emptyLedger, raise } from "./ledger/ledger.js";

const raised = raise(emptyLedger("p-1"), {
  ...({ stage: "gate", source: "gate", reviewer: "test", outcome: "fail" } as const),
  ...{ visit: 1, at: 1, commit: null, runId: "r" },
  remarks: [{ file: "a.ts", line_start: 3, line_end: 4, priority: 1, title: "test failed", body: { text: "why" } }],
});
const findings = raised.ledger.findings.map((finding) => toFindingJson(finding, ({ text }) => text));
const other = { stage: "s", reviewer: "b", visit: 1, file: "a.ts", line_start: 5, line_end: 5, priority: 2 };
const dossier: Dossier = {
  issue_id: "p-1",
  title: "Fix it",
  run_id: "r",
  life: 1,
  reason: "budget: 5 of 5 USD",
  counters: { gate: 2, review: 1, session_end: 0 },
  attempts: [
    { folder: "01-implementer", role: "implementer", kind: "implementer", attempt: 1, max_attempts: 3, exit_code: 0 },
  ],
  open_findings: findings.map((one) => ({ ...one, also_reported: [{ ...other, title: "test is slow", body: "" }] })),
  diff_path: "/h/dossier.diff",
  prompts: ["/h/01-implementer/prompt.md"],
  cost: { input_tokens: 10, output_tokens: 5, cost_usd: 5, minutes: 1.25 },
  worktree_path: "/w/p-1",
  branch: "ratchet/p-1",
};

it("a dossier says why, what was tried, what is open, where everything is, what it cost and what to do", () => {
  const text = renderDossier(dossier);
  for (const part of [
    "# p-1: Fix it",
    "Escalated in run r: budget: 5 of 5 USD",
    "- 2 gates, 1 review round, 0 session_end executions",
    "- 01-implementer: implementer, 1 of 3, exit 0",
    "- P1 test failed (a.ts:3-4), by test. Also reported by b (a.ts:5, P2): test is slow",
    "- Diff: /h/dossier.diff",
    "- Prompt: /h/01-implementer/prompt.md",
    "5.00 USD, 10 tokens in, 5 out, 1.3 minutes",
    "`ratchet land p-1`",
  ])
    expect(text).toContain(part);
  const somewhere = findings.map((finding) => ({ ...finding, line_start: 0, line_end: 0 }));
  expect(renderDossier({ ...dossier, open_findings: somewhere })).toContain("- P1 test failed (a.ts), by test");
  const bare = renderDossier({
    ...dossier,
    open_findings: [],
    diff_path: null,
    cost: { ...dossier.cost, cost_usd: null },
  });
  for (const part of ["None.", "nothing was changed", "cost unknown"]) expect(bare).toContain(part);
});

it("what comes from outside is one plain line each, and a small amount is not nothing", () => {
  const foreign = "a\u001b[2Jb\u0007\r\nc";
  const text = renderDossier({
    ...dossier,
    title: foreign,
    reason: foreign,
    open_findings: findings.map((finding) => ({ ...finding, title: foreign, file: foreign, reviewers: [foreign] })),
    cost: { ...dossier.cost, cost_usd: 0.0004, minutes: 0.0023 },
  });
  const shown = "ab\u2407 c";
  for (const part of [`# p-1: ${shown}\n`, `run r: ${shown}\n`, `- P1 ${shown} (${shown}:3-4), by ${shown}\n`])
    expect(text).toContain(part);
  expect(text).toContain("0.0004 USD, 10 tokens in, 5 out, 0.002 minutes\n");
});
