import { describe, expect, it } from "vitest";
import { contextOf } from "../context.js";
import { failed, settings, unbounded, World } from "./fixture.js";
import {
  child,
  exit,
  graphOf,
  human,
  join,
  llm,
  named,
  parallel,
  review,
  tool,
  way,
  workspace,
} from "./fixture-graph.js";
import { adoptGraph } from "./machine.js";

const planning = (patch = {}) =>
  graphOf(
    [llm("plan"), human("ask", ["exit", "revise"], patch), llm("revise"), exit()],
    ["plan -> ask", "revise -> ask"],
  );
const value = (world: World, key: string) => contextOf(world.life, world.policy.graph).get(key);

describe("human gates", () => {
  it("E7 feedback goes into the context, and after a revision the gate is asked again", () => {
    const world = new World(planning({ requireFeedbackOn: [named("revise")] })).play();
    expect(world.reported("waiting")).toMatchObject([{ for: "an answer to ask (exit, revise)", until: null }]);
    world.answerGate("ask", "revise", "shorter");
    expect(value(world, "human.gate.feedback")).toEqual({ json: "shorter" });
    world.goOn();
    expect(world.path()).toEqual(["plan", "ask", "revise", "ask"]);
    world.answerGate("ask", "exit");
    expect(world.ending()?.status).toBe("success");
    expect(value(world, "human.gate.feedback")).toEqual({ json: "" });
  });

  it("E7 what is no answer changes nothing and is said", () => {
    const world = new World(planning({ requireFeedbackOn: [named("revise")] })).play();
    for (const [stage, option] of [
      ["ask", "no-such"],
      ["ask", "revise"],
      ["plan", "exit"],
    ] as const) {
      world.answerGate(stage, option, " ");
    }
    expect(world.life.state.tokens[0]).toMatchObject({ stage: "ask", phase: "asking" });
    expect(world.reported("log").map(({ level }) => level)).toEqual(["warn", "warn", "warn"]);
  });

  it("E7 an answer to the question of before is none to the one that is asked again", () => {
    const world = new World(planning()).play();
    const yes = { name: "answer", stage: "ask", option: "exit", feedback: null, by: "me" } as const;
    world.answerGate("ask", "revise", "shorter");
    world.goOn();
    world.signal({ ...yes, visit: 1 });
    expect(world.life.state.tokens[0]).toMatchObject({ stage: "ask", phase: "asking", visit: 2 });
    world.signal({ ...yes, visit: 2 });
    expect(world.ending()?.status).toBe("success");
  });

  it("E7 unanswered it fails closed, or takes the default that it names", () => {
    const closed = new World(planning({ timeoutMs: 86_400_000 })).play();
    expect(closed.ending()).toMatchObject({
      status: "fail",
      stage: "ask",
      reason: "stage ask failed: nobody answered in time",
    });
    const asked = closed.reported("stage-ended").find(({ stage }) => stage === "ask");
    expect(asked?.seconds).toBeGreaterThanOrEqual(86_400);
    const world = new World(planning({ timeoutMs: 1000, default: named("exit") })).play();
    expect(world.ending()?.status).toBe("success");
    expect(world.path()).toEqual(["plan", "ask", "exit"]);
  });

  it("E7 a gate waits across restarts; with re_review off its first answer stands", () => {
    const world = new World(planning({ reReview: false, timeoutMs: 5000 })).play({ revise: [null] });
    expect(world.ending()?.status).toBe("fail");
    const waiting = new World(planning({ reReview: false })).play();
    waiting.arrive({ type: "resumed" });
    expect(waiting.life.state.tokens[0]?.phase).toBe("asking");
    waiting.answerGate("ask", "revise");
    waiting.goOn({ revise: ["once", null] });
    expect(waiting.path()).toEqual(["plan", "ask", "revise", "ask", "revise"]);
  });
});

