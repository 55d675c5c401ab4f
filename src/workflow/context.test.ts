import { describe, expect, it } from "vitest";
import { appendToArray, contextOf, keyOf, plainOf, textOf } from "./context.js";
import { World } from "./machine/fixture.js";
import { exit, graphOf, llm, tool } from "./machine/fixture-graph.js";
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
});
