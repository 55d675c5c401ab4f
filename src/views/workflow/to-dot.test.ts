import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { check } from "../../workflow/check/check.js";
import { parseDot } from "../../workflow/dot/parse-dot.js";
import type { Expression } from "../../workflow/expression/expression.js";
import { parseExpression } from "../../workflow/expression/parse.js";
import type { Graph, Named, Stage } from "../../workflow/graph.js";
import { parseKdl } from "../../workflow/kdl/parse-kdl.js";
import { toDotCondition, toKdlCondition } from "./condition-text.js";
import { toDot } from "./to-dot.js";

const at = { line: 1, column: 1 };
const named = (name: string): Named => ({ name, at });

/** Places differ, and so does what it was written in. */
function essence(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, inner) => (key === "at" || key === "format" ? undefined : inner)));
}

const signs = fc.string({ unit: fc.constantFrom(..."aZ9_ .\"\\'<>[]{}=&|\n\t#/*-é😀$"), maxLength: 12 });
const text = signs.filter((value) => value.trim() !== "");
const word = text.map((value) => value.trim());
const name = fc.oneof(fc.constantFrom("a b", "node", "x-1"), fc.stringMatching(/^[a-z_]{1,6}$/));
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const ms = fc.oneof(fc.integer({ min: 1, max: 999_999 }), fc.constantFrom(1000, 60_000, 3_600_000, 86_400_000));

const ids = [
  "start",
  "exit",
  "n one",
  "graph",
  "x.y",
  "tool",
  "gate",
  "fork",
  "jn",
  "llm",
  "sub",
  "ws",
  "odd",
] as const;
const target = fc.constantFrom(...ids).map(named);

function base(id: string, canRetry: boolean) {
  const never = { kind: "none", delayMs: 0, maxDelayMs: 0 } as const;
  const backoff = fc.oneof(
    fc.constant(never),
    fc.record({ kind: fc.constantFrom("fixed", "exponential"), delayMs: ms, more: ms }).map(({ more, ...rest }) => ({
      ...rest,
      maxDelayMs: rest.delayMs + more,
    })),
  );
  const retry = canRetry
    ? fc.record({ maxAttempts: fc.integer({ min: 1, max: 9 }), retriesFail: fc.boolean(), backoff })
    : fc.constant({ maxAttempts: 1, retriesFail: false, backoff: never });
  return fc
    .record({
      label: orNull(text),
      maxVisits: orNull(fc.integer({ min: 1, max: 99 })),
      goalGate: fc.boolean(),
      retryTarget: orNull(target),
      fallbackRetryTarget: orNull(target),
      allowPartial: fc.boolean(),
      retry,
    })
    .map(({ retry: own, ...rest }) => ({ id, at, ...rest, ...own }));
}

function stageOf<T extends object>(id: string, canRetry: boolean, rest: fc.Arbitrary<T>) {
  return fc.tuple(base(id, canRetry), rest).map(([common, own]) => ({ ...common, ...own }));
}

const llm = fc.record({
  kind: fc.constant("llm" as const),
  prompt: fc.oneof(
    text.map((value) => ({ type: "text" as const, text: value, at })),
    fc.array(name.map(named), { minLength: 1, maxLength: 3 }).map((files) => ({ type: "files" as const, files })),
  ),
  model: fc.record({ model: orNull(word), provider: orNull(word), effort: orNull(word) }),
  autoStatus: fc.boolean(),
  withoutStatus: fc.constantFrom("protocol" as const, "success" as const),
  responseKey: word,
  timeoutMs: orNull(ms),
  fidelity: fc.constantFrom("full" as const, "compact" as const, "summary:high" as const),
  thread: orNull(text),
});

const options = fc.uniqueArray(
  fc.record({
    key: fc.oneof(
      name,
      word.filter((key) => !key.includes(",")),
    ),
    label: word,
    to: target,
  }),
  { minLength: 1, maxLength: 4, selector: ({ key }) => key },
);
const human = options.chain((list) => {
  const key = fc.constantFrom(...list.map((option) => named(option.key)));
  return fc.record({
    kind: fc.constant("human" as const),
    prompt: text,
    options: fc.constant(list),
    reReview: fc.boolean(),
    requireFeedbackOn: fc.uniqueArray(key, { maxLength: 2, selector: (one) => one.name }),
    detailsFrom: orNull(word),
    timeoutMs: orNull(ms),
    default: orNull(key),
  });
});

