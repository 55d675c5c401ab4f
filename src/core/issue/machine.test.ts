import { describe, expect, it } from "vitest";
import { failWith, play, policyOf, type Rules, remark, type Setup, snapshot, start, World } from "./fixture.js";

describe("the main path", () => {
  it("B1 lands a commit that passed the gate, without a review where none is configured", () => {
    const world = play({});
    expect(world.finished()).toMatchObject({ status: "success", message: "No review required", commit: "c1" });
    expect(world.turns().map((turn) => turn.folder)).toEqual(["01-implementer"]);
    expect(world.commands()).toEqual(["gate:1:test", "gate:1:lint"]);
    expect(world.life.state.phase).toBe("done");
    expect(world.owed.size).toBe(0);
  });

  it("C1 goes gate, session_end, review, landing in this order", () => {
    const world = play({ review: {}, sessionEnd: {} });
    const told = world.reports
      .map((report) => report.type)
      .filter((type) => /gate|session|review|landed|finish/.test(type));
    expect(told).toEqual([
      "gate-started",
      "gate-passed",
      "session-end-started",
      "session-end-completed",
      "review-started",
      "review-ended",
      "landed",
      "issue-finished",
    ]);
    expect(world.finished()).toMatchObject({ status: "success", message: "Review passed" });
  });

  it("sends every gate finding back in one prompt and tries again", () => {
    const world = play({}, { command: (_, n) => ({ exitCode: n <= 2 ? 1 : 0 }) });
    expect(world.commands()).toEqual(["gate:1:test", "gate:1:lint", "gate:2:test", "gate:2:lint"]);
    expect(world.turns().map((turn) => [turn.folder, turn.attempt, turn.maxAttempts])).toEqual([
      ["01-implementer", 1, 3],
      ["03-gate_followup", 2, 3],
    ]);
    expect(world.reported("gate-failed")).toMatchObject([
      { attempt: 1, findings: 2, evidence: { test: false, lint: false } },
    ]);
    expect(world.reported("finding-resolved").map((report) => report.status)).toEqual(["resolved", "resolved"]);
    expect(world.finished()?.status).toBe("success");
  });

  it("A1 fails after three blocking rounds and stores the P0 alone", () => {
    const world = play(
      { review: {} },
      { review: () => failWith(remark("Null deref", 0), remark("Naming", 2, "b.ts")) },
    );
    expect(world.finished()).toMatchObject({ status: "failed", error: "review_failed" });
    const p0 = world.life.ledger.findings.find((finding) => finding.title === "Null deref");
    expect(world.finished()?.last_review_issues).toEqual([p0?.id]);
    expect(
      world
        .turns()
        .filter((turn) => turn.role === "implementer")
        .map((turn) => [turn.prompt, turn.attempt]),
    ).toEqual([
      ["implementer", 1],
      ["review_followup", 2],
      ["review_followup", 3],
    ]);
  });

  describe("a follow-up that leaves the tree as it was and rejects a finding", () => {
    const blocked = failWith(remark("Wrong", 1), remark("Naming", 2, "b.ts"));
    const answering = (review: NonNullable<Rules["review"]>, title = "Wrong", setup: Setup = {}) => {
      const world: World = new World(policyOf({ review: {}, ...setup }), start);
      const rejected = () =>
        world.life.ledger.findings.filter((one) => one.title === title).map(({ id }) => ({ id, reason: "not so" }));
      return world.play({ review, implement: () => ({ snapshot: snapshot(1), rejected: rejected() }) });
    };
    const rounds = (world: World) => world.reported("review-started").length;

    it("is reviewed again, on the same commit: a reviewer that drops it lets the work land", () => {
      let asked = 0;
      const world = answering(() => (asked++ === 0 ? blocked : {}));
      expect(world.finished()).toMatchObject({ status: "success", commit: "c1", counters: { review_attempts: 2 } });
      expect(world.life.ledger.findings[0]).toMatchObject({ status: "resolved", reason: "rejected: not so" });
    });

    it("A8 is no progress once the reviewer has insisted and it is only said again", () => {
      const world = answering(() => blocked);
      expect(world.finished()).toMatchObject({ status: "failed", error: "no_progress" });
      expect([rounds(world), world.finished()?.last_review_issues?.length]).toEqual([2, 1]);
    });

    it("counts as every other round", () => {
      let asked = 0;
      const world = answering(() => failWith(remark(`Wrong ${asked++}`, 1, `${asked}.ts`)), "Wrong 0", {
        review: { max_retries: 2 },
      });
      expect(world.finished()).toMatchObject({ status: "failed", error: "review_failed" });
      expect(rounds(world)).toBe(2);
    });

    it.each(["Naming", "Nothing of the kind"])("A8 is no progress where that does not block: %s", (title) => {
      const world = answering(() => blocked, title);
      expect(world.finished()).toMatchObject({ status: "failed", error: "no_progress" });
      expect(rounds(world)).toBe(1);
    });
  });

  it("A8 a follow-up that leaves the tree as it was is no progress, and no gate is run again", () => {
    const world = play(
      { review: {} },
      { review: () => failWith(remark("Wrong", 1)), implement: () => ({ snapshot: snapshot(1) }) },
    );
    expect(world.finished()).toMatchObject({ status: "failed", error: "no_progress" });
    expect(world.finished()?.last_review_issues).toHaveLength(1);
    expect(world.reported("gate-started")).toHaveLength(1);
  });
});
