import { describe, expect, it } from "vitest";
import { emptyLedger, openFindings, raise } from "../ledger/ledger.js";
import type { TurnEffect } from "./effects.js";
import type { TurnEnded } from "./events.js";
import {
  failWith,
  noVerdict,
  panelOf,
  pass,
  play,
  policyOf,
  type Rules,
  remark,
  review,
  snapshot,
  start,
  World,
} from "./fixture.js";

const p0 = remark("Null deref", 0);
const resumed = { runId: "run-1", sessionId: "old", baseSha: "c0", seen: null };
const raised = raise(emptyLedger("p-1"), {
  ...{ stage: "per_issue_review", source: "review", reviewer: "command", outcome: "fail", visit: 2 },
  ...{ at: 1, commit: "c9", runId: "run-1", remarks: [p0] },
}).ledger;
const slots = (world: World) =>
  world
    .turns()
    .filter((turn) => turn.role === "reviewer")
    .map((turn) => turn.key);
const stored = (world: World) => {
  const ids = world.finished()?.last_review_issues ?? [];
  return world.life.ledger.findings.filter((finding) => ids.includes(finding.id)).map((finding) => finding.title);
};

describe("a verdict", () => {
  it.each<[string, ReturnType<NonNullable<Rules["review"]>>, string]>([
    [
      "pass with a blocking finding is a fail",
      { review: { type: "verdict", verdict: "pass", findings: [p0] } },
      "review_failed",
    ],
    ["fail without a finding is a protocol failure", failWith(), "review_unavailable"],
    ["no verdict is a protocol failure", { review: null }, "review_unavailable"],
    ["a crash is a protocol failure", { outcome: { type: "failed", reason: "exit 9" } }, "review_unavailable"],
    ["A8 a reviewer that is lost for good is never a pass", { outcome: { type: "lost" } }, "review_unavailable"],
    ["A8 an interrupted one neither", { outcome: { type: "stopped" } }, "review_unavailable"],
  ])("%s", (_, answer, error) => {
    const world = play({ review: { max_retries: 1 } }, { review: () => answer });
    expect(world.finished()).toMatchObject({ status: "failed", error });
  });

  it("fail with only findings below the threshold is a pass; they are tracked and waived", () => {
    const world = play(
      { review: {} },
      { review: () => failWith(remark("Naming", 2), remark("Odd", null, "b.ts")), tracker: () => ({ id: "p-7" }) },
    );
    expect(world.finished()).toMatchObject({ status: "success", last_review_issues: null });
    expect(world.history.find((effect) => effect.kind === "tracker" && effect.op === "follow-up")).toMatchObject({
      findings: world.life.ledger.findings.map((finding) => finding.id),
    });
    expect(world.life.ledger.findings.map((finding) => finding.reason)).toEqual(["tracked as p-7", "tracked as p-7"]);
  });

  it("B8 without track_review_issues they are waived as below the threshold", () => {
    const world = play({ review: { track_review_issues: false } }, { review: () => failWith(remark("Naming", 2)) });
    expect(world.life.ledger.findings.map((finding) => finding.reason)).toEqual(["below threshold"]);
    expect(world.history.some((effect) => effect.kind === "tracker" && effect.op === "follow-up")).toBe(false);
  });

  it.each([
    ["in the same life", 2, null],
    ["in a resumed one", 1, "resumed"],
    ["in a life begun anew", 1, "anew"],
  ])("B3 what it has found is not settled by ISSUE_DOCS_ONLY, %s", (_, rounds, carried) => {
    const docs = { name: "DOCS_ONLY", rationale: "just docs" } as const;
    const blocking = raised.findings.map(({ id }) => id);
    const begin = carried === "resumed" ? { ...start, resume: { ...resumed, blocking } } : start;
    const world = new World(policyOf({ review: { max_retries: 2 } }), begin, carried === null ? undefined : raised);
    world.play({
      implement: ({ prompt }, n) => ({
        snapshot: snapshot(n, { docsOnly: true }),
        marker: prompt === "review_followup" || carried !== null ? docs : null,
      }),
      review: (_effect, n) => (n < rounds ? failWith(p0) : pass),
    });
    expect(world.reported("review-started")).toHaveLength(rounds);
    expect(world.finished()).toMatchObject({ status: "success", message: "Review passed" });
    expect(world.life.ledger.findings).toMatchObject([{ status: "resolved" }]);
  });

  it("what it found in work that does not land is neither tracked nor called below the threshold", () => {
    const none = { name: "NO_CHANGE", rationale: "not needed" } as const;
    const world = play(
      { review: {} },
      {
        implement: (_effect, n) => (n === 1 ? {} : { marker: none, snapshot: snapshot(0) }),
        review: () => failWith(p0),
      },
    );
    expect(world.finished()).toMatchObject({ status: "success", commit: null });
    expect(world.life.ledger.findings).toMatchObject([{ status: "waived", reason: "nothing landed" }]);
    expect(world.history.some((effect) => effect.kind === "tracker" && effect.op === "follow-up")).toBe(false);
  });

  it.each([
    ["none", 1, true],
    ["none", 2, false],
    ["P2", 2, true],
    ["P2", 3, false],
    ["P0", 0, true],
    ["P0", 1, false],
  ] as const)(
    "B8 threshold %s: a P%i blocks: %s, and what blocks is what is stored",
    (finding_threshold, priority, blocks) => {
      const world = play(
        { review: { finding_threshold, max_retries: 1 } },
        { review: () => failWith(remark("It", priority)) },
      );
      expect(world.finished()?.status).toBe(blocks ? "failed" : "success");
      expect(stored(world)).toEqual(blocks ? ["It"] : []);
    },
  );
});

