import { expect, it } from "vitest";
import type { Deliver } from "../run/effects.js";
import type { PushOutcome } from "./events.js";
import { play, policyOf, type Rules, snapshot, start, World } from "./fixture.js";

const setup = { review: {}, settings: { finalize: { mode: "pr", into: null } } } as const;
const away: PushOutcome = { type: "unreachable", reason: "down" };
const deliver: Deliver = { head: "c1", reviewed: 1, evidence: { test: true, lint: true } };

function again(rules: Rules, given = deliver, only?: "push") {
  const policy = policyOf(setup);
  const options = only ? { ...policy.options, only } : policy.options;
  const begin = { ...start, life: 2, deliver: given };
  return new World({ ...policy, options }, begin).play(rules);
}
const turnsOf = (world: World) => world.turns().map(({ role }) => role);

it("a push that failed leaves the head that passed everything, and the next life pushes it without an agent", () => {
  const first = play(setup, { push: () => away });
  expect(first.finished()).toMatchObject({ status: "interrupted", undelivered: { head: "c1", reviewed: 1 } });
  const second = again({ left: {} });
  expect([turnsOf(second), second.commands()]).toEqual([[], []]);
  expect(second.history.flatMap((one) => (one.kind === "push" ? [one.head] : []))).toEqual(["c1"]);
  expect(second.finished()).toMatchObject({ status: "success", commit: "c1", evidence: { test: true } });
  const third = again({ left: {}, push: () => away });
  expect(third.finished()).toMatchObject({ status: "interrupted", undelivered: { head: "c1", reviewed: 1 } });
});

it.each([
  ["there are changes", { dirtyCount: 1 }],
  ["it is at another commit", { head: "c9" }],
])("where %s in the worktree the work goes to the agent, or to nobody when only pushing was asked for", (_, left) => {
  const world = again({ left });
  expect(turnsOf(world)[0]).toBe("implementer");
  expect(world.finished()).toMatchObject({ status: "success", commit: "c1" });
  expect(world.finished()).not.toHaveProperty("evidence");
  const pushing = again({ left }, deliver, "push");
  expect([turnsOf(pushing), pushing.finished()?.status]).toEqual([[], "interrupted"]);
});

it("a branch that somebody else has pushed to goes to an agent, and stays owed when only pushing was asked for", () => {
  const moved = (): PushOutcome => ({ type: "moved", tip: "theirs" });
  const pushing = again({ left: {}, push: moved }, deliver, "push");
  expect(pushing.finished()).toMatchObject({ status: "interrupted", undelivered: { head: "c1" } });
  const outcomes = [moved()];
  const world = again({
    left: {},
    push: () => outcomes.shift() ?? { type: "pushed" },
    implement: () => ({ snapshot: snapshot(2) }),
  });
  expect(world.turns()[0]).toMatchObject({ prompt: "gate_followup" });
  expect(world.life.state.landing).toMatchObject({ demanded: true, demandedOf: "ratchet/p-1" });
  expect(world.finished()).toMatchObject({ status: "success", commit: "c2" });
});

it("P9 a pull request that the forge refused to open has failed, and the next life only delivers it", () => {
  const refused = () => ({ type: "refused", reason: "401, Bad credentials" }) as const;
  const left = { undelivered: { head: "c1", reviewed: 1 } };
  expect(play(setup, { open: refused }).finished()).toMatchObject({
    status: "failed",
    error: "landing_failed",
    ...left,
  });
  const second = again({ left: {}, open: refused });
  expect([turnsOf(second), second.finished()]).toEqual([[], expect.objectContaining({ status: "failed", ...left })]);
});

it("a push that was refused is tried first by the next life; refused again, an agent hears why, once", () => {
  const refused = (): PushOutcome => ({ type: "refused", reason: "a secret was found" });
  const failed = { status: "failed", error: "landing_failed" };
  const undelivered = { head: "c1", refused: "a secret was found" };
  expect(play(setup, { push: refused }).finished()).toMatchObject({ ...failed, undelivered });
  const given = { ...deliver, ...undelivered };
  expect(turnsOf(again({ left: {} }, given))).toEqual([]);

  const outcomes = [refused()];
  const implement = () => ({ snapshot: snapshot(2) });
  const mended = again({ left: {}, implement, push: () => outcomes.shift() ?? { type: "pushed" } }, given);
  expect([turnsOf(mended), mended.turns()[0]?.prompt]).toEqual([["implementer", "reviewer"], "gate_followup"]);
  expect(mended.finished()).toMatchObject({ status: "success", commit: "c2" });
  expect(mended.life.ledger.findings).toMatchObject([{ stage: "push", status: "resolved" }]);

  const still = again({ left: {}, implement, push: refused }, given);
  expect(turnsOf(still)).toEqual(["implementer", "reviewer"]);
  expect(still.finished()).toMatchObject({ ...failed, undelivered: { head: "c2" } });
  expect(still.life.ledger.findings[0]).toMatchObject({
    stage: "push",
    body: { text: expect.stringContaining("a secret was found") },
  });

  const pushing = again({ left: {}, push: refused }, given, "push");
  expect([turnsOf(pushing), pushing.finished()]).toMatchObject([[], { ...failed, undelivered: { head: "c1" } }]);
});

it("stopped before it was pushed again, it is still to be pushed", () => {
  const world = again({ left: {}, before: ({ life }) => (life.state.phase === "preparing" ? { name: "stop" } : null) });
  expect(world.finished()).toMatchObject({ status: "interrupted", undelivered: { head: "c1", reviewed: 1 } });
});

it("P8 what an earlier life of a rework committed and nobody pushed is a change, though this agent makes none", () => {
  const item = { source: "rework", issueId: "p-1", prNumber: 7, cycle: 1, session: null } as const;
  const world = new World(policyOf({ item }));
  world.arrive({ type: "started" });
  world.arrive({ type: "tracker-done", key: "tracker:claim", ok: true });
  const ready = { path: "/w", branch: "b", baseSha: "c0", head: "c1", tree: "t1", fresh: false, targetTip: "c0" };
  world.arrive({ type: "worktree-ready", key: "worktree:open", ...ready, pushed: "c0" });
  world.goOn({ implement: () => ({ snapshot: snapshot(1) }) });
  expect(world.finished()).toMatchObject({ status: "success", commit: "c1" });
});
