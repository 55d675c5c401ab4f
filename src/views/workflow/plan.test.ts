import { expect, it } from "vitest";
import { parseDot } from "../../workflow/dot/parse-dot.js";
import { planOf } from "./plan.js";

it.each([
  ["one way", "start -> a -> b -> exit", "start a b exit"],
  ["a loop and a choice", "start -> a -> gate; gate -> exit; gate -> fix -> a", "start a gate fix exit"],
  [
    "retry targets",
    "retry_target=mend; start -> a -> exit; a [retry_target=again]; again; mend",
    "start a again mend exit",
  ],
  [
    "branches",
    "p [shape=component]; j [shape=tripleoctagon]; start -> p -> {a b c} -> j -> exit",
    "start p a b c j exit",
  ],
])("the plan of %s has every stage that can be reached, in order", (_what, text, expected) => {
  const { graph } = parseDot(`digraph { ${text} }`, { file: "w.dot" });
  if (graph === null) throw new Error("the graph is wrong");
  expect(
    planOf(graph)
      .map(({ id }) => id)
      .join(" "),
  ).toBe(expected);
});
