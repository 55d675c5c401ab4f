import { describe, expect, it } from "vitest";
import { emptyLedger, raise } from "../ledger/ledger.js";
import type { IssueStart } from "../run/effects.js";
import { policyOf, type Rules, remark, snapshot, start, World } from "./fixture.js";

type Seen = NonNullable<IssueStart["seen"]>;

describe("A8 a gate that fails on the tree that the review has blocked, behind an objection that changes nothing", () => {
  const reviewed = { tree: "t1", filesTree: "t1", reviewed: "t1" };
  const visit = { stage: "per_issue_review", source: "review", reviewer: "command", outcome: "fail" } as const;
  const from = { ...visit, visit: 1, at: 1, commit: "c1", runId: "run-1", remarks: [remark("Wrong", 1)] };
  const { ledger } = raise(emptyLedger("p-1"), from);
  const blocking = ledger.findings.map(({ id }) => id);
  const rejected = blocking.map((id) => ({ id, reason: "not so" }));
  const unchanged = () => ({ snapshot: snapshot(1), rejected });

  const resume = (seen: Seen, rules: Rules = {}) => {
    const earlier = { runId: "run-1", sessionId: "old", blocking, baseSha: "c0", seen };
    const world = new World(policyOf({ review: {} }), { ...start, life: 2, resume: earlier }, ledger);
    return world.play({
      implement: ({ prompt }) => (prompt === "gate_followup" ? { snapshot: snapshot(2) } : unchanged()),
      command: (_, n) => ({ exitCode: n <= 2 ? 1 : 0 }),
      ...rules,
    });
  };
  const prompts = (world: World) =>
    world.turns().map(({ prompt, attempt, maxAttempts }) => `${prompt} ${attempt}/${maxAttempts}`);

  it.each<[string, Seen]>([
    ["it has not failed on it before", { ...reviewed, by: "review" }],
    ["an older record does not say so", reviewed],
  ])("sends its findings back where %s, and the review answers the objection", (_why, seen) => {
    const world = resume(seen);
    expect(prompts(world)).toEqual(["review_followup 1/3", "gate_followup 2/3", "review 1/3"]);
    expect(world.finished()).toMatchObject({ status: "success", commit: "c2" });
    expect(world.life.ledger.findings[0]).toMatchObject({ status: "resolved", reason: "rejected: not so" });
  });

  it("is no progress at its second failure on it, and the objection waits for the next review", () => {
    const world = resume(reviewed, { implement: unchanged, command: () => ({ exitCode: 1 }) });
    expect(prompts(world)).toEqual(["review_followup 1/3", "gate_followup 2/3"]);
    expect(world.finished()).toMatchObject({ error: "no_progress", seen: { ...reviewed, by: "gate" } });
    expect(world.finished()?.message).toContain("the gate saw the same tree again");
    expect(world.life.ledger.findings[0]).toMatchObject({ status: "open", rejected: "not so" });
  });

  it("is no progress at once in a life after that", () => {
    const world = resume({ ...reviewed, by: "gate" });
    expect(prompts(world)).toEqual(["review_followup 1/3"]);
    expect(world.finished()).toMatchObject({ error: "no_progress" });
  });

  it("leaves it to the review where it passes on the same tree the second time", () => {
    const world = resume(reviewed, { implement: unchanged });
    expect(world.reported("review-started")).toHaveLength(1);
    expect(world.finished()).toMatchObject({ status: "success", commit: "c1" });
  });
});
