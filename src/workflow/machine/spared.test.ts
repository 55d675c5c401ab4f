import { expect, it } from "vitest";
import { failed, World } from "./fixture.js";
import { child, exit, graphOf, join, parallel, review } from "./fixture-graph.js";

const over = { runBudget: "5 of 5 USD", reply: { text: "[STATUS: success]" } };
const reviewing = (patch = {}) =>
  graphOf(
    [parallel("p", ["a", "b", "c"], patch), review("a"), review("b"), review("c"), join("p-join"), exit()],
    ["a -> p-join", "b -> p-join", "c -> p-join", "p-join -> exit"],
  );

it("E8 a budget that a branch uses up lets the others' turns come to their end, which count, and begins none", () => {
  const world = new World(reviewing({ maxParallel: 2 })).play({ a: [over], b: [null] });
  expect(world.ending()).toBe(null);
  world.goOn({ b: [failed("b found it")] });
  expect(world.ending()).toMatchObject({ budget: true, reason: "the budget is used up: 5 of 5 USD" });
  expect(world.history.filter(({ kind }) => kind === "stop")).toEqual([]);
  expect([world.turns("c"), world.life.state.used?.input_tokens]).toEqual([[], 20]);
  expect(world.life.ledger.findings).toMatchObject([
    { stage: "b", status: "open", body: { text: expect.stringContaining("b found it") } },
  ]);
});

it("E8 what a budget has spared is ended by a stop, and by its branch's time", () => {
  const world = new World(reviewing()).play({ a: [over], b: [null], c: [null] });
  world.signal({ name: "cancel" });
  expect(world.goOn({ b: [null], c: [null] }).ending()).toMatchObject({ budget: true });
  expect(world.history.filter(({ kind }) => kind === "stop")).toHaveLength(2);
  const timed = new World(reviewing({ branchTimeoutMs: 60_000 })).play({ a: [over], b: [null] });
  expect(timed.ending()).toMatchObject({ budget: true });
  expect(timed.history.filter(({ kind }) => kind === "stop")).toHaveLength(1);
});

it("E8 a called workflow is told of a budget that another branch has used up, then of a stop", () => {
  const graph = graphOf(
    [parallel("p", ["a", "b"]), review("a"), child("b"), join("p-join"), exit()],
    ["a -> p-join", "b -> p-join", "p-join -> exit"],
  );
  const world = new World(graph);
  world.arrive({ type: "started" });
  world.goOn({ a: [over], b: [null] });
  world.signal({ name: "cancel" });
  const told = world.history.flatMap((one) => (one.kind === "tell" ? [[one.signal, one.reason]] : []));
  expect(told).toEqual([
    ["budget", "the budget is used up: 5 of 5 USD"],
    ["cancel", undefined],
  ]);
  expect(world.goOn({ b: [null] }).ending()).toMatchObject({ budget: true });
  const called = new World(reviewing()).play({ a: [null], b: [null], c: [null] });
  called.signal({ name: "budget", reason: "the budget is used up: 5 of 5 USD" });
  called.goOn();
  expect(called.ending()).toMatchObject({ budget: true, reason: "the budget is used up: 5 of 5 USD" });
  expect(["a", "b", "c"].map((id) => called.record(id).outcome)).toEqual(["success", "success", "success"]);
});
