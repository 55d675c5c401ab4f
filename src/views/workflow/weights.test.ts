import fc from "fast-check";
import { expect, it } from "vitest";
import { parseDot } from "../../workflow/dot/parse-dot.js";
import { evaluate } from "../../workflow/expression/evaluate.js";
import type { Expression } from "../../workflow/expression/expression.js";
import type { Graph } from "../../workflow/graph.js";
import { parseKdl } from "../../workflow/kdl/parse-kdl.js";
import { indexGraph } from "../../workflow/machine/graph-index.js";
import { selectWay } from "../../workflow/machine/select.js";
import { toDot } from "./to-dot.js";

const targets = ["z", "b", "m", "c"];

function kdlGraph(ways: readonly string[]): Graph {
  const stages = targets.map((id) => `stage "${id}" kind="tool" command="true"\ntransition from="${id}" to="exit"`);
  const text = `workflow "w" {\nversion 2\nstart "a"\nstage "a" kind="tool" command="true"\nstage "exit" kind="exit"
${[...stages, ...ways.map((way) => `transition from="a" ${way}`)].join("\n")}\n}`;
  const { graph } = parseKdl(text, { file: "w.awf.kdl" });
  if (graph === null) throw new Error(text);
  return graph;
}

function asDot(graph: Graph): { readonly text: string; readonly graph: Graph } {
  const text = toDot(graph);
  const read = parseDot(text, { file: "w.dot" });
  if (read.graph === null) throw new Error(text);
  return { text, graph: read.graph };
}

interface Seen {
  readonly outcome: string;
  readonly value: string | number | boolean | undefined;
}
function wayOn(graph: Graph, { outcome, value }: Seen): string | null {
  const view = {
    outcome: () => outcome,
    lastOutcome: outcome,
    preferredLabel: null,
    value: () => value,
    has: () => value !== undefined,
  };
  const holds = (when: Expression) => evaluate(when, view);
  const ways = indexGraph(graph).ways.get("a") ?? [];
  return selectWay({ ways, holds, preferredLabel: null, nextIds: [] })?.to.name ?? null;
}

const condition = fc.constantFrom(
  ...['outcome("a") == "success"', 'outcome("a") == "fail"', 'outcome("a") != "fail"', 'exists("k")', "false", "true"],
  ...['output("k") == "3"', 'context("k") == 3', 'output("k") == true', 'output("k") == "x" && outcome("a") == "fail"'],
  'output("k") == "3" || outcome("a") == "success"',
);
const way = fc
  .record({ to: fc.constantFrom(...targets), when: fc.option(condition), priority: fc.option(fc.integer({ max: 2 })) })
  .map(({ to, when, priority }) => {
    const rest = [when === null ? "" : `when=#"${when}"#`, priority === null ? "" : `priority=${priority % 3}`];
    return [`to="${to}"`, ...rest].join(" ");
  });
const seen: fc.Arbitrary<Seen> = fc.record({
  outcome: fc.constantFrom("success", "fail", "retry"),
  value: fc.constantFrom("3", 3, "3.0", "x", true, "true", undefined),
});

it("E11: a KDL file takes the same path as DOT, whatever happened, and is written the same again", () => {
  fc.assert(
    fc.property(fc.array(way, { minLength: 2, maxLength: 6 }), fc.array(seen, { minLength: 5 }), (ways, situations) => {
      const graph = kdlGraph(ways);
      const dot = asDot(graph);
      expect(toDot(dot.graph)).toBe(dot.text);
      for (const one of situations) expect(wayOn(dot.graph, one)).toBe(wayOn(graph, one));
    }),
    { numRuns: 100 },
  );
});

it.each([
  ["two that nothing decides between", ['to="z"', 'to="b"'], ["a -> z [weight=1]", "a -> b"]],
  [
    "priorities that DOT cannot read",
    ['to="b"', 'to="z" priority=9999999999', 'to="c" priority=9999999998'],
    ["a -> b", "a -> z [weight=2]", "a -> c [weight=1]"],
  ],
  ["the same in the order of names", ['to="b"', 'to="z"'], ["a -> b", "a -> z"]],
  [
    "conditions of which one holds",
    ['to="z" when=#"outcome("a") == "success""#', 'to="b" when=#"outcome("a") == "fail""#'],
    ['a -> z [condition="outcome(\\"a\\") == \\"success\\""]', 'a -> b [condition="outcome(\\"a\\") == \\"fail\\""]'],
  ],
  [
    "a condition and a way for the rest",
    ['to="z" when=#"exists("k")"#', 'to="b"'],
    ['a -> z [condition="exists(\\"k\\")"]', "a -> b"],
  ],
])("E11: a weight is written only where the order of the file decides: %s", (_what, ways, edges) => {
  const { text } = asDot(kdlGraph(ways));
  const written = text.split("\n").flatMap((line) => (line.startsWith("  a -> ") ? [line.trim().slice(0, -1)] : []));
  expect(written).toEqual(edges);
});
