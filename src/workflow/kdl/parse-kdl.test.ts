import { describe, expect, test } from "vitest";
import type { Stage } from "../graph.js";
import { parseKdl } from "./parse-kdl.js";

function parse(text: string) {
  return parseKdl(text, { file: "w.awf.kdl" });
}

/** A workflow with this as its second line. */
function around(line: string): string {
  return `workflow "w" { version 2; start "e"; stage "e" kind="exit"\n${line}\n}`;
}

function told(text: string): string[] {
  return parse(text).diagnostics.map(({ line, column, rule }) => `${line}:${column} ${rule}`);
}

function stage(line: string): Stage | undefined {
  const { graph, diagnostics } = parse(around(line));
  expect(diagnostics).toEqual([]);
  return graph?.stages[1];
}

describe("one document in every spelling", () => {
  const version2 = `// as the second version has it
workflow w {
  version 2
  goal "Say \\"hi\\""; start a
  /* a /* nested */ comment */
  stage a kind=llm auto_status=#true prompt="""
      two
        lines
      """
  /-stage "gone" kind="nothing"
  stage e kind=exit
  transition from=a to=e when=#"outcome("a") == "success""# priority=3
}
`;
  const version1 = `// as the first version has it
workflow "w" {
  version 2
  goal "Say \\"hi\\""; start "a"
  /* a comment */

  stage "a" kind="llm" auto_status=true prompt="two
  lines"
  /- stage "gone" kind="nothing"
  stage "e" kind="exit" {}
  transition from="a" to="e" when=r#"outcome("a") == "success""# priority=3
}
`;
  const bare = `workflow "w" { version 2; goal "Say \\"hi\\""
  start "a"; stage "a" kind="llm" auto_status=true prompt="two\\n  lines"; stage "e" kind="exit"
  transition from="a" to="e" when="outcome(\\"a\\") == \\"success\\"" priority=3 }`;

  test.each([
    ["version 2", version2, 6, 12],
    ["version 1", version1, 7, 11],
    ["bare words and one-line blocks", bare, 2, 3],
  ])("E11 %s gives the same graph, with its own places", (_, text, line, transitionLine) => {
    const { graph, diagnostics } = parse(text);
    expect(diagnostics).toEqual([]);
    expect(graph).toMatchObject({ name: "w", format: "kdl", goal: 'Say "hi"', start: { name: "a" } });
    expect(graph?.stages).toMatchObject([
      { id: "a", kind: "llm", autoStatus: true, prompt: { text: "two\n  lines" }, at: { line } },
      { id: "e", kind: "exit" },
    ]);
    const when = { type: "equal", left: { type: "outcome", stage: "a" }, right: { value: "success" } };
    expect(graph?.transitions).toMatchObject([
      { from: { name: "a" }, to: { name: "e" }, priority: 3, when, at: { line: transitionLine, column: 3 } },
    ]);
  });
});

