import { describe, expect, it } from "vitest";
import type { LandEffect } from "./effects.js";
import type { LandOutcome } from "./events.js";
import { failWith, play, policyOf, type Rules, remark, type Setup, snapshot, start, World } from "./fixture.js";

const conflict: LandOutcome = { type: "conflict", tip: "tip1", files: ["a.ts", "b.ts"] };
const merged: LandOutcome = { type: "proposed", tip: "tip1", commit: "m1", tree: "mt1", merged: true };
const landing =
  (...proposals: LandOutcome[]): NonNullable<Rules["land"]> =>
  (effect: LandEffect) => {
    if (effect.op !== "propose")
      return { type: "landed", commit: effect.op === "commit" ? effect.commit : effect.head, behind: null };
    const tree = effect.head.replace("c", "t");
    return proposals.shift() ?? { type: "proposed", tip: "tip1", commit: effect.head, tree, merged: false };
  };

describe("landing", () => {
  it("a gated tree lands without another gate", () => {
    const world = play({ review: {} });
    expect(world.commands()).toEqual(["gate:1:test", "gate:1:lint"]);
    expect(world.reported("landed")).toMatchObject([{ commit: "c1", target_branch: "main", merged: false }]);
  });

  it("trees that passed the gate may land as they are proposed; where no command is required, any may", () => {
    const proposals = (world: World) =>
      world.history.flatMap((effect) => (effect.kind === "land" && effect.op === "propose" ? [effect.gated] : []));
    expect(proposals(play({}))).toEqual([["t1"]]);
    expect(proposals(play({ settings: { evidence_check: { required: [] } } }))).toEqual([null]);
  });

  it("what landed as it was proposed is told like any landing, and owes nothing more", () => {
    const proposed = { tip: "tip1", commit: "m1", tree: "mt1", merged: true };
    const world = play({}, { land: () => ({ type: "landed", commit: "m1", behind: null, proposed }) });
    expect(world.history.filter(({ kind }) => kind === "land")).toHaveLength(1);
    expect(world.reported("landed")).toMatchObject([{ commit: "m1", target_branch: "main", merged: true }]);
    expect(world.finished()).toMatchObject({ status: "success", commit: "m1" });
  });

  it("a mechanical merge needs the gate again in the landing worktree, not the review", () => {
    const world = play({ review: {} }, { land: landing(merged) });
    const gated = world.history.filter((effect) => effect.kind === "command" && effect.stage === "landing");
    expect(gated).toMatchObject([
      { key: "landing:1:test", place: "landing", commit: "m1" },
      { key: "landing:1:lint", place: "landing", commit: "m1" },
    ]);
    expect(world.reported("review-started")).toHaveLength(1);
    expect(world.finished()).toMatchObject({ status: "success", commit: "m1" });
  });

  it("a moved tip is proposed again, uncounted, and a tree gated before is not gated again", () => {
    let moves = 0;
    const propose = landing(merged, merged, merged, merged, merged, merged);
    const world = play(
      {},
      {
        land: (effect, n) => (effect.op === "commit" && moves++ < 5 ? { type: "moved" } : propose(effect, n)),
      },
    );
    expect(world.finished()).toMatchObject({ status: "success", commit: "m1" });
    expect(world.commands().filter((key) => key.startsWith("landing"))).toEqual(["landing:1:test", "landing:1:lint"]);
  });

  it("after three moves in vain it lands ahead of whoever moves the target", () => {
    const world = play({}, { land: (effect, n) => (n < 6 ? { type: "moved" } : landing()(effect, n)) });
    const insists = world.history.flatMap((effect) =>
      effect.kind === "land" && "insists" in effect ? [effect.key] : [],
    );
    const all = world.history.filter(({ kind }) => kind === "land").map(({ key }) => key);
    expect(insists).toEqual(all.slice(3));
    expect(world.finished()).toMatchObject({ status: "success" });
  });

  it("a conflict goes back as a finding; the target must be merged, then gate, session_end and review again", () => {
    const world = play({ review: {}, sessionEnd: {} }, { land: landing(conflict) });
    const [, again] = world.turns().filter((turn) => turn.role === "implementer");
    expect(again).toMatchObject({ prompt: "gate_followup", attempt: 1, maxAttempts: 3, base: "tip1", session: "s1" });
    expect(world.life.ledger.findings).toMatchObject([
      { stage: "merge", source: "merge", status: "resolved", priority: 1 },
    ]);
    expect(world.reported("review-started").map((report) => report.commit)).toEqual(["c1", "c2"]);
    expect(world.reported("session-end-started")).toHaveLength(2);
    expect(
      world
        .turns()
        .filter((turn) => turn.role === "reviewer")
        .map((turn) => turn.base),
    ).toEqual(["c0", "tip1"]);
    expect(world.finished()).toMatchObject({ status: "success", commit: "c2" });
  });

  it("a branch that does not contain the target is a finding before any command runs", () => {
    const world = play(
      {},
      { land: landing(conflict), implement: (_, n) => ({ snapshot: snapshot(n, { containsBase: n !== 2 }) }) },
    );
    expect(world.life.ledger.findings.map((finding) => finding.title)).toContain("The target is not merged");
    expect(world.commands()).toEqual(["gate:1:test", "gate:1:lint", "gate:3:test", "gate:3:lint"]);
    expect(world.finished()?.status).toBe("success");
  });

  it("three rounds of merging, then it escalates", () => {
    const world = play({}, { land: () => conflict });
    expect(world.turns()).toHaveLength(4);
    expect(world.finished()).toMatchObject({ status: "escalated", error: "merge_conflict" });
    expect(world.reported("escalated")).toHaveLength(1);
  });

  it("a gate that fails on the merge counts as a conflict", () => {
    const world = play(
      {},
      {
        land: landing(merged),
        command: (effect) => ({ exitCode: effect.stage === "landing" && effect.name === "lint" ? 1 : 0 }),
      },
    );
    expect(world.turns().map((turn) => turn.prompt)).toEqual(["implementer", "gate_followup"]);
    expect(world.life.ledger.findings).toMatchObject([
      { stage: "merge", source: "gate", reviewer: "lint", status: "resolved" },
    ]);
    expect(world.life.state.landing.rounds).toBe(1);
    expect(world.finished()).toMatchObject({ status: "success", commit: "c2" });
  });

  it.each<[LandOutcome, object]>([
    [
      { type: "refused", reason: "protected branch" },
      { status: "failed", error: "landing_failed" },
    ],
    [{ type: "closed" }, { status: "interrupted", error: "closed", commit: null }],
    [
      { type: "closed", blocked: true },
      { status: "interrupted", error: "closed", message: expect.stringContaining("was blocked by someone else") },
    ],
    [
      { type: "closed", how: "taken away" },
      { status: "interrupted", error: "closed", message: expect.stringContaining("was taken away by someone else") },
    ],
  ])("%j ends the issue, not landed", (outcome, ending) => {
    expect(play({}, { land: () => outcome }).finished()).toMatchObject(ending);
  });

  it("mode branch puts the branch into the user's repository", () => {
    const world = play({ settings: { finalize: { mode: "branch", into: null } } });
    expect(world.history.filter((effect) => effect.kind === "land")).toMatchObject([{ op: "branch", head: "c1" }]);
    expect(world.finished()).toMatchObject({ status: "success", commit: "c1" });
  });

  it("mode branch names the branch as it is spelt in git, not by the id", () => {
    const world = new World(policyOf({ settings: { finalize: { mode: "branch", into: null } } }));
    world.arrive({ type: "started" });
    world.arrive({ type: "tracker-done", key: "tracker:claim", ok: true });
    const ready = { path: "/w", branch: "ratchet/p-lock-1", head: "c0", tree: "t0", fresh: true, targetTip: "c0" };
    world.arrive({ type: "worktree-ready", key: "worktree:open", ...ready, baseSha: "c0" });
    world.goOn({});
    expect(world.reported("landed")).toMatchObject([{ commit: "c1", target_branch: "ratchet/p-lock-1" }]);
  });
});

