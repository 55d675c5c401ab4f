import { describe, expect, it } from "vitest";
import type { LandEffect } from "./effects.js";
import type { LandOutcome } from "./events.js";
import { failWith, play, policyOf, type Rules, remark, snapshot, start, World } from "./fixture.js";

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

  it("a follow-up issue makes none of its own", () => {
    const world = new World(policyOf({ review: {} }), { ...start, followUp: true });
    world.play({ review: () => failWith(remark("Naming", 2)) });
    expect(world.history.some((effect) => effect.kind === "tracker" && effect.op === "follow-up")).toBe(false);
    expect(world.life.ledger.findings).toMatchObject([{ status: "waived", reason: "below threshold" }]);
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