const kdlLeaf: fc.Arbitrary<Expression> = fc.oneof(
  fc.record({ type: fc.constant("exists" as const), key: word }),
  fc.record({
    type: fc.constantFrom("equal" as const, "not-equal" as const),
    left: fc.oneof(
      fc.constantFrom(...ids).map((stage) => ({ type: "outcome" as const, stage, at })),
      word.map((key) => ({ type: "output" as const, key })),
      word.map((key) => ({ type: "context" as const, key })),
    ),
    right: fc.oneof(signs, fc.integer(), fc.boolean()).map((value) => ({ type: "literal" as const, value })),
  }),
);
const kdlCondition: fc.Arbitrary<Expression> = fc.letrec<{ whole: Expression }>((tie) => ({
  whole: fc.oneof(
    { maxDepth: 4 },
    kdlLeaf,
    fc.record({ type: fc.constantFrom("and" as const, "or" as const), left: tie("whole"), right: tie("whole") }),
    fc.record({ type: fc.constant("not" as const), operand: tie("whole") }),
  ),
})).whole;
const clause: fc.Arbitrary<Expression> = fc.record({
  type: fc.constantFrom("equal" as const, "not-equal" as const),
  left: fc.oneof(
    fc.constant({ type: "outcome" as const, stage: null, at }),
    fc.constant({ type: "preferred-label" as const }),
    fc.constantFrom("a", "a.b", "human.gate-x").map((key) => ({ type: "context" as const, key })),
  ),
  right: signs.filter((value) => !/["']/.test(value)).map((value) => ({ type: "literal" as const, value })),
});
const dotCondition = fc
  .array(fc.array(clause, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 })
  .map((sums): Expression => {
    const join =
      (type: "and" | "or") =>
      (left: Expression, right: Expression): Expression => ({ type, left, right });
    return sums.map((parts) => parts.reduce(join("and"))).reduce(join("or"));
  });

const transition = fc
  .record({
    from: target,
    to: target,
    when: orNull(fc.oneof(kdlCondition, dotCondition, fc.constant({ type: "literal" as const, value: false }))),
    priority: fc.integer({ min: -99, max: 99 }),
    label: orNull(text),
    restart: fc.boolean(),
    fidelity: orNull(fc.constantFrom("full" as const, "truncate" as const)),
    thread: orNull(text),
  })
  .map((fields) => ({ ...fields, at }));

const passing = (id: string, kind: "start" | "exit" | "decision") =>
  stageOf(
    id,
    false,
    fc.constant({ kind, goalGate: false, retryTarget: null, fallbackRetryTarget: null, allowPartial: false }),
  );
const stages: fc.Arbitrary<Stage[]> = fc.tuple(
  passing("start", "start"),
  passing("exit", "exit"),
  passing("n one", "decision"),
  stageOf("graph", true, llm),
  stageOf("x.y", true, llm),
  stageOf(
    "tool",
    true,
    fc.record({ kind: fc.constant("tool" as const), command: text, timeoutMs: ms, cwd: orNull(word) }),
  ),
  stageOf("gate", false, human),
  stageOf(
    "fork",
    false,
    fc.record({
      kind: fc.constant("parallel" as const),
      // A branch without stages is none.
      branches: fc.array(
        target.filter((one) => one.name !== "jn"),
        { minLength: 1, maxLength: 4 },
      ),
      join: target,
      maxParallel: fc.integer({ min: 1, max: 9 }),
      branchTimeoutMs: orNull(ms),
    }),
  ),
  stageOf(
    "jn",
    false,
    fc.oneof(
      fc.constantFrom("all" as const, "any" as const).map((policy) => ({ kind: "join" as const, policy, quorum: 1 })),
      fc.integer({ min: 1, max: 9 }).map((quorum) => ({ kind: "join" as const, policy: "quorum" as const, quorum })),
    ),
  ),
  stageOf("llm", true, llm),
  stageOf(
    "sub",
    true,
    fc.record({
      kind: fc.constant("workflow" as const),
      ref: word.map(named),
      inputs: fc.uniqueArray(fc.record({ key: word, value: signs }), { maxLength: 3, selector: ({ key }) => key }),
    }),
  ),
  stageOf(
    "ws",
    true,
    fc.record({ kind: fc.constantFrom("workspace.create" as const, "workspace.cleanup" as const), workspace: word }),
  ),
  stageOf("odd", true, fc.record({ kind: fc.constant("unknown" as const), type: word.map((value) => `my.${value}`) })),
);

const graph: fc.Arbitrary<Graph> = fc.record({
  name,
  format: fc.constant("dot" as const),
  file: fc.constant("f.dot"),
  goal: orNull(text),
  label: orNull(text),
  start: target,
  stages,
  transitions: fc.array(transition, { maxLength: 8 }),
  retryTarget: orNull(target),
  fallbackRetryTarget: orNull(target),
});

describe("a workflow as DOT", () => {
  it("E11: every graph parses again to itself", () => {
    fc.assert(
      fc.property(graph, (one) => {
        const written = toDot(one);
        const parsed = parseDot(written, { file: "f.dot" });
        expect(parsed.diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
        expect(essence(parsed.graph)).toEqual(essence(one));
      }),
      { numRuns: 150 },
    );
  });

  it("E7 E11: what leads out of a gate that nobody answers, and what always holds, is the same in both", () => {
    const { graph: one, diagnostics } = parseKdl(
      `workflow "w" { version 2; start "ask"
      stage "ask" kind="human" prompt="?" timeout="1s" { option "y" to="t"; option "n" to="t" }
      stage "t" kind="tool" command="x"; stage "u" kind="tool" command="x"; stage "e" kind="exit"
      stage "d" kind="decision" { route when="1 == 2" to="e"; route when="true && 1 == 1" to="u" }
      transition from="ask" to="u" when=#"outcome("ask") == "fail" && 1 == 1"#
      transition from="ask" to="d"; transition from="t" to="e"; transition from="u" to="e" }`,
      { file: "w" },
    );
    if (one === null) throw new Error("no graph");
    const again = parseDot(toDot(one), { file: "w" });
    const checked = [one, again.graph].map((each) => each && check(each, { readable: () => "file" }));
    expect([diagnostics, again.diagnostics, ...checked]).toEqual([[], [], [], []]);
    expect(essence(again.graph)).toEqual(essence(one));
  });

  it("has no control character of a label as such", () => {
    const label = "a\u001b]0;title\u0007\r\nb\rc\u009b2J";
    const { graph: one } = parseDot(`digraph { start -> end; start [label="${label}"] }`, { file: "f.dot" });
    if (one === null) throw new Error("no graph");
    expect(toDot(one)).toContain('label="a␛]0;title␇\\nb␍c␡2J"');
  });

  it.each(readdirSync("workflows"))("E11: %s is the same workflow in DOT", (file) => {
    const { graph: one } = parseKdl(readFileSync(`workflows/${file}`, "utf8"), { file });
    if (one === null) throw new Error(`${file} cannot be read`);
    const again = parseDot(toDot(one), { file });
    expect(again.diagnostics).toEqual([]);
    expect(essence(again.graph)).toEqual(essence(one));
    expect(again.graph === null ? null : check(again.graph, { readable: () => "file" })).toEqual([]);
  });

  it("says conditions so that KDL reads them again", () => {
    fc.assert(
      fc.property(kdlCondition, (when) => {
        expect(essence(parseExpression(toKdlCondition(when), at).expression)).toEqual(essence(when));
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    ["outcome=success", "outcome=success"],
    [
      "outcome == 'success' && context.a!=b c || x",
      'outcome=success && context.a!=b c || context.x!="" && context.x!=false',
    ],
    ['outcome("a") == "fail" && !exists("k")', 'outcome("a") == "fail" && !exists("k")'],
  ])("writes %s as people would", (condition, expected) => {
    const { graph: read } = parseDot(`digraph { start -> end [condition="${condition.replaceAll('"', '\\"')}"] }`, {
      file: "f.dot",
    });
    expect(toDotCondition(read?.transitions[0]?.when ?? { type: "literal", value: "none" })).toBe(expected);
  });
});
