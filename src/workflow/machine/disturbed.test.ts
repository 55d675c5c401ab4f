import { describe, expect, it } from "vitest";
import { type Script, unbounded, World } from "./fixture.js";
import { exit, graphOf, join, llm, parallel, review, tool, workspace } from "./fixture-graph.js";

const block = graphOf(
  [parallel("p", ["a", "b", "ci"]), review("a"), review("b"), tool("ci"), join("p-join"), exit("good"), exit("bad")],
  [
    "a -> p-join",
    "b -> p-join",
    "ci -> p-join",
    'p-join -> good if outcome("p-join") == "success"',
    'p-join -> bad if outcome("p-join") != "success"',
  ],
);
/** The files before and after a turn, one letter each. */
const files = (letters: string) => ({ tree: { before: letters[0] ?? "", after: letters[1] ?? letters[0] ?? "" } });
const play = (script: Script) => new World(block, { settings: unbounded }).play(script);
const stagesOf = (world: World) => world.path().slice(1).join(" ");

describe("reviews side by side", () => {
  it("are asked once while nobody changes the files", () => {
    const world = play({ a: [files("x")], b: [files("x")], ci: [files("x")] });
    expect(stagesOf(world)).toBe("a b ci p-join good");
  });

  it("E8 look again one after the other where one of them changed files, also who had ended before", () => {
    const world = play({ a: [files("x"), files("y")], b: [files("xy"), files("y")], ci: [files("xy")] });
    expect(stagesOf(world)).toBe("a b ci a b p-join good");
    const [, , again] = world.turns();
    expect(again).toMatchObject({ stage: "a", visit: 2 });
    expect(world.reported("log").map(({ text }) => text)).toEqual([
      "The files changed while they were reviewed: asked again, one after the other: a, b",
    ]);
    const turns = world.turns().map(({ stage }) => stage);
    expect(turns).toEqual(["a", "b", "a", "b"]);
  });

  it("are not over their visits by looking again: no way led there", () => {
    const once = {
      ...block,
      stages: block.stages.map((stage) => (stage.id === "a" ? { ...stage, maxVisits: 1 } : stage)),
    };
    const script = { a: [files("x"), files("y")], b: [files("xy"), files("y")], ci: [files("xy")] };
    const world = new World(once, { settings: unbounded }).play(script);
    expect(stagesOf(world)).toBe("a b ci a b p-join good");
  });

  it("E8 look again where a tool changed files after they had", () => {
    const world = play({ a: [files("x"), files("y")], b: [files("x"), files("y")], ci: [files("xy")] });
    expect(stagesOf(world)).toBe("a b ci a b p-join good");
  });

  it("fail where files change while one is alone, and the others are about what is there then", () => {
    const world = play({
      a: [files("x"), files("y"), files("z")],
      b: [files("xy"), files("yz")],
      ci: [files("y")],
    });
    expect(world.record("b")).toMatchObject({ outcome: "fail" });
    expect(world.record("b").reason).toContain("nobody but this review was at work");
    expect(world.executions("b")).toBe(4);
    expect([world.executions("a"), world.record("a").outcome]).toEqual([3, "success"]);
    expect(world.ending()?.stage).toBe("bad");
  });

  it("do not go on for ever where the files never rest", () => {
    const turn = (n: number) => files(`${n}`);
    const world = play({ a: turn, b: (n) => files(`${n + 5}`), ci: [files("x")] });
    expect(world.ending()).toMatchObject({ status: "fail", stage: "p" });
    expect(world.ending()?.reason).toContain("the files changed again and again while they were reviewed");
  });

  it.each([
    ["a stage that is there to change files", [llm("w")], "w"],
    ["a tool alone", [], "a"],
  ])("are left alone beside %s", (_what, more, other) => {
    const graph = graphOf(
      [
        parallel("p", ["a", ...(other === "a" ? ["ci"] : ["b", other])]),
        review("a"),
        review("b"),
        tool("ci"),
        ...more,
        join("p-join"),
        exit(),
      ],
      ["p-join -> exit"],
    );
    const world = new World(graph).play({ a: [files("xy")], b: [files("x")], w: [files("xz")], ci: [files("x")] });
    expect(world.ending()?.status).toBe("success");
    expect(world.executions("a")).toBe(1);
  });

  it("E8 have their time anew after a kill: nobody was there meanwhile", () => {
    const timed = graphOf(
      [{ ...parallel("p", ["a"]), branchTimeoutMs: 60_000 }, review("a"), join("p-join"), exit("good")],
      ["a -> p-join", "p-join -> good"],
    );
    const world = new World(timed, { settings: unbounded });
    world.arrive({ type: "started" });
    world.at += 3_600_000;
    world.arrive({ type: "resumed" });
    const timers = [...world.owed.values()].filter((effect) => effect.kind === "timer");
    expect(timers.map(({ until }) => until)).toEqual([world.at + 60_000]);
  });

  it("E8 have their own time anew in a block within another", () => {
    const nested = graphOf(
      [
        parallel("p", ["q"]),
        { ...parallel("q", ["a"]), branchTimeoutMs: 60_000 },
        ...[review("a"), join("q-join"), join("p-join"), exit("good")],
      ],
      ["a -> q-join", "q-join -> p-join", "p-join -> good"],
    );
    const world = new World(nested, { settings: unbounded });
    world.arrive({ type: "started" });
    world.at += 3_600_000;
    world.arrive({ type: "resumed" });
    const timers = [...world.owed.values()].filter((effect) => effect.kind === "timer");
    expect(timers.map(({ until }) => until)).toEqual([world.at + 60_000]);
  });

  it("do not mind what happens in a workspace of its own", () => {
    const graph = graphOf(
      [
        parallel("p", ["a", "b", "own"]),
        review("a"),
        review("b"),
        workspace("workspace.create", "own"),
        llm("w"),
        join("p-join"),
        exit(),
      ],
      ["own -> w", "p-join -> exit"],
    );
    const world = new World(graph).play({
      a: [files("x"), files("y")],
      b: [files("xy"), files("y")],
      w: [files("mn")],
    });
    expect([world.executions("a"), world.executions("b"), world.executions("w")]).toEqual([2, 2, 1]);
  });
});
