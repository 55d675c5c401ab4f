import { describe, expect, it } from "vitest";
import type { Finding } from "../core/finding.js";
import { emptyLedger, raise, resolveStage } from "../core/ledger/ledger.js";
import type { IssueRecord, StoredReviewIssue } from "../core/record.js";
import { resumeFrom } from "./resume.js";

const command = { type: "command", workflow: null } as const;
const stored = (title: string, parts: Partial<StoredReviewIssue> = {}): StoredReviewIssue => ({
  file: "a.ts",
  line_start: 1,
  line_end: 1,
  priority: 1,
  title,
  body: "",
  reviewer: "command",
  ...parts,
});
// The parts that a resume reads.
const record = (parts: Partial<IssueRecord>) => ({ runId: "r", record: { agent: "command", ...parts } as IssueRecord });

function ledgerOf(...remarks: readonly StoredReviewIssue[]) {
  const visit = {
    stage: "per_issue_review",
    source: "review",
    reviewer: "command",
    outcome: "fail",
    visit: 1,
  } as const;
  const all = remarks.map((one) => ({ ...one, body: { text: one.body } }));
  return raise(emptyLedger("x"), { ...visit, at: 1, commit: null, runId: "r", remarks: all }).ledger;
}
function replayed(issues: readonly StoredReviewIssue[], ledger = ledgerOf(...issues)): Finding[] {
  const { blocking } = resumeFrom(record({ last_review_issues: issues }), ledger, command);
  return ledger.findings.filter(({ id }) => blocking.includes(id));
}

describe("what a record gives a resume", () => {
  it("is its session, where it is the same kind of agent's or nobody knows whose it is", () => {
    const session = (agent: string) =>
      resumeFrom(record({ agent, session_id: "s" }), emptyLedger("x"), command).sessionId;
    expect(["command", "", "claude"].map(session)).toEqual(["s", "s", null]);
    const other = resumeFrom(record({ agent: "claude", session_id: "s" }), emptyLedger("x"), command);
    expect(other.sessionOf).toBe("claude");
  });
  it("is a workflow's machine where a workflow still does the work, and no agent's session then", () => {
    const session = (id: string, workflow: string | null) =>
      resumeFrom(record({ session_id: id }), emptyLedger("x"), { type: "command", workflow }).sessionId;
    expect([session("workflow:m", "dev"), session("workflow:m", null), session("s", "dev")]).toEqual([
      "workflow:m",
      null,
      null,
    ]);
  });
  it("is the stored findings that are still open", () => {
    const [one, two] = [stored("One"), stored("Other thing", { file: "b.ts" })];
    expect(replayed([one, two]).map(({ title }) => title)).toEqual(["One", "Other thing"]);
    const ledger = resolveStage(ledgerOf(one, two), { stage: "per_issue_review", at: 2, commit: null }).ledger;
    expect(replayed([one, two], ledger)).toEqual([]);
  });
  it("is the one at its place, not another of the same name that was not stored", () => {
    const [first, second] = [stored("Same"), stored("Same", { line_start: 90, line_end: 91, priority: 2 })];
    expect(replayed([first], ledgerOf(first, second))).toMatchObject([{ line_start: 1, priority: 1 }]);
  });
  it("is found when the ledger tells it in the same words, otherwise spelt", () => {
    expect(replayed([stored("null  deref!", { file: "./a.ts" })], ledgerOf(stored("Null deref")))).toHaveLength(1);
  });
  it("starts from what has landed after a success, else from where it was", () => {
    const base = (status: IssueRecord["status"]) =>
      resumeFrom(record({ status, base_sha: "abc", seen: { tree: "t", filesTree: "t" } }), emptyLedger("x"), command);
    expect(base("failed")).toMatchObject({ baseSha: "abc", seen: { tree: "t" } });
    expect(base("success")).toMatchObject({ baseSha: null, seen: null });
    const bases = { review_base: "tip1", unmerged: "tip2" };
    const reviewed = (status: IssueRecord["status"]) => {
      const { reviewBase, unmerged } = resumeFrom(record({ status, ...bases }), emptyLedger("x"), command);
      return [reviewBase, unmerged];
    };
    expect([reviewed("failed"), reviewed("success")]).toEqual([
      ["tip1", "tip2"],
      [undefined, undefined],
    ]);
  });
});