const forked = (patch = {}, joining = {}) =>
  graphOf(
    [
      parallel("p", ["a", "b", "c"], patch),
      review("a"),
      tool("b"),
      review("c"),
      join("p-join", joining),
      exit("good"),
      exit("bad"),
    ],
    [
      "a -> p-join",
      "b -> p-join",
      'p-join -> good if outcome("p-join") == "success"',
      'p-join -> bad if outcome("p-join") != "success"',
    ],
  );

describe("parallel stages", () => {
  it("E8 all branches run at once, up to the limit", () => {
    const world = new World(forked()).play({ a: [null], b: [null], c: [null] });
    expect(world.life.state.tokens.map((token) => token.stage)).toEqual(["p", "a", "b", "c"]);
    const two = new World(forked({ maxParallel: 2 })).play({ a: [null], b: [null], c: [null] });
    expect(two.life.state.tokens.map((token) => token.stage)).toEqual(["p", "a", "b"]);
    two.goOn();
    expect(two.ending()).toMatchObject({ status: "success", stage: "good" });
    const timed = new World(forked({ branchTimeoutMs: 1000 }));
    timed.arrive({ type: "started" });
    const turn = timed.turns("a")[0]?.key ?? "";
    timed.arrive({ type: "crashed", key: turn, effect: "turn", message: "x" });
    timed.arrive({ type: "crashed", key: turn.replace("a1", "a2"), effect: "turn", message: "x" });
    timed.arrive({ type: "crashed", key: turn.replace("a1", "a3"), effect: "turn", message: "x" });
    expect([...timed.owed.values()].filter((effect) => effect.kind === "timer")).toHaveLength(2);
  });

  it("E8 E5 a join that failed and ended the workflow is resumed by its failed branches, the others keep what they found", () => {
    const graph = graphOf(
      [parallel("p", ["a", "b", "c"]), tool("a"), tool("b"), tool("c"), join("p-join"), exit()],
      ["a -> p-join", "b -> p-join", "c -> p-join", "p-join -> exit"],
    );
    const ended = new World(graph).play({ b: [1] });
    expect(ended.ending()).toMatchObject({ status: "fail", stage: "p-join" });
    const again = new World(graph, {}, ended.life.state).play({ b: [2] });
    expect(again.path()).toEqual(["p", "b", "p-join"]);
    const resumed = new World(graph, {}, again.life.state).play();
    expect([resumed.path(), resumed.ending()?.status]).toEqual([["p", "b", "p-join", "exit"], "success"]);
    expect([resumed.record("b").visits, resumed.life.state.blocks]).toEqual([3, []]);
  });

  it("E8 findings and values are in the order of the branches, whoever was first", () => {
    const write = (text: string) => ({ reply: { text: "[STATUS: fail]" }, contextUpdates: { who: text } });
    const world = new World(forked());
    world.play({ a: [null], b: [null], c: [write("c")] });
    world.goOn({ a: [null], b: [1] });
    world.goOn({ a: [write("a")] });
    const list = value(world, "review.findings");
    expect(list && "json" in list && (list.json as { stageId: string }[]).map((one) => one.stageId)).toEqual([
      "a",
      "b",
      "c",
    ]);
    expect(value(world, "who")).toEqual({ json: "c" });
    expect(world.ending()).toMatchObject({ stage: "bad" });
  });

  it("E8 a branch does not see what another has written before the join", () => {
    const graph = graphOf(
      [parallel("p", ["a", "b"]), llm("a"), llm("b"), llm("b2"), join("p-join"), exit()],
      ["a -> p-join", "b -> b2", "b2 -> p-join", "p-join -> exit"],
    );
    const world = new World(graph).play({
      b: [null],
      b2: [null],
      a: [{ reply: { text: "hi" }, contextUpdates: { k: 1 } }],
    });
    expect(contextOf(world.life, graph, "main/p:1").has("k")).toBe(false);
    world.goOn();
    expect(value(world, "k")).toEqual({ json: 1 });
  });

  it("E8 one branch's crash neither loses nor delays the others' results", () => {
    const world = new World(forked()).play({ a: [failed("x")], b: [{ crash: "boom" }], c: ["[STATUS: success]"] });
    const outcomes = ["a", "b", "c", "p-join"].map((stage) => world.record(stage).outcome);
    expect(outcomes).toEqual(["fail", "fail", "success", "fail"]);
    expect(world.ending()).toMatchObject({ status: "success", stage: "bad" });
  });

  it("E8 a join judges by its policy", () => {
    const rows: [Parameters<typeof join>[1], [string, number, string], string][] = [
      [{ policy: "all" }, ["success", 0, "success"], "success"],
      [{ policy: "all" }, ["success", 0, "partial_success"], "partial_success"],
      [{ policy: "all" }, ["success", 1, "success"], "fail"],
      [{ policy: "any" }, ["fail", 1, "success"], "success"],
      [{ policy: "any" }, ["fail", 1, "fail"], "fail"],
      [{ policy: "quorum", quorum: 2 }, ["success", 0, "fail"], "success"],
      [{ policy: "quorum", quorum: 2 }, ["success", 1, "fail"], "fail"],
    ];
    for (const [policy, [a, b, c], outcome] of rows) {
      const script = { a: [`[STATUS: ${a}]`], b: [b], c: [`[STATUS: ${c}]`] };
      const world = new World(forked({}, policy), { settings: unbounded }).play(script);
      expect([policy, world.record("p-join").outcome]).toEqual([policy, outcome]);
    }
  });

  it("E8 a branch whose time is up is not tried again, whatever its back-off is", () => {
    const backoff = { kind: "fixed", delayMs: 3_600_000, maxDelayMs: 3_600_000 } as const;
    const a = tool("a", { maxAttempts: 3, retriesFail: true, backoff });
    const graph = graphOf(
      [parallel("p", ["a", "b"], { branchTimeoutMs: 1000 }), a, tool("b"), join("p-join"), exit()],
      ["p-join -> exit"],
    );
    const world = new World(graph);
    const isExpired = () => world.life.state.tokens.some(({ expired }) => expired);
    world.play({ a: () => (isExpired() ? 1 : null) });
    expect(world.executions("a")).toBe(1);
    expect(world.at).toBeLessThan(1_000_000 + 60_000);
    expect(world.ending()?.status).toBe("fail");
  });

  it("a parallel stage that cannot be begun has failed, within a branch too", () => {
    const depth = 9;
    const stages = Array.from({ length: depth }, (_, n) => [
      parallel(`p${n}`, [n + 1 === depth ? "work" : `p${n + 1}`]),
      join(`p${n}-join`),
    ]);
    const graph = graphOf([...stages.flat(), tool("work"), exit()], ["p0-join -> exit"]);
    const world = new World(graph).play();
    expect(world.path()).not.toContain("work");
    expect(world.record("p8")).toMatchObject({ outcome: "fail", reason: "parallel stages are nested too deeply" });
    expect(world.ending()?.status).toBe("fail");
  });

  it("E8 a branch whose time is up is ended and fails, the others go on", () => {
    const world = new World(forked({ branchTimeoutMs: 60_000 }));
    world.play({ a: [null], b: [0], c: ["[STATUS: success]"] });
    expect(world.ending()).toMatchObject({ stage: "bad" });
    expect(world.history.filter((effect) => effect.kind === "stop")).toHaveLength(1);
    expect(world.record("p-join").reason).toContain("a (its time was up)");
    expect(world.record("a")).toMatchObject({ outcome: "fail", reason: "the branch's time was up" });
    expect(world.record("c").outcome).toBe("success");
    expect(world.reported("finding-raised")).toMatchObject([{ stage: "a", source: "protocol" }]);
    expect(world.life.ledger.findings[0]?.body.text).toMatch(/^the branch's time was up\n\na is done/);
    const tool = new World(forked({ branchTimeoutMs: 60_000 })).play({ b: [null] });
    expect(tool.reported("finding-raised")).toMatchObject([{ stage: "b", title: "the branch's time was up" }]);
    expect(value(tool, "b.status")).toEqual({ json: "fail" });
    expect(value(tool, "tool.output")).toEqual({ json: "output of b" });
  });

  it("E8 parallel stages may be nested, and a time that is up ends what is below", () => {
    const graph = graphOf(
      [
        parallel("p", ["q", "b"], { branchTimeoutMs: 1000 }),
        parallel("q", ["c", "d"], { maxParallel: 1 }),
        tool("b"),
        tool("c"),
        tool("d"),
        join("q-join"),
        join("p-join"),
        exit(),
      ],
      ["c -> q-join", "d -> q-join", "q-join -> p-join", "b -> p-join", 'p-join -> exit if outcome("p-join") != ""'],
    );
    expect(new World(graph).play().path()).toEqual(["p", "q", "b", "c", "d", "q-join", "p-join", "exit"]);
    const late = new World(graph).play({ c: [null] });
    expect(late.path()).not.toContain("d");
    expect(late.record("p-join").outcome).toBe("fail");
    expect(late.ending()?.status).toBe("success");
  });
});

describe("cancelling and resuming", () => {
  const chain = graphOf([tool("a"), tool("b"), exit()], ["a -> b", "b -> exit"]);

  it("E4 a cancel stops what runs, and a resume executes it again as the same visit", () => {
    const world = new World(chain).play({ b: [null] });
    world.signal({ name: "cancel" });
    expect(world.history.at(-1)).toMatchObject({ kind: "stop", folder: "02-b", how: "kill" });
    world.goOn({ b: [null] });
    expect(world.ending()).toMatchObject({ status: "cancelled" });
    expect(world.owed.size).toBe(0);
    const again = new World(chain, {}, world.life.state).play();
    expect(again.history.filter((effect) => effect.kind === "command")).toMatchObject([
      { key: "stage:b:v1:a1", visit: 1, folder: "03-b" },
    ]);
    expect(again.ending()?.status).toBe("success");
  });

  it("E4 what ended after the cancel by itself is not run again", () => {
    const world = new World(chain).play({ b: [null] });
    world.signal({ name: "cancel" });
    world.goOn({ b: [0] });
    expect(world.ending()?.status).toBe("cancelled");
    const again = new World(chain, {}, world.life.state).play();
    expect(again.history.some((effect) => effect.kind === "command")).toBe(false);
    expect(again.path()).toEqual(["exit"]);
  });

  it("E7 a gate that is answered while all is ended is not asked again", () => {
    const asking = graphOf(
      [parallel("p", ["ask", "b"]), human("ask", ["p-join", "b"]), tool("b"), join("p-join"), exit()],
      ["b -> p-join", "p-join -> exit"],
    );
    const world = new World(asking).play({ b: [null] });
    world.signal({ name: "cancel" });
    world.answerGate("ask", "p-join");
    world.goOn({ b: [null] });
    expect([world.ending()?.status, world.record("ask")]).toMatchObject(["cancelled", { outcome: "success" }]);
    const again = new World(asking, {}, world.life.state).play();
    expect([again.path(), again.ending()?.status]).toEqual([["b", "p-join", "exit"], "success"]);
  });

  it("E4 branches that were cancelled are all taken up again", () => {
    const world = new World(forked({ maxParallel: 2 })).play({ a: [null], b: [null] });
    world.signal({ name: "cancel" });
    world.goOn({ a: [null], b: [null] });
    expect(world.ending()?.status).toBe("cancelled");
    const again = new World(forked({ maxParallel: 2 }), {}, world.life.state).play();
    expect(again.path()).toEqual(["a", "b", "c", "p-join", "good"]);
  });

  it("E8 a branch that is taken up again has its time anew", () => {
    const world = new World(forked({ branchTimeoutMs: 60_000 })).play({ a: [null], b: [0], c: [null] });
    const timed = new World(forked({ branchTimeoutMs: 60_000 }));
    timed.arrive({ type: "started" });
    timed.signal({ name: "cancel" });
    timed.goOn({ a: [null], b: [null], c: [null] });
    const again = new World(forked({ branchTimeoutMs: 60_000 }), {}, timed.life.state).play({ a: [null] });
    expect(world.ending()?.stage).toBe("bad");
    expect(again.ending()?.stage).toBe("bad");
  });

  it("after a crash nothing changes but what is told to stop: a command is not run again for it", () => {
    const world = new World(chain).play({ b: [null] });
    world.arrive({ type: "resumed" });
    expect(world.life.state.tokens[0]?.phase).toBe("running");
    world.signal({ name: "cancel" });
    world.arrive({ type: "resumed" });
    expect(world.ending()?.status).toBe("cancelled");
  });

  it("E5 a removed stage that has run or is stood on is an error, anything else may change", () => {
    const world = new World(chain).play({ b: [1] });
    const { state } = world.life;
    const without = (id: string) => ({ ...chain, stages: chain.stages.filter((stage) => stage.id !== id) });
    expect(adoptGraph(state, without("a"))).toEqual({
      error: "stage a is no longer in flow.awf.kdl, but it has run already",
    });
    expect(adoptGraph(state, without("b"))).toMatchObject({ error: expect.stringContaining("execution stands on it") });
    const edited = { ...chain, stages: [...chain.stages, llm("c")], transitions: [way("b -> c"), way("c -> exit")] };
    const adopted = adoptGraph(state, edited);
    if ("error" in adopted) throw new Error(adopted.error);
    expect(new World(edited, {}, adopted.state).play().path()).toEqual(["b", "c", "exit"]);
  });

  it("a missing transition that an edited file adds is taken without running the stage again", () => {
    const open = graphOf([tool("a"), exit()], ['a -> exit if exists("never")']);
    const world = new World(open).play();
    expect(world.ending()?.reason).toContain("no matching transition");
    const mended = { ...open, transitions: [way("a -> exit")] };
    expect(new World(mended, { settings }, world.life.state).play().path()).toEqual(["exit"]);
  });
});

describe("workspaces and workflows in workflows", () => {
  it("stages behind workspace.create work there until it is cleaned up; a conflict is a failure", () => {
    const stages = [
      workspace("workspace.create", "make"),
      tool("a"),
      workspace("workspace.merge", "merge"),
      workspace("workspace.cleanup", "clean"),
      tool("b"),
      exit(),
    ];
    const graph = graphOf(stages, ["make -> a", "a -> merge", "merge -> clean", "clean -> b", "b -> exit"]);
    const world = new World(graph).play();
    expect(world.history.filter((effect) => effect.kind === "command").map((effect) => effect.workspace)).toEqual([
      "ws",
      null,
    ]);
    expect(world.life.state.workspaces).toEqual({});
    const conflict = new World(graph).play({ merge: [1] });
    expect(conflict.ending()).toMatchObject({
      status: "fail",
      stage: "merge",
      reason: "stage merge failed: a conflict",
    });
  });

  it("a workflow's ending is its stage's outcome, and a cancel is told to it", () => {
    const graph = graphOf([child("sub"), exit()], ["sub -> exit"]);
    expect(new World(graph).play().ending()?.status).toBe("success");
    expect(new World(graph).play({ sub: [1] }).ending()).toMatchObject({ status: "fail", stage: "sub" });
    const world = new World(graph).play({ sub: [null] });
    const folder = "01-sub";
    expect(world.history.at(-1)).toMatchObject({ kind: "child", child: "sub-v1-a1", folder, ref: "other" });
    world.signal({ name: "cancel" });
    expect(world.history.some((effect) => effect.kind === "tell")).toBe(true);
    world.goOn({ sub: [null] });
    expect(world.ending()?.status).toBe("cancelled");
    const again = new World(graph, {}, world.life.state).play();
    expect(again.history.find(({ kind }) => kind === "child")).toMatchObject({ folder: "02-sub", continues: "r1/sub" });
    expect(again.ending()?.status).toBe("success");
  });
});