describe("closing", () => {
  it("a tracker that cannot be told leaves the landed issue succeeded and the update owed", () => {
    const world = play(
      {},
      { tracker: (effect) => (effect.op === "complete" ? { ok: false, reason: "down", lost: false } : {}) },
    );
    expect(world.finished()?.status).toBe("success");
    expect(world.life.state.trackerOwed).toBe(true);
    expect(world.reported("log").at(-1)).toMatchObject({ level: "error", untold: { op: "complete", reason: "down" } });
  });

  it.each<[string, Setup, Rules]>([
    ["failed", { review: { max_retries: 1, failure_mode: "abort" } }, { review: () => failWith(remark("Wrong", 0)) }],
    ["escalated", {}, { land: () => conflict }],
  ])("what somebody has closed meanwhile is not %s: it ends as closed, and aborts nothing", (status, setup, rules) => {
    const taken = { ok: false, reason: "it is completed", lost: true, taken: "completed" } as const;
    const isEnd = (op: string) => op === "fail" || op === "escalate";
    const world = play(setup, { ...rules, tracker: ({ op }) => (isEnd(op) ? taken : {}) });
    expect(play(setup, rules).finished()).toMatchObject({ status });
    expect(world.finished()).toMatchObject({ status: "interrupted", error: "closed" });
    expect(world.reported("escalated")).toEqual([]);
    expect(world.life.state).toMatchObject({ phase: "done", trackerOwed: false, abortRun: false });
    expect(world.history.at(-1)).toMatchObject({ kind: "tracker", op: "release" });
  });

  it.each<[string, object, object]>([
    ["is told with its id", { id: "p-7" }, { status: "waived", reason: "tracked as p-7" }],
    ["has no id leaves them open", { id: undefined }, { status: "open", reason: null }],
    [
      "could not be made leaves them open",
      { ok: false, reason: "down", lost: false },
      { status: "open", reason: null },
    ],
  ])("what a review left is tracked nowhere but in a follow-up that is there: one that %s", (_how, told, left) => {
    const review: Rules["review"] = () => failWith(remark("Naming", 2));
    const world = play({ review: {} }, { review, tracker: ({ op }) => (op === "follow-up" ? told : {}) });
    expect(world.finished()?.status).toBe("success");
    expect(world.life.ledger.findings).toMatchObject([left]);
  });

  it("a follow-up issue makes none of its own", () => {
    const world = new World(policyOf({ review: {} }), { ...start, followUp: true });
    world.play({ review: () => failWith(remark("Naming", 2)) });
    expect(world.history.some((effect) => effect.kind === "tracker" && effect.op === "follow-up")).toBe(false);
    expect(world.life.ledger.findings).toMatchObject([{ status: "waived", reason: "below threshold" }]);
  });

  it("B8 a follow-up issue that succeeds without its review has a follow-up for what blocked, and for nothing else", () => {
    const review = { max_retries: 1 };
    const findings = [remark("Loses data", 0), remark("Naming", 2, "b.ts")];
    const failed = play({ review }, { review: () => failWith(...findings) });
    const { ledger } = failed.life;
    const left = { ...start, life: 2, followUp: true, blocking: ledger.findings.slice(0, 1).map(({ id }) => id) };
    const { per_issue_review } = policyOf({ review }).settings;
    const left_out_reviewer = { section: "per_issue_review", review: per_issue_review } as const;
    const flagged = { settings: { per_issue_review: { ...per_issue_review, enabled: false }, left_out_reviewer } };
    const closed = (setup: Setup) => {
      const world = new World(policyOf(setup), left, ledger).play({ tracker: () => ({ id: "p-7" }) });
      expect(world.finished()?.status).toBe("success");
      return world.life.ledger.findings.map(({ status, reason }) => `${status}: ${reason}`);
    };
    expect(failed.finished()?.status).toBe("failed");
    expect(closed(flagged)).toEqual(["waived: tracked as p-7", "superseded: no longer checked"]);
    const byHand = closed({ review, options: { only: "land" } });
    expect(byHand).toEqual(["waived: tracked as p-7", "waived: landed by hand"]);
  });

  it("the worktree of a success is removed, others keep theirs", () => {
    const removed = (world: World) =>
      world.history.some((effect) => effect.kind === "worktree" && effect.op === "remove");
    expect(removed(play({}))).toBe(true);
    expect(removed(play({}, { command: () => ({ exitCode: 1 }) }))).toBe(false);
  });
});

it("D5 a landing that waits for a person says so, asks again later, and counts no round", () => {
  const rewound: LandOutcome = { type: "waits", reason: "main was rewound" };
  const world = play({}, { land: landing(rewound, rewound) });
  expect(world.reported("waiting")).toMatchObject([{ for: "main was rewound" }]);
  expect(world.finished()).toMatchObject({ status: "success" });
  expect(world.life.state.landing.rounds).toBe(0);
});

it.each([
  [true, "success", 3],
  [false, "interrupted", 1],
])("a forge that is away: watching %j, the life ends as %s after %i pushes", (watch, status, pushes) => {
  const away = { type: "unreachable", reason: "502" } as const;
  let tries = 0;
  const push = () => {
    tries += 1;
    return tries < 3 ? away : ({ type: "pushed" } as const);
  };
  const pr = { settings: { finalize: { mode: "pr", into: null } }, options: watch ? { watch } : {} } as const;
  const world = play(pr, { push });
  expect(world.life.state.ending?.status).toBe(status);
  expect(tries).toBe(pushes);
});
