import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cpuTimer } from "../../../test/cpu-timer.js";
import { parseDot } from "./parse-dot.js";

const sample = `digraph "f" {
  goal="g"; graph [model_stylesheet="* { llm_model: a } #b { reasoning_effort: low; }"]
  node [timeout=15m] edge [weight=2]
  start [shape=Mdiamond] /* c */ exit [shape=Msquare] // d
  a [prompt="x\\n\\"y\\"" + "z", max_retries=3] # e
  subgraph cluster_q { label="Loop A"; node [fidelity="summary:low"]; b:n; h [shape=hexagon] }
  p [shape=component] j [shape=tripleoctagon label=<<b>x</b>>]
  start -> a -> h; h -> b [label="[Y] Yes"]; h -> exit [label="N) No"]
  b -> p -> {c d} -> j -> exit [condition="outcome=success && context.x!='1'"]
  j -> a [condition="outcome(\\"a\\") == \\"fail\\"" loop_restart=true]
}`;

/** Whatever is said has a place in the text, and where there is no graph there is an error. */
function isSound(text: string): void {
  const { graph, diagnostics } = parseDot(text, { file: "f.dot" });
  const lines = text.split("\n");
  for (const { line, column } of diagnostics) {
    expect(line).toBeLessThanOrEqual(lines.length);
    expect(column).toBeLessThanOrEqual((lines[line - 1]?.length ?? 0) + 2);
  }
  if (graph === null) expect(diagnostics.some(({ severity }) => severity === "error")).toBe(true);
}

function measure(text: string): { readonly cpuMs: number; readonly hasErrors: boolean } {
  const spentMs = cpuTimer();
  const { diagnostics } = parseDot(text, { file: "f.dot" });
  return { cpuMs: spentMs(), hasErrors: diagnostics.some(({ severity }) => severity === "error") };
}

describe("E11: no DOT file breaks the parser", () => {
  it("reads a file that was cut off or changed anywhere", () => {
    const at = fc.nat({ max: sample.length });
    const piece = fc.oneof(
      fc.string({ maxLength: 4 }),
      fc.constantFrom("{", "}", "[", "]", '"', "<", ">", "/*", "*/", "->", "--", "=", "+", ";", ",", "\\", "&&", "\n"),
    );
    const change = fc.record({ at, remove: fc.nat({ max: 6 }), insert: piece });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 6 }), at, (changes, end) => {
        let text = sample.slice(0, end < 30 ? sample.length : end);
        for (const { at: from, remove, insert } of changes)
          text = text.slice(0, from) + insert + text.slice(from + remove);
        isSound(text);
      }),
      { numRuns: 400 },
    );
  });

  it("reads any words in any order", () => {
    const words =
      'digraph { } [ ] -> -- = + ; , : a b "c d" <x> node edge graph subgraph strict 900s -1 label= "'.split(" ");
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...words), { maxLength: 60 }), (parts) => {
        isSound(`digraph { ${parts.join(" ")}`);
        isSound(parts.join(" "));
      }),
      { numRuns: 300 },
    );
  });

  it.each(["{", "a->", "a[x=1 ", '"', '\\"\n'])("takes ten megabytes of %j in its stride, with an error", (part) => {
    const text = `digraph {${part.repeat(Math.ceil(10_000_000 / part.length))}`;
    const { cpuMs, hasErrors } = measure(text);
    expect(hasErrors).toBe(true);
    expect(cpuMs).toBeLessThan(2000);
  });

  it("needs no more than its share of time for ten times the stages", () => {
    const file = (stages: number) =>
      `digraph { start -> n0 ${Array.from({ length: stages }, (_, i) => `n${i} [prompt="do ${i}"] n${i} -> n${i + 1} [condition="outcome=success"]`).join("\n")} }`;
    const time = (stages: number) => measure(file(stages)).cpuMs;
    time(1000);
    const ratios = Array.from({ length: 3 }, () => time(10_000) / time(1000));
    // A hundred times as long, if it looked through all stages for each of them.
    expect(Math.min(...ratios)).toBeLessThan(25);
  });
});
