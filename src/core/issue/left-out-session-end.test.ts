import { expect, it } from "vitest";
import { emptyLedger, raise } from "../ledger/ledger.js";
import { policyOf, remark, review, type Setup, start, World } from "./fixture.js";

const visit = { stage: "session_end", source: "review", reviewer: "command", outcome: "fail", visit: 1 } as const;

it.each([
  [true, "tracked as p-7"],
  [false, "session_end: no longer checked"],
])("what a session_end has found that a flag leaves out is tracked if it tracks (%s)", (tracks, reason) => {
  const code_review = { ...review, track_review_issues: tracks };
  const { session_end } = policyOf({ sessionEnd: { code_review } }).settings.validation_triggers;
  const flagged: Setup = session_end ? { settings: { left_out_session_end: session_end } } : {};
  const remarks = [remark("Naming", 2)];
  const { ledger } = raise(emptyLedger("p-1"), { ...visit, at: 1, commit: "c9", runId: "run-1", remarks });
  const world = new World(policyOf(flagged), { ...start, life: 2 }, ledger).play({ tracker: () => ({ id: "p-7" }) });
  expect(world.finished()?.status).toBe("success");
  expect(world.life.ledger.findings).toMatchObject([{ status: "waived", reason }]);
});