describe("every property takes effect", () => {
  test("E10 of an llm stage", () => {
    const line =
      'models { default "d"; profile "d" model="m0" provider="p0"; profile "x" model="m1" reasoning_effort="high" }\n' +
      'stage "a" kind="llm" prompt_file="a.md, sub/b.md" model_profile="x" auto_status="true" goal_gate=true retry_target="e"' +
      ' response_key_base="plan" timeout="5m" max_visits=4 label="L" fidelity="full" thread_id="t" allow_partial=true' +
      ' fallback_retry_target="e" { retry max_attempts=3 backoff="fixed" delay="2s" max_delay="10s" }';
    expect(stage(line)).toMatchObject({
      prompt: {
        files: [
          { name: "a.md", at: { line: 3, column: 35 } },
          { name: "sub/b.md", at: { line: 3, column: 41 } },
        ],
      },
      model: { model: "m1", provider: "p0", effort: "high" },
      autoStatus: true,
      withoutStatus: "protocol",
      goalGate: true,
      retryTarget: { name: "e" },
      fallbackRetryTarget: { name: "e" },
      responseKey: "plan",
      timeoutMs: 300_000,
      maxVisits: 4,
      label: "L",
      fidelity: "full",
      thread: "t",
      allowPartial: true,
      maxAttempts: 3,
      retriesFail: true,
      backoff: { kind: "fixed", delayMs: 2000, maxDelayMs: 10_000 },
    });
  });

  test.each([
    ['model="own" model_profile="x"', { model: "own", provider: "px", effort: null }],
    ['model_profile="x"', { model: "mx", provider: "px", effort: null }],
    ['provider="own"', { model: "claude-some", provider: "own", effort: null }],
    ["", { model: "claude-some", provider: null, effort: null }],
  ])("E10 a stage with %s has its model", (properties, model) => {
    const models = 'models { default "claude-some"; profile "x" model="mx" provider="px" }';
    expect(stage(`${models}\nstage "a" kind="llm" prompt="p" ${properties}`)).toMatchObject({ model });
  });

  test("a stage that says nothing has the usual", () => {
    expect(stage('stage "a" kind="llm" prompt="p"')).toMatchObject({
      model: { model: null, provider: null, effort: null },
      autoStatus: false,
      responseKey: "a",
      timeoutMs: null,
      maxVisits: null,
      maxAttempts: 3,
      retriesFail: false,
    });
    expect(stage('stage "t" kind="tool" command="make"')).toMatchObject({ timeoutMs: 300_000, cwd: null });
  });

  test.each<[string, string, object]>([
    ["tool", 'command="make" timeout="90s" cwd="sub"', { command: "make", timeoutMs: 90_000, cwd: "sub" }],
    ["join", 'policy="quorum" quorum=2', { policy: "quorum", quorum: 2 }],
    [
      "workflow",
      'ref="x" { input "k" "v"; input "n" 3 }',
      {
        ref: { name: "x" },
        inputs: [
          { key: "k", value: "v" },
          { key: "n", value: "3" },
        ],
      },
    ],
    ["workspace.create", 'workspace_name="ws"', { workspace: "ws" }],
    ["workspace.merge", "", { workspace: "default" }],
    [
      "parallel",
      'join="j" max_parallel=2 branch_timeout="10m" { branch "a" "b"; branch "c" }',
      {
        branches: [{ name: "a" }, { name: "b" }, { name: "c" }],
        join: { name: "j" },
        maxParallel: 2,
        branchTimeoutMs: 600_000,
      },
    ],
  ])("E10 of a %s stage", (kind, properties, expected) => {
    expect(stage(`stage "s" kind="${kind}" ${properties}`)).toMatchObject({ kind, ...expected });
  });

  test("E10 of a human stage, as properties or as nodes", () => {
    const expected = {
      prompt: "ok?",
      options: [
        { key: "y", label: "Yes", to: { name: "e" } },
        { key: "n", label: "n", to: { name: "e" } },
      ],
      reReview: false,
      requireFeedbackOn: [{ name: "n" }],
      detailsFrom: "plan.response",
      timeoutMs: 3_600_000,
      default: { name: "n" },
    };
    const options = 'option "y" label="Yes" to="e"; option "n" to="e"; require_feedback_on "n"';
    const properties = 'prompt="ok?" re_review=false details_from="plan.response" timeout="1h" default="n"';
    expect(stage(`stage "h" kind="human" ${properties} { ${options} }`)).toMatchObject(expected);
    const nodes = 'prompt "ok?"; re_review false; details_from "plan.response"; timeout "1h"; default "n"';
    expect(stage(`stage "h" kind="human" { ${nodes}; ${options} }`)).toMatchObject(expected);
  });

  test("routes of a decision are transitions in their order", () => {
    const routes = 'route when="outcome(\\"e\\") == \\"fail\\"" to="e" priority=2; route when="true" to="g"';
    const { graph } = parse(around(`stage "g" kind="decision" { ${routes} }`));
    expect(graph?.transitions).toMatchObject([
      { from: { name: "g" }, to: { name: "e" }, priority: 2, when: { type: "equal" } },
      { from: { name: "g" }, to: { name: "g" }, priority: 0, when: null },
    ]);
  });
});

