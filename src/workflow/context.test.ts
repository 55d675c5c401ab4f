import { describe, expect, it } from "vitest";
import { appendToArray, contextOf, isEngineName, keyOf, plainOf, textOf } from "./context.js";
import { World } from "./machine/fixture.js";
import { decision, exit, graphOf, llm, tool, workspace } from "./machine/fixture-graph.js";
import { newWorkflow } from "./machine/machine.js";
import type { Values } from "./machine/state.js";

const chain = graphOf([llm("a"), tool("b"), exit()], ["a -> b", "b -> exit"]);

describe("the context", () => {
  it("has outcomes, replies, the last output, the goal, the inputs and what agents wrote", () => {
    const world = new World(chain, {}, newWorkflow({ k: "input" }));
    world.play({
      a: [{ reply: { text: "hello" }, contextUpdates: { n: { deep: [1] }, outcome: "forged", "a.status": "x" } }],
    });
    const context = contextOf(world.life, chain);
    const plain = (key: string) => plainOf(context.get(key));
    expect(plain("a.status")).toBe("success");
    expect(plain("outcome")).toBe("success");
    expect(plain("a.response")).toBe("hello");
    expect(plain("a._full_response")).toBe("hello");
    expect(plain("tool.output")).toBe("output of b");
    expect(plain(keyOf("goal"))).toBe("the goal");
    expect(plain("k")).toBe("input");
    expect(plain("n")).toEqual({ deep: [1] });
    expect(context.has("constructor")).toBe(false);
    expect(context.has("__proto__")).toBe(false);
    expect(context.keys()).toEqual(
      expect.arrayContaining(["outcome", "a.status", "a.response", "tool.output", "k", "n"]),
    );
  });

  it("has nothing from an agent that is the engine's to say, and says so; no list of keys has the findings", () => {
    const forged = {
      ...{ "review.findings": ["forged"], "graph.goal": "x", "graph.label": "x", outcome: "x", "b.status": "x" },
      ...{
        "human.gate.feedback": "x",
        "tool.output": "x",
        "a.response": "x",
        "a._full_response": "x",
        last_stage: "x",
      },
    };
    const mine = { "review.notes": 1, "other.status": 2, "c.response": 3 };
    const world = new World(chain).play({
      a: [{ reply: { text: "hello" }, contextUpdates: { ...forged, ...mine }, contextAppends: forged }],
      b: [null],
    });
    expect(world.life.state.values).toEqual({
      "a.response": "hello",
      ...Object.fromEntries(Object.entries(mine).map(([key, json]) => [key, { json }])),
    });
    const warned = world.reported("log").filter(({ level }) => level === "warn");
    expect(warned).toHaveLength(2);
    expect(warned[0]?.text).toContain("The agent may not set review.findings, graph.goal");
    const older = new World(chain, {}, newWorkflow({ "review.findings": "x", "graph.label": "x", k: "x" }));
    expect(contextOf(older.life, chain).keys()).toEqual(["graph.goal", "k"]);
  });

  it("has a command's output without the line ends at its end, so that it can be compared; its file has all of it", () => {
    const plain = (more: object) => {
      const world = new World(chain).play({ b: [more] });
      return contextOf(world.life, chain).get("tool.output");
    };
    expect(plain({ output: { text: "3\n" } })).toEqual({ json: "3" });
    expect(plain({ output: { text: "one\n\ntwo\r\n\n" } })).toEqual({ json: "one\n\ntwo" });
    const ref = { path: "f", bytes: 1001, sha256: "" };
    const long = plain({ output: { text: `${"x".repeat(1000)}\n` }, outputFile: ref });
    expect(long).toEqual({ text: { text: "x".repeat(512), ref }, trimmed: true });
    const longer = plain({ output: { text: "a\n", ref } });
    expect(longer).toEqual({ text: { text: "a\n", ref }, trimmed: true });
  });

  it("compares nothing by the beginning of a long text, neither as a text nor as a number", () => {
    const ref = { path: "f", bytes: 5000, sha256: "" };
    const ways = [
      'b -> same if output("tool.output") == "3   " || output("tool.output") == 3',
      'b -> exit if exists("tool.output") && output("tool.output") != ""',
    ];
    const graph = graphOf([tool("b"), exit("same"), exit()], ways);
    expect(new World(graph).play({ b: [{ output: { text: "3   ", ref } }] }).path()).toEqual(["b", "exit"]);
    expect(new World(graph).play({ b: [{ output: { text: "3   " } }] }).path()).toEqual(["b", "same"]);
  });

  it("leaves out what would make the state large, and says so", () => {
    const world = new World(chain).play({ a: [{ reply: { text: "x" }, contextUpdates: { big: "x".repeat(20_000) } }] });
    expect(contextOf(world.life, chain).has("big")).toBe(false);
    expect(world.reported("log").some(({ text }) => text.includes("big"))).toBe(true);
    const many = Object.fromEntries(Array.from({ length: 700 }, (_, n) => [`k${n}`, n]));
    const crowded = new World(chain).play({ a: [{ reply: { text: "x" }, contextUpdates: many }] });
    expect(contextOf(crowded.life, chain).keys().length).toBeLessThan(520);
    expect(crowded.reported("log").some(({ text }) => text.includes("too many values"))).toBe(true);
  });

  it("F10 appending creates the list, adds to it, replaces what is none, and changes no earlier snapshot", () => {
    const empty: Values = {};
    const one = appendToArray(empty, "k", 1);
    const two = appendToArray(one, "k", { a: 2 });
    expect([empty, one, two]).toEqual([{}, { k: { json: [1] } }, { k: { json: [1, { a: 2 }] } }]);
    expect(appendToArray({ k: { json: "text" } }, "k", 1)).toEqual({ k: { json: [1] } });
    const graph = graphOf([llm("a"), llm("c"), exit()], ["a -> c", "c -> exit"]);
    const append = (n: number) => ({ reply: { text: "x" }, contextAppends: { list: n } });
    const world = new World(graph).play({ a: [append(1)], c: [append(2)] });
    expect(plainOf(contextOf(world.life, graph).get("list"))).toEqual([1, 2]);
  });

  it("gives texts whole, where they are in a file by reading it", () => {
    const ref = { path: "f", bytes: 9, sha256: "" };
    expect(textOf({ text: { text: "head", ref } }, () => "the whole")).toBe("the whole");
    expect(textOf({ text: { text: "short" } }, () => "never")).toBe("short");
    expect(textOf({ text: { text: "head", ref }, trimmed: true }, () => "a\n\nb\r\n\n")).toBe("a\n\nb");
    expect([textOf({ json: { a: 1 } }, () => ""), textOf({ json: "s" }, () => "")]).toEqual(['{"a":1}', "s"]);
  });

  it("says why a stage failed that adds no finding, until it passes", () => {
    const stages = [
      workspace("workspace.create", "make"),
      workspace("workspace.merge", "merge"),
      decision("d"),
      exit(),
    ];
    const graph = graphOf(stages, [
      "make -> merge",
      "merge -> d",
      'd -> merge if outcome("merge") == "fail"',
      "d -> exit",
    ]);
    const failed = new World(graph).play({ merge: [1, 1, 1] });
    const context = contextOf(failed.life, graph);
    expect(plainOf(context.get("merge.failure_reason"))).toBe("a conflict");
    expect(context.keys()).toContain("merge.failure_reason");
    expect(context.has("make.failure_reason")).toBe(false);
    const mended = new World(graph).play({ merge: [1, 0] });
    expect(contextOf(mended.life, graph).has("merge.failure_reason")).toBe(false);
    const commands = new World(chain).play({ b: [1] });
    expect(contextOf(commands.life, chain).has("b.failure_reason")).toBe(false);
  });

  it("knows the names that only a workflow can mean", () => {
    const ours = ["tool.output", "graph.goal", "review.findings", "a.response", "b.status", "human.gate.label"];
    const others = ["goal", "outcome", "graph.svg", "f.txt", "b.response", "HOME.old"];
    expect([...ours, ...others].filter((name) => isEngineName(chain, name))).toEqual(ours);
  });
});
