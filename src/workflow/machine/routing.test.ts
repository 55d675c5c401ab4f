import { describe, expect, it } from "vitest";
import type { Stage } from "../graph.js";
import { failed, unbounded, World } from "./fixture.js";
import { decision, exit, graphOf, human, join, llm, named, parallel, review, tool, way } from "./fixture-graph.js";
import { endedStages } from "./state.js";

const ends = [exit("x"), exit("y"), exit("z")];

describe("the way on", () => {
  it("E1 a condition that holds beats any weight, among them the higher priority, then the earlier in the file", () => {
    const a = review("a");
    const heavy = way("a -> x", { priority: 9 });
    const rows: [Parameters<typeof graphOf>[1], string][] = [
      [[heavy, 'a -> y if outcome("a") == "success"'], "y"],
      [[heavy, 'a -> y if outcome("a") == "fail"'], "x"],
      [['a -> z if outcome("a") == "success"', 'a -> y if outcome("a") == "success"'], "z"],
      [['a -> z if outcome("a") == "success"', way('a -> y if outcome("a") == "success"', { priority: 1 })], "y"],
      [["a -> x", heavy, "a -> y"], "x"],
      [[way("a -> x if true"), 'a -> y if exists("a.status")'], "y"],
    ];
    for (const [ways, target] of rows)
      expect(new World(graphOf([a, ...ends], ways)).play().path()).toEqual(["a", target]);
  });

  it("E1 in DOT the target's name decides between equals", () => {
    const ways = ['a -> z if outcome("a") == "success"', 'a -> y if outcome("a") == "success"', "a -> x"];
    expect(new World(graphOf([llm("a"), ...ends], ways, { format: "dot" })).play().path()).toEqual(["a", "y"]);
  });

  it("E1 a preferred label and suggested ids choose among ways without a condition only", () => {
    const ways = [
      way("a -> x", { priority: 5 }),
      way("a -> y", { label: "[R] Rework" }),
      way('a -> z if exists("none")'),
    ];
    const graph = graphOf([review("a"), ...ends], ways);
    const rows: [string, string][] = [
      ["[STATUS: success]\n[PREFERRED_LABEL: rework]", "y"],
      ["[STATUS: success]\n[NEXT: z, y]", "y"],
      ["[STATUS: success]\n[PREFERRED_LABEL: other]\n[NEXT: z]", "x"],
    ];
    for (const [reply, target] of rows) expect(new World(graph).play({ a: [reply] }).path()).toEqual(["a", target]);
    const held = graphOf([review("a"), ...ends], [way('a -> x if outcome("a") == "success"'), ...ways]);
    expect(new World(held).play({ a: ["[STATUS: success]\n[NEXT: y]"] }).path()).toEqual(["a", "x"]);
  });

  it("E1 without a way that holds the run fails and says so; a false condition is never taken", () => {
    const world = new World(graphOf([llm("a"), ...ends], ['a -> x if outcome("a") == "fail"'])).play();
    expect(world.path()).toEqual(["a"]);
    expect(world.ending()).toMatchObject({ status: "fail", stage: "a" });
    expect(world.ending()?.reason).toContain("no matching transition");
  });

  it("a failed stage that is no review takes a condition, a plain way to a decision, its retry target, or fails the run", () => {
    const to = (ways: readonly string[], stage = tool("a"), patch = {}) =>
      new World(graphOf([stage, decision("d"), llm("fix"), ...ends], ways, patch)).play({ a: [1, 0] });
    expect(to(["a -> x", 'a -> y if outcome("a") == "fail"']).path()).toEqual(["a", "y"]);
    expect(to(["a -> x", "a -> d", 'd -> y if outcome("a") == "fail"']).path()).toEqual(["a", "d", "y"]);
    const back = tool("a", { retryTarget: { name: "fix", at: { line: 1, column: 1 } } });
    expect(to(["a -> x", "fix -> a"], back).path()).toEqual(["a", "fix", "a", "x"]);
    const failing = to(["a -> x"]);
    expect(failing.path()).toEqual(["a"]);
    expect(failing.ending()).toMatchObject({ status: "fail", stage: "a" });
    expect(failing.ending()?.reason).toContain("stage a failed: a exited with 1");
  });

  it("a failed review goes on like any other stage", () => {
    const world = new World(graphOf([review("a"), ...ends], ["a -> x"])).play({ a: [failed("bad")] });
    expect(world.path()).toEqual(["a", "x"]);
    expect(world.ending()).toMatchObject({ status: "success" });
  });

  it("a decision leaves the last outcome to the conditions behind it", () => {
    const last = { type: "outcome" as const, stage: null, at: { line: 1, column: 1 } };
    const when = { type: "equal" as const, left: last, right: { type: "literal" as const, value: "fail" } };
    const graph = graphOf([tool("a"), decision("d"), ...ends], ["a -> d", way("d -> y", { when }), "d -> x"]);
    expect(new World(graph).play({ a: [1] }).path()).toEqual(["a", "d", "y"]);
    expect(new World(graph).play({ a: [0] }).path()).toEqual(["a", "d", "x"]);
  });

  it("a restart edge leaves nothing of before but the goal, the inputs and the visits", () => {
    const again = way('b -> a if outcome("b") == "fail"', { restart: true });
    const graph = graphOf([llm("a"), review("b"), exit()], ["a -> b", again, 'b -> exit if outcome("b") == "success"']);
    const world = new World(graph, { settings: unbounded });
    world.arrive({ type: "started" });
    world.goOn({ b: [failed("bad"), null] });
    expect(world.life.state.stages).toMatchObject({ a: { visits: 2, outcome: "success" }, b: { visits: 2 } });
    expect(world.record("b").outcome).toBeUndefined();
    expect(world.life.ledger.findings.map(({ status }) => status)).toEqual(["superseded"]);
    world.goOn();
    expect(world.ending()?.status).toBe("success");
  });
});