it("a pull request that one of a panel objects to is not approved by the others, whichever section has the panel", () => {
  const item = { source: "code_review", issueId: "p-1", prNumber: 1, cycle: 0, session: null } as const;
  const code_review = { ...review, ...panelOf("x", "y") };
  const world = play(
    { item, sessionEnd: { code_review } },
    { review: ({ slot }) => (slot === "x" ? failWith(p0) : pass) },
  );
  expect(world.finished()?.message).toBe("Changes requested");
  expect(openFindings(world.life.ledger)).toMatchObject([{ title: "Null deref", stage: "per_issue_review/x" }]);
});

describe("what is stored for resume", () => {
  it("A5 the last review passed and the session died later: nothing", () => {
    const world = play({ review: {} }, { land: () => ({ type: "refused", reason: "protected" }) });
    expect(world.finished()).toMatchObject({ status: "failed", error: "landing_failed", last_review_issues: null });
  });

  it("A5 the review failed, then the gate for good: its findings are still true", () => {
    const world = play(
      { review: {} },
      { review: () => failWith(p0), command: (effect) => ({ exitCode: effect.key.startsWith("gate:1") ? 0 : 1 }) },
    );
    expect(world.finished()?.error).toBe("gate_failed");
    expect(stored(world)).toEqual(["Null deref"]);
  });

  it("A6 only the new set, no accumulation", () => {
    const names = ["Alpha is wrong", "Bravo leaks", "Charlie hangs"];
    const world = play({ review: {} }, { review: (_, n) => failWith(remark(names[n - 1] ?? "", 0, `${n}.ts`)) });
    expect(stored(world)).toEqual(["Charlie hangs"]);
    expect(world.life.ledger.findings.map((finding) => finding.status)).toEqual(["superseded", "superseded", "open"]);
  });
});

