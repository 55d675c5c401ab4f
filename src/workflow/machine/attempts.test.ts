import { describe, expect, it } from "vitest";
import { failed, settings, unbounded, World } from "./fixture.js";
import { decision, exit, graphOf, llm, named, review, tool } from "./fixture-graph.js";

const backoff = { kind: "exponential", delayMs: 1000, maxDelayMs: 60_000 } as const;

describe("attempts, goal gates and loops", () => {
  it("E3 three attempts are exactly three executions, with a back-off that grows and differs", () => {
    const stage = tool("a", { maxAttempts: 3, retriesFail: true, backoff });
    const world = new World(graphOf([stage, exit()], ["a -> exit"])).play({ a: [1] });
    expect(world.executions("a")).toBe(3);
    const waits = world.history.flatMap((effect) => (effect.kind === "timer" ? [effect.until] : []));
    expect(waits).toHaveLength(2);
    const [first = 0, second = 0] = world.reported("waiting").map(({ until }) => Number(until) - 1_000_000);
    expect(first).toBeGreaterThanOrEqual(1000);
    expect(first).toBeLessThanOrEqual(1260);
    expect(second - first).toBeGreaterThanOrEqual(2000);
    expect(world.ending()).toMatchObject({ status: "fail", stage: "a" });
  });

  it("E3 a cancel during the back-off ends at once", () => {
    const stage = tool("a", { maxAttempts: 3, retriesFail: true, backoff });
    const world = new World(graphOf([stage, exit()], ["a -> exit"]));
    world.arrive({ type: "started" });
    const command = [...world.owed.keys()].find((key) => key.startsWith("stage:")) ?? "";
    world.arrive({ type: "crashed", key: command, effect: "command", message: "gone" });
    expect([...world.owed.values()].some((effect) => effect.kind === "timer")).toBe(true);
    world.signal({ name: "cancel" });
    expect(world.ending()?.status).toBe("cancelled");
    expect(world.owed.size).toBe(0);
  });

  it("a failure is retried only where the workflow says so, machinery and `retry` also without", () => {
    const unseen = { outcome: { type: "failed", reason: "no place to look at", broke: true } } as const;
    const rows: [ReturnType<typeof review>, string | { crash: string } | typeof unseen, number][] = [
      [review("a"), failed("x"), 1],
      [review("a", { maxAttempts: 2, retriesFail: true }), failed("x"), 2],
      [review("a"), "no marker here", 3],
      [review("a"), "", 3],
      [review("a"), "[STATUS: retry]", 3],
      [review("a", { maxAttempts: 1, retriesFail: true }), "[STATUS: retry]", 1],
      [llm("a"), { crash: "broken" }, 3],
      [llm("a"), unseen, 3],
      [llm("a"), "", 1],
    ];
    for (const [stage, answer, executions] of rows) {
      const world = new World(graphOf([stage, exit()], ['a -> exit if outcome("a") == "success"'])).play({
        a: [answer],
      });
      expect([answer, world.executions("a")]).toEqual([answer, executions]);
      expect(world.ending()?.status).toBe("fail");
    }
  });

  it("allow_partial: retries that are used up are a partial success of whatever failed, and its finding stays", () => {
    const retried = { maxAttempts: 2, retriesFail: true, allowPartial: true };
    const rows: [ReturnType<typeof review | typeof tool>, number | string | { crash: string }, string][] = [
      [tool("a", retried), 3, "partial_success"],
      [review("a", retried), failed("x"), "partial_success"],
      [review("a", { allowPartial: true }), "[STATUS: retry]", "partial_success"],
      [tool("a", { allowPartial: true }), 3, "fail"],
      [tool("a", { ...retried, maxAttempts: 1 }), 3, "fail"],
      [tool("a", retried), { crash: "broken" }, "fail"],
      [review("a", retried), "no marker here", "fail"],
    ];
    for (const [stage, answer, outcome] of rows) {
      const world = new World(graphOf([stage, exit()], ['a -> exit if outcome("a") != ""'])).play({ a: [answer] });
      expect([answer, world.record("a").outcome]).toEqual([answer, outcome]);
      expect(world.life.ledger.findings).toMatchObject([{ stage: "a", status: "open" }]);
    }
  });

  it("E6 markers of a stage that is no review set no status; an empty reply is no success unless the tree changed", () => {
    const graph = graphOf([llm("a"), exit()], ["a -> exit"]);
    expect(new World(graph).play({ a: [failed("x")] }).ending()?.status).toBe("success");
    expect(new World(graph).play({ a: [""] }).ending()).toMatchObject({ status: "fail", stage: "a" });
    expect(new World(graph).play({ a: [{ reply: { text: "" }, changed: true }] }).ending()?.status).toBe("success");
    const dot = graphOf(
      [review("a", { withoutStatus: "success" }), exit()],
      ['a -> exit if outcome("a") == "success"'],
    );
    expect(new World(dot).play({ a: ["looks fine"] }).ending()?.status).toBe("success");
    expect(new World(dot).play({ a: [""] }).ending()?.status).toBe("fail");
    expect(new World(dot).play({ a: ["[STATUS: maybe]"] }).ending()?.status).toBe("fail");
    const none = { from: "marker", status: null, failureReason: null, preferredLabel: null, nextIds: [] } as const;
    const inOtherWords = { reply: { text: "It leaks" }, status: { ...none, failing: "leaks" } };
    const told = new World(dot).play({ a: [inOtherWords] });
    expect(told.executions("a")).toBe(1);
    expect(told.record("a")).toMatchObject({ outcome: "fail", reason: "leaks" });
  });

  it("an agent that is overloaded, silent, lost or forgetful is tried again under the same attempt", () => {
    const graph = graphOf([llm("a"), exit()], ["a -> exit"]);
    const trouble = [
      { outcome: { type: "transient", reason: "429" } },
      { outcome: { type: "idle" } },
      { outcome: { type: "lost" } },
      { outcome: { type: "limited", until: null, reason: "5 h" } },
      { outcome: { type: "no-session" } },
      "done",
    ] as const;
    const world = new World(graph).play({ a: trouble });
    expect(world.ending()?.status).toBe("success");
    expect(world.turns().map((turn) => turn.key)).toEqual(
      ["", ":r1", ":r2", ":r3", ":r4", ":r5"].map((repeat) => `stage:a:v1:a1${repeat}`),
    );
    expect(world.turns().map(({ prompt, interrupted = "" }) => `${prompt} ${interrupted}`)).toEqual([
      ...["stage ", "stage ", "continue idle", "continue lost", "continue limited", "stage "],
    ]);
    expect(new Set(world.turns().map((turn) => turn.folder)).size).toBe(6);
    expect(world.reported("stage-ended")[0]).toMatchObject({ attempts: 1, seconds: 12, usage: { input_tokens: 60 } });
  });

  it("E2 an unmet goal gate at the exit goes back to its retry target, and fails by name when there is none", () => {
    const gate = review("check", { goalGate: true, retryTarget: named("work") });
    const ways = ["work -> check", "check -> exit"];
    const world = new World(graphOf([llm("work"), gate, exit()], ways)).play({
      check: [failed("no"), "[STATUS: success]"],
    });
    expect(world.path()).toEqual(["work", "check", "exit", "work", "check", "exit"]);
    expect(world.ending()?.status).toBe("success");
    const none = graphOf([llm("work"), { ...gate, retryTarget: null }, exit()], ways);
    const failing = new World(none).play({ check: [failed("no")] });
    expect(failing.ending()).toMatchObject({ status: "fail", stage: "check" });
    expect(failing.ending()?.reason).toContain("goal gate check is not met: no");
    const resumed = new World(none, {}, failing.life.state).play();
    expect(resumed.ending()).toMatchObject({ status: "fail", stage: "check" });
  });

  it("E2 going back for a goal gate is bounded, also when the gate itself is not visited again", () => {
    const gate = review("check", { goalGate: true, retryTarget: named("work") });
    const ways = [
      'work -> check if !exists("check.status")',
      'work -> exit if exists("check.status")',
      "check -> exit",
    ];
    const world = new World(graphOf([llm("work"), gate, exit()], ways), { settings: unbounded });
    world.play({ check: [failed("no")] });
    expect(world.ending()).toMatchObject({ status: "fail", stage: "check" });
    expect(world.path().filter((stage) => stage === "exit")).toHaveLength(11);
  });

  it("E9 the same failure three times in a row stops the run with a diagnosis", () => {
    const graph = graphOf(
      [tool("ci"), llm("fix"), exit()],
      ['ci -> fix if outcome("ci") == "fail"', 'ci -> exit if outcome("ci") == "success"', "fix -> ci"],
    );
    const world = new World(graph).play({ ci: [1] });
    expect(world.ending()).toMatchObject({ status: "fail", stage: "ci" });
    expect(world.ending()?.reason).toBe("stage ci failed 3 times in a row with the same failure: ci exited with 1");
    expect(world.executions("ci")).toBe(3);
    const changing = new World(graph).play({ ci: [1, 1, 2, 0] });
    expect(changing.ending()?.status).toBe("success");
    const resumed = new World(graph, {}, world.life.state).play({ ci: [1, 0] });
    expect(resumed.path()).toEqual(["fix", "ci", "fix", "ci", "exit"]);
    expect(resumed.ending()?.status).toBe("success");
  });

  it("the time in which nobody was at work on it adds up over resumes and kills, and is not counted before it began", () => {
    const graph = graphOf([tool("ci"), exit()], ["ci -> exit"]);
    const fresh = new World(graph);
    fresh.arrive({ type: "started", since: fresh.at - 500 });
    expect(fresh.life.state.awayMs).toBeUndefined();
    const ended = new World(graph).play({ ci: [1] });
    const resumed = new World(graph, {}, ended.life.state);
    resumed.arrive({ type: "started", since: resumed.at - 999 });
    resumed.arrive({ type: "resumed", since: resumed.at - 499 });
    expect(resumed.life.state.awayMs).toBe(1500);
  });

  it("E9 reviews that give no reason are alike where they say the same, and a partial success is no failure", () => {
    const graph = graphOf(
      [review("r"), tool("fix"), exit()],
      ['r -> exit if outcome("r") == "success"', "r -> fix", "fix -> r"],
    );
    const said = (text: string, status: string) => `${text}\n[STATUS: ${status}]`;
    const others = new World(graph).play({ r: (n) => said(`thing ${n}`, n < 5 ? "fail" : "success") });
    expect([others.ending()?.status, others.executions("r")]).toEqual(["success", 5]);
    const partial = new World(graph).play({ r: (n) => said("thing", n < 5 ? "partial_success" : "success") });
    expect([partial.ending()?.status, partial.executions("r")]).toEqual(["success", 5]);
    expect(new World(graph).play({ r: [said("thing", "fail")] }).executions("r")).toBe(3);
  });

  it("E9 rounds in which no fewer stages have findings stop the run", () => {
    const graph = graphOf(
      [review("r"), decision("gate"), llm("fix"), exit()],
      ["r -> gate", 'gate -> exit if outcome("r") == "success"', "gate -> fix if true", "fix -> r"],
    );
    const world = new World(graph).play({ r: (n) => failed(`thing ${n}`) });
    expect(world.ending()?.reason).toBe("3 rounds without fewer findings; still open in: r");
    expect(world.turns("fix")).toHaveLength(3);
    const two = graphOf(
      [review("r"), decision("gate"), llm("fix"), llm("more"), exit()],
      ["r -> gate", 'gate -> exit if outcome("r") == "success"', "gate -> fix if true", "fix -> more", "more -> r"],
    );
    expect(new World(two).play({ r: (n) => failed(`thing ${n}`) }).turns("fix")).toHaveLength(3);
  });

  it("E9 max_visits is honoured, and a stage without has the engine's own limit", () => {
    const loop = (maxVisits: number | null) =>
      new World(graphOf([tool("a", { maxVisits })], ["a -> a"]), { settings }).play();
    expect(loop(5).executions("a")).toBe(5);
    expect(loop(5).ending()).toMatchObject({ status: "fail", stage: "a" });
    expect(loop(5).ending()?.reason).toContain("max_visits 5");
    expect(loop(null).executions("a")).toBe(100);
  });

  it("stages of full fidelity go on in the session of their thread, others start anew", () => {
    const full = { fidelity: "full", thread: "t" } as const;
    const stages = [llm("a", full), llm("b"), llm("c", full), exit()];
    const world = new World(graphOf(stages, ["a -> b", "b -> c", "c -> exit"])).play();
    expect(world.turns().map((turn) => turn.session)).toEqual([null, null, "session-stage:a:v1:a1"]);
  });

  it("the budget of the run ends it before another turn starts", () => {
    const world = new World(graphOf([llm("a"), llm("b"), exit()], ["a -> b", "b -> exit"]));
    world.play({ a: [{ runBudget: "5 of 5 USD" }] });
    expect(world.ending()?.reason).toContain("5 of 5 USD");
    expect(world.turns()).toHaveLength(1);
  });

  it("a turn that its budget stopped is not tried again, but executed as the same visit by a resume", () => {
    const world = new World(graphOf([llm("a"), exit()], ["a -> exit"]));
    world.play({ a: [{ outcome: { type: "stopped" }, runBudget: "5 of 5 USD" }] });
    expect([world.turns().length, world.ending()]).toEqual([1, expect.objectContaining({ budget: true })]);
    expect(world.life.state.tokens).toMatchObject([{ stage: "a", phase: "ready", visit: 1 }]);
  });
});
