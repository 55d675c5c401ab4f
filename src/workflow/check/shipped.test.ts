import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseKdl } from "../kdl/parse-kdl.js";
import { check } from "./check.js";

const files = readdirSync("workflows");

test("the shipped workflows are these", () => {
  const names = ["implement-plan", "parallel-review", "planning", "quick-dev"];
  expect(files.toSorted()).toEqual(names.map((name) => `${name}.awf.kdl`));
});

test.each(files)("E11 %s is without error or warning", (name) => {
  const { graph, diagnostics } = parseKdl(readFileSync(`workflows/${name}`, "utf8"), { file: name });
  expect(diagnostics).toEqual([]);
  expect(graph && check(graph, { readable: () => "missing", workflowExists: () => false })).toEqual([]);
  expect(graph?.name).toBe(name.replace(".awf.kdl", ""));
});

test.each(["implement-plan", "quick-dev"])("F1 in %s every review leads to the next whatever happened", (name) => {
  const { graph } = parseKdl(readFileSync(`workflows/${name}.awf.kdl`, "utf8"), { file: name });
  const ways = graph?.transitions.map(({ from, to, when }) => `${from.name}>${to.name}${when === null ? "" : "?"}`);
  expect(ways?.filter((way) => !/^(gate|implement|fix)>/.test(way))).toEqual([
    "selfci>review_code?",
    "selfci>review_code?",
    "review_code>review_security",
    "review_security>review_perf",
    "review_perf>review_tests",
    "review_tests>gate",
  ]);
  const fix = graph?.stages.find(({ id }) => id === "fix");
  expect(fix?.kind === "llm" && fix.prompt.type === "text" && fix.prompt.text).toMatch(
    /^Address every finding listed below.*Commit as you go\.$/s,
  );
});

test("the workflow in the documentation is right", () => {
  const blocks = [...readFileSync("docs/workflows.md", "utf8").matchAll(/```kdl\n(workflow .*?)```/gs)];
  expect(blocks).toHaveLength(1);
  const { graph, diagnostics } = parseKdl(blocks[0]?.[1] ?? "", { file: "first" });
  expect(diagnostics).toEqual([]);
  expect(graph && check(graph, { readable: () => "missing" })).toEqual([]);
});