describe("what is wrong is told at its place", () => {
  test.each([
    ['stag "a" kind="exit"', "2:1 unknown-node"],
    ['stage "a" kind="tol" command="x"', "2:16 unknown-kind"],
    ['stage "a"', "2:1 unknown-kind"],
    ['stage kind="exit"', "2:1 missing"],
    ['stage "a" "b" kind="exit"', "2:11 wrong-value"],
    ['stage "a" kind="tool" comand="x" command="y"', "2:23 unknown-property"],
    ['stage "a" kind="tool" command="x" prompt="y"', "2:35 unknown-property"],
    ['stage "a" kind="tool" command="x" { rety max_attempts=1 }', "2:37 unknown-node"],
    ['stage "a" kind="tool" command="x" command="y"', "2:35 duplicate-property"],
    [
      'stage "a" kind="human" prompt="x" { prompt "y"; option "a" to="e"; option "b" to="e" }',
      "2:37 duplicate-property",
    ],
    ['stage "a" kind="tool" command=3', "2:31 wrong-value"],
    ['stage "a" kind="tool" command="x" timeout=90', "2:43 wrong-value"],
    ['stage "a" kind="tool" command="x" timeout="90"', "2:43 wrong-value"],
    ['stage "a" kind="tool" command="x" timeout="0s"', "2:43 wrong-value"],
    ['stage "a" kind="tool" command="x" max_visits="3"', "2:46 wrong-value"],
    ['stage "a" kind="tool" command="x" max_visits=0', "2:46 wrong-value"],
    ['stage "a" kind="tool"', "2:1 missing"],
    ['stage "a" kind="llm"', "2:1 prompt"],
    ['stage "a" kind="llm" prompt="p" prompt_file="f"', "2:45 prompt"],
    ['stage "a" kind="llm" prompt_file=","', "2:34 wrong-value"],
    ['stage "a" kind="llm" prompt="p" auto_status="yes"', "2:45 wrong-value"],
    ['stage "a" kind="llm" prompt="p" model_profile="none"', "2:47 unknown-profile"],
    ['stage "a" kind="llm" prompt="p" { retry backoff="fixed" }', "2:35 missing"],
    ['stage "a" kind="llm" prompt="p" { retry max_attempts=2 backoff="linear" }', "2:64 wrong-value"],
    ['stage "a" kind="join" quorum=2', "2:30 no-effect"],
    ['stage "a" kind="join" policy="quorum"', "2:1 missing"],
    ['stage "a" kind="decision" { route to="e" }', "2:29 missing"],
    ['stage "a" kind="exit" goal_gate=true', "2:23 unknown-property"],
    ['stage "a" kind="exit" model_profile="p"; models { profile "p" }', "2:37 no-effect"],
    ['stage "a" kind="human" prompt="p" { option "x"; option "y" to="e" }', "2:37 missing"],
    ['stage "a" kind="workflow" ref="x" { input "k" }', "2:37 wrong-value"],
    ['stage "a" kind="exit" { meta { x 1 } }', "2:25 no-effect"],
    ['stage "a" kind="join" allow_partial=true', "2:37 no-effect"],
    ['stage "a" kind="tool" command="x" allow_partial=true', "2:49 no-effect"],
    ['(t)stage "a" kind="exit"', "2:1 syntax"],
    ['transition from="e"', "2:1 missing"],
    ['transition from="e" to="e" weight=3', "2:28 unknown-property"],
    ['transition from="e" to="e" priority="3"', "2:37 wrong-value"],
    ['transition from="e" to="e" when=3', "2:33 wrong-value"],
    ['models { defalt "x" }', "2:10 unknown-node"],
    ['models { default "fsat"; profile "fast" model="m" }', "2:18 unknown-profile"],
    ['models { profile "a"; profile "a" }', "2:31 duplicate-id"],
    ["version 2", "2:1 duplicate-property"],
  ])("%s", (line, expected) => {
    expect(told(around(line))).toEqual([expected]);
  });

  test.each([
    ['stage "a" kind="llm" prompt=""', '"prompt" of stage "a" must be a text in quotes that is not empty'],
    ['stage "a" kind="tool" command=" "', '"command" of stage "a" must be a text in quotes that is not empty'],
  ])("%s in words", (line, message) => {
    expect(parse(around(line)).diagnostics).toMatchObject([{ rule: "wrong-value", message }]);
  });

  test.each([
    ["plain, with escapes", 'when="outcome(\\"e\\") = \\"x\\""', 49],
    ["raw", 'when=#"outcome("e") = "x""#', 48],
    ["raw of version 1", 'when=r#"outcome("e") = "x""#', 49],
    ["with a code", 'when="\\u{6f}utcome(\\"e\\") = 1"', 54],
  ])("a condition in a %s string, at the column of its own mistake", (_, when, column) => {
    const { diagnostics } = parse(around(`transition from="e" to="e" ${when}`));
    expect(diagnostics).toMatchObject([{ rule: "condition", message: 'unexpected "="', line: 2, column }]);
  });

  test("a condition over several lines, at its own line", () => {
    const text = around('transition from="e" to="e" when="""\n    true &&\n    fals\n    """');
    expect(parse(text).diagnostics).toMatchObject([{ hint: "did you mean false?", line: 4, column: 5 }]);
  });

  test("with a hint that helps", () => {
    const hint = (line: string) => parse(around(line)).diagnostics[0]?.hint;
    expect(hint('stage "a" kind="tol"')).toBe('did you mean "tool"?');
    expect(hint('stage "a" kind="tool" comand="x" command="y"')).toBe('did you mean "command"?');
    expect(hint('stage "a" kind="tool" command="x" prompt="y"')).toBe('"prompt" belongs to stages of kind llm, human');
    expect(hint('stage "a" kind="tool" command="x" timeout=90')).toBe('write "90s" for 90 seconds');
    expect(hint('stage "a" kind="tool" command="x" max_visits="3"')).toBe("write 3 without quotes");
  });

  test("and one mistake does not hide another", () => {
    expect(told(around('stage "a" kind="tool" x=1\nstage "b" kind="llm" y=2 prompt="p"\ntransition to="a"'))).toEqual([
      "2:1 missing",
      "2:23 unknown-property",
      "3:22 unknown-property",
      "4:1 missing",
    ]);
  });

  test.each([
    ["", "1:1 syntax"],
    ["// nothing", "1:1 syntax"],
    ['flow "w"', "1:1 unknown-node"],
    ['workflow "w" {\n  version 2', "1:14 syntax"],
    ['workflow "w" {\n  start "a', "2:9 syntax"],
    ['workflow "w" {\n  /* start', "2:3 syntax"],
    ['workflow "w" {\n} }', "2:3 syntax"],
    ['workflow "w" {\n  stage a=\n}', "2:11 syntax"],
    ['workflow "w" {\n  start "a\\q"\n version 2\n}\nr#"', "5:2 syntax"],
    ['workflow "w" {\n  start "a\\u{zz}"\n}', "2:11 syntax"],
    ['workflow "w" {\n  start "a\\u{d800}"\n}', "2:11 syntax"],
    ['workflow "w" {\n  start "\\n\\d"\n}', "2:12 syntax"],
    ['\ufeffworkflow "w" {', "1:14 syntax"],
    ['workflow "w" {\r\n  version 3\r\n  start "e"\r\n  stage "e" kind="exit"\r\n}', "2:11 version"],
    ['workflow "w" { version 2; start "e"; stage "e" kind="exit" }\nworkflow "v" {}', "2:1 syntax"],
  ])("%j", (text, expected) => {
    expect(told(text)).toEqual([expected]);
  });
});