describe("rounds", () => {
  it.each([[0], [1]])("max_retries %i: one review, no fix turn", (max_retries) => {
    const world = play({ review: { max_retries } }, { review: () => failWith(p0) });
    expect(world.turns()).toHaveLength(2);
    expect(world.finished()).toMatchObject({ error: "review_failed", counters: { review_attempts: 1 } });
  });

  it("a protocol failure runs the reviewer again, not the agent, and uses no round", () => {
    const world = play({ review: {} }, { review: (_, n) => (n <= 2 ? noVerdict : pass) });
    expect(slots(world)).toEqual([
      "review:command:round-1:try-1",
      "review:command:round-1:try-2",
      "review:command:round-1:try-3",
    ]);
    expect(world.finished()).toMatchObject({ status: "success", counters: { review_attempts: 1 } });
    expect(openFindings(world.life.ledger)).toEqual([]);
  });

  it("in a panel all run at once on the same commit; one fix turn gets the union; then those that blocked, then the rest", () => {
    const rule = (turn: TurnEffect) =>
      turn.slot !== "style" && turn.attempt === 1
        ? failWith(remark(`${turn.slot} is wrong`, 0, `${turn.slot}.ts`))
        : pass;
    const world = play({ review: panelOf("security", "perf", "style") }, { review: rule });
    expect(slots(world)).toEqual([
      "review:security:round-1:try-1",
      "review:perf:round-1:try-1",
      "review:style:round-1:try-1",
      "review:security:round-2:try-1",
      "review:perf:round-2:try-1",
      "review:style:round-2:try-1",
    ]);
    expect(world.turns().map((turn) => turn.folder)).toContain("03-review-security");
    const order = world.events.flatMap((event) =>
      "key" in event && /review:|turn:/.test(event.key) ? [event.key.replace(/:try.*/, "")] : [],
    );
    expect(order.indexOf("review:perf:round-2")).toBeLessThan(order.indexOf("review:style:round-2"));
    expect(world.turns().filter((turn) => turn.role === "implementer")).toHaveLength(2);
    expect(world.finished()).toMatchObject({ status: "success", counters: { review_attempts: 2 } });
    expect(world.life.ledger.findings.map((finding) => finding.stage)).toEqual([
      "per_issue_review/security",
      "per_issue_review/perf",
    ]);
  });

  it("after a fix whoever has open findings looks first, blocking or not", () => {
    const rule = (turn: TurnEffect) => {
      if (turn.attempt > 1 || turn.slot === "style") return pass;
      return failWith(remark(`${turn.slot} is odd`, turn.slot === "perf" ? 2 : 0, `${turn.slot}.ts`));
    };
    const world = play({ review: panelOf("style", "security", "perf") }, { review: rule });
    const second = slots(world).filter((key) => key.includes("round-2"));
    expect(second.map((key) => key.split(":")[1])).toEqual(["security", "perf", "style"]);
  });

  it("nothing is decided while a reviewer runs", () => {
    const world = play({ review: panelOf("a", "b") }, { review: (turn) => (turn.slot === "b" ? null : failWith(p0)) });
    expect(world.life.state.phase).toBe("reviewing");
    expect(openFindings(world.life.ledger)).toHaveLength(1);
    expect(world.turns().filter((turn) => turn.role === "implementer")).toHaveLength(1);
  });

  it("a slot without a verdict: the others' findings are fixed while rounds are left, else review_unavailable", () => {
    const rule = (turn: TurnEffect) =>
      turn.slot === "mute" && turn.attempt === 1 ? noVerdict : turn.attempt === 1 ? failWith(p0) : pass;
    expect(play({ review: panelOf("sharp", "mute") }, { review: rule }).finished()?.status).toBe("success");
    const last = play({ review: { ...panelOf("sharp", "mute"), max_retries: 1 } }, { review: rule });
    expect(last.finished()?.error).toBe("review_unavailable");
    expect(stored(last)).toEqual(["Null deref"]);
  });

  it("a finding that a person waives no longer blocks", () => {
    let waived = false;
    const world = play(
      { review: {} },
      {
        review: () => failWith(p0),
        implement: (_, n) => ({ snapshot: snapshot(Math.min(n, 1)) }),
        before: (w) => {
          const [finding] = openFindings(w.life.ledger);
          if (waived || !finding) return null;
          waived = true;
          return { name: "waive", finding: finding.id, reason: "by design" };
        },
      },
    );
    expect(world.finished()?.status).toBe("success");
    expect(world.life.ledger.findings).toMatchObject([{ status: "waived", reason: "by design" }]);
  });
});