describe("transitions out of a human gate", () => {
  const silence = way('ask -> fix if outcome("ask") == "fail"', { restart: true });
  const graph = (timeoutMs: number | null) =>
    graphOf(
      [llm("plan"), human("ask", ["exit", "fix"], { timeoutMs }), llm("fix"), exit()],
      ["plan -> ask", silence, "fix -> exit"],
    );

  it("E1 E7 are for silence, and an answer that leads to the same stage has nothing of them", () => {
    const silent = new World(graph(1000)).play();
    expect(silent.path()).toEqual(["plan", "ask", "fix", "exit"]);
    expect(silent.record("plan").outcome).toBeUndefined();
    const answered = new World(graph(null)).play();
    answered.answerGate("ask", "fix");
    answered.goOn();
    expect(answered.path()).toEqual(["plan", "ask", "fix", "exit"]);
    expect(answered.record("plan").outcome).toBe("success");
  });
});

it("E2 E8 a failure in a branch never leads out of it, and an unmet goal gate of a branch goes back from the exit", () => {
  const out = { retryTarget: named("work") };
  const graph = (stage: Stage, more: readonly Stage[] = []) =>
    graphOf(
      [llm("work"), parallel("p", ["a"]), stage, ...more, join("p-join"), exit()],
      ["work -> p", 'p-join -> exit if outcome("a") != ""'],
    );
  const stray = new World(graph(tool("a", out))).play({ a: [1] });
  expect(stray.path()).toEqual(["work", "p", "a", "p-join", "exit"]);
  const gate = new World(graph(tool("a", { ...out, goalGate: true }))).play({ a: [1, 0] });
  expect(gate.path()).toEqual(["work", "p", "a", "p-join", "exit", "work", "p", "a", "p-join", "exit"]);
  expect(gate.ending()?.status).toBe("success");
  const inside = graph(tool("a", { goalGate: true, retryTarget: named("repair") }), [tool("repair")]);
  const repaired = new World(inside).play({ a: [1] });
  expect(repaired.path()).toEqual(["work", "p", "a", "repair", "p-join", "exit"]);
  expect(repaired.ending()).toMatchObject({ status: "fail", stage: "a" });
});

it("E6 the stages so far are told in the order of execution, a visit that is under way is not among them", () => {
  const graph = graphOf(
    [parallel("p", ["b", "a"]), tool("a"), tool("b"), join("p-join"), llm("fix"), exit()],
    ['p-join -> fix if outcome("p") != ""', "fix -> p"],
  );
  const world = new World(graph, { settings: unbounded }).play({ a: [1], b: [null] });
  const told = () => endedStages(world.life.state).map(({ id, visit, outcome }) => `${id} ${visit} ${outcome}`);
  world.goOn({ fix: [null] });
  expect(told()).toEqual(["p 1 success", "b 1 success", "a 1 fail", "p-join 1 fail"]);
  world.goOn({ fix: ["ok", null] });
  expect(told()).toEqual(["fix 1 success", "p 2 success", "b 2 success", "a 2 success", "p-join 2 success"]);
});