describe("B8 failure_mode when the rounds are used up", () => {
  it("abort: the issue fails and wants the run aborted", () => {
    const world = play({ review: { failure_mode: "abort", max_retries: 1 } }, { review: () => failWith(p0) });
    expect(world.finished()).toMatchObject({ status: "failed", error: "failure_mode_abort" });
    expect(world.life.state.abortRun).toBe(true);
  });

  it("remediate: max_retries fixers, each in a new session, then it fails", () => {
    const world = play({ review: { failure_mode: "remediate", max_retries: 2 } }, { review: () => failWith(p0) });
    const fixers = world.turns().filter((turn) => turn.role === "fixer");
    expect(fixers.map((turn) => [turn.prompt, turn.attempt, turn.maxAttempts, turn.session])).toEqual([
      ["fixer", 1, 2, null],
      ["fixer", 2, 2, null],
    ]);
    expect(world.finished()).toMatchObject({
      error: "review_failed",
      session_id: "s1",
      counters: { review_attempts: 4 },
    });
    const reviews = world.turns().filter((turn) => turn.role === "reviewer");
    expect(reviews.map((turn) => `${turn.attempt} of ${turn.maxAttempts}`)).toEqual([
      "1 of 4",
      "2 of 4",
      "3 of 4",
      "4 of 4",
    ]);
  });

  it.each<[string, Partial<TurnEnded>]>([
    ["fails", { outcome: { type: "failed", reason: "exit 7" } }],
    ["runs out of time", { outcome: { type: "timed-out" } }],
  ])(
    "remediate: a fixer that %s counts, and the next one gets a new session and everything that is open",
    (_, ended) => {
      const world = play(
        { review: { failure_mode: "remediate", max_retries: 2 } },
        {
          review: (_effect, n) => (n <= 2 ? failWith(p0) : pass),
          fix: (_effect, n) => (n === 1 ? { ...ended, sessionId: "fixer-1" } : {}),
        },
      );
      const fixers = world.turns().filter((turn) => turn.role === "fixer");
      expect(fixers.map((turn) => [turn.prompt, turn.attempt, turn.session, turn.only])).toEqual([
        ["fixer", 1, null, null],
        ["fixer", 2, null, null],
      ]);
      expect(world.reported("fixer-ended").map(({ outcome }) => outcome)).toEqual([ended.outcome?.type, "ended"]);
      const last = world.turns().findLast((turn) => turn.role === "reviewer");
      expect([last?.attempt, last?.maxAttempts]).toEqual([3, 3]);
      expect(world.finished()).toMatchObject({ status: "success", session_id: "s1" });
    },
  );

  it("remediate: what a fixer rejects is neither told nor kept: only the implementer is heard", () => {
    const world: World = new World(policyOf({ review: { failure_mode: "remediate", max_retries: 1 } }), start);
    const rejected = () => world.life.ledger.findings.map(({ id }) => ({ id, reason: "not so" }));
    world.play({ review: (_effect, n) => (n === 1 ? failWith(p0) : pass), fix: () => ({ rejected: rejected() }) });
    expect(world.reported("finding-rejected")).toEqual([]);
    expect(world.life.ledger.findings).toMatchObject([{ status: "resolved", reason: null }]);
    expect(world.finished()?.status).toBe("success");
  });

  it("remediate: the last fixer that fails is what the issue fails with, and what blocks is kept", () => {
    const fails: Rules = {
      review: () => failWith(p0),
      fix: (_effect, n) => ({ outcome: { type: "failed", reason: `exit ${n}` }, snapshot: snapshot(2) }),
    };
    const world = play({ review: { failure_mode: "remediate", max_retries: 2 } }, fails);
    expect(world.reported("fixer-ended")).toHaveLength(2);
    expect(world.finished()).toMatchObject({ error: "agent_failed", message: "The agent failed: exit 2" });
    expect(stored(world)).toEqual(["Null deref"]);
  });

  it.each<[TurnEnded["outcome"], string]>([
    [{ type: "transient", reason: "529" }, "transient_exhausted"],
    [{ type: "idle" }, "idle_timeout"],
    [{ type: "lost" }, "agent_lost"],
  ])("remediate: $type, as often as it is borne, is no reason for the next fixer", (outcome, error) => {
    const world = play(
      { review: { failure_mode: "remediate", max_retries: 2 } },
      { review: () => failWith(p0), fix: () => ({ outcome }) },
    );
    expect(world.reported("fixer-started")).toHaveLength(1);
    expect(world.finished()).toMatchObject({ status: "failed", error });
  });

  it("remediate: a fixer that fails in a run that drains is not followed by another", () => {
    const world = play(
      { review: { failure_mode: "remediate", max_retries: 2 } },
      {
        review: () => failWith(p0),
        fix: () => ({ outcome: { type: "failed", reason: "exit 7" } }),
        before: ({ life }) => (life.state.turn?.prompt === "fixer" && !life.state.draining ? { name: "drain" } : null),
      },
    );
    expect(world.reported("fixer-started")).toHaveLength(1);
    expect(world.finished()).toMatchObject({ status: "failed", error: "agent_failed" });
  });

  it("a gate that fails after a fixer goes into that fixer's session", () => {
    const world = play(
      { review: { failure_mode: "remediate", max_retries: 1 } },
      {
        review: (_, n) => (n === 1 ? failWith(p0) : pass),
        fix: () => ({ sessionId: "fixer-1" }),
        command: (effect) => ({ exitCode: effect.key.startsWith("gate:2") ? 1 : 0 }),
      },
    );
    const fixers = world.turns().filter((turn) => turn.role === "fixer");
    expect(fixers.map((turn) => [turn.prompt, turn.session])).toEqual([
      ["fixer", null],
      ["gate_followup", "fixer-1"],
    ]);
    expect(world.finished()).toMatchObject({ status: "success", session_id: "s1" });
  });
});

it("a reviewer that stays away until nobody waits any more leaves a protocol finding, like one without a verdict", () => {
  const world = play({ review: {} }, { review: () => ({ outcome: { type: "transient", reason: "529" } }) });
  expect(world.finished()).toMatchObject({ status: "failed", error: "review_unavailable" });
  expect(world.life.ledger.findings).toMatchObject([{ source: "protocol", status: "open", body: { text: "529" } }]);
  expect(world.reported("review-ended")).toMatchObject([{ verdict: "protocol", reason: "529" }]);
});
