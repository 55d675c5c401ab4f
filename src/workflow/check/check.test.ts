import { describe, expect, test } from "vitest";
import { cpuTimer } from "../../../test/cpu-timer.js";
import { parseDot } from "../dot/parse-dot.js";
import { parseKdl } from "../kdl/parse-kdl.js";
import { check } from "./check.js";
import type { CheckOptions } from "./rule.js";

const files = {
  "dir/": "directory",
  "../x.md": "outside",
  ".": "directory",
  "gone.md": "missing",
  "no.md": "empty",
  "x.png": "not-text",
} as const;
const options: CheckOptions = {
  readable: (path) => Object.entries(files).find(([name]) => name === path)?.[1] ?? "file",
  workflowExists: (ref) => ref === "there",
};

function kdl(text: string): string[] {
  const { graph, diagnostics } = parseKdl(`workflow "w" { version 2; start "a"\n${text}\n}`, { file: "w.awf.kdl" });
  expect(diagnostics).toEqual([]);
  const found = graph === null ? [] : check(graph, options);
  return found.map(({ line, column, severity, rule, message }) => `${line}:${column} ${severity} ${rule}: ${message}`);
}

const a = 'stage "a" kind="llm" prompt="p"';
const e = 'stage "e" kind="exit"';
const line = `${a}; ${e}; transition from="a" to="e"`;

describe("a workflow in KDL", () => {
  test.each([
    ["that is right", line, []],
    ["without an exit", a, ["1:33 error exit: there is no exit"]],
    ["with a stage twice", `${line}\n${e}`, ['3:1 error duplicate-id: there are two stages "e"']],
    [
      "with a way to nowhere",
      `${line}\ntransition from="a" to="ee"`,
      ['3:24 error unknown-stage: transition to "ee": there is no such stage'],
    ],
    [
      "whose only way leads nowhere",
      `${a}; ${e}\ntransition from="a" to="exit"`,
      [
        '2:34 error unreachable: stage "e" is unreachable',
        '3:24 error unknown-stage: transition to "exit": there is no such stage',
      ],
    ],
    [
      "with a way from nowhere",
      `${line}\ntransition from="b" to="e"`,
      ['3:17 error unknown-stage: transition from "b": there is no such stage'],
    ],
    [
      "with a way on from the exit",
      `${line}\ntransition from="e" to="a"`,
      ['3:1 error exit-outgoing: nothing can follow the exit "e"'],
    ],
    [
      "with a stage nobody gets to",
      `${line}\nstage "b" kind="tool" command="x"; transition from="b" to="e"`,
      ['3:1 error unreachable: stage "b" is unreachable'],
    ],
    [
      "with a dead end",
      `${line}\nstage "b" kind="tool" command="x"; transition from="a" to="b" when="exists(\\"k\\")"`,
      ['3:1 error dead-end: stage "b" leads nowhere'],
    ],
    [
      "with a cycle that never ends",
      `${line}\nstage "b" kind="tool" command="x"; stage "c" kind="tool" command="x"\ntransition from="a" to="b" priority=1; transition from="b" to="c"; transition from="c" to="b"`,
      ['3:1 error no-way-out: no exit can be reached from "b", "c"'],
    ],
    [
      "with a condition on no stage",
      `${line}\ntransition from="a" to="e" when="outcome(\\"ci\\") == \\"fail\\""`,
      ['3:42 error unknown-stage: condition on "ci": there is no such stage'],
    ],
    [
      "with an outcome that is none",
      `${line}\ntransition from="a" to="e" when="outcome(\\"a\\") == \\"failed\\""`,
      ['3:42 warning unknown-outcome: no stage ever ends with "failed"'],
    ],
    [
      "with an unknown retry target",
      `${line}\nretry_target "x"`,
      ['3:14 error unknown-stage: retry target "x": there is no such stage'],
    ],
    [
      "with a goal gate and nowhere to go",
      `${line.replace('kind="llm"', 'kind="llm" goal_gate=true')}`,
      ['2:1 warning goal-gate: goal gate "a" has no retry target: when it is unmet, the run fails'],
    ],
    [
      "that merges what it never made",
      `${a}; ${e}\nstage "m" kind="workspace.merge"; transition from="a" to="m"; transition from="m" to="e"`,
      ['3:1 warning workspace: stage "m" uses workspace "default", which no stage creates'],
    ],
    [
      "that calls an unknown one",
      `stage "a" kind="workflow" ref="here"; ${e}; transition from="a" to="e"`,
      ['2:31 error unknown-workflow: there is no workflow "here" for stage "a"'],
    ],
    ["that calls a known one", `stage "a" kind="workflow" ref="there"; ${e}; transition from="a" to="e"`, []],
    [
      "with prompt files that cannot be read",
      `stage "a" kind="llm" prompt_file="ok.md,gone.md, dir/,../x.md,no.md,x.png,."; ${e}; transition from="a" to="e"`,
      [
        '2:41 error prompt-file: prompt file "gone.md" of stage "a" does not exist',
        '2:50 error prompt-file: prompt file "dir/" of stage "a" is a folder',
        '2:55 error prompt-file: prompt file "../x.md" of stage "a" is outside of the repository',
        '2:63 error prompt-file: prompt file "no.md" of stage "a" is empty',
        '2:69 error prompt-file: prompt file "x.png" of stage "a" is not text in UTF-8',
        '2:75 error prompt-file: prompt file "." of stage "a" is a folder',
      ],
    ],
    [
      "with a tool outside of the checkout",
      `stage "a" kind="tool" command="x" cwd="b/../.."; stage "b" kind="tool" command="x" cwd="c/../d"; ${e}; transition from="a" to="b"; transition from="b" to="e"`,
      ['2:1 error cwd: cwd "b/../.." of stage "a" leads out of the checkout'],
    ],
  ])("%s", (_, text, expected) => {
    expect(kdl(text)).toEqual(expected);
  });

  test.each([
    ["", ['2:1 error decision-default: decision "a" has no route that is always open']],
    ['route when="true" to="e"', []],
    [
      'route when="true" to="e"; route when=true to="e"',
      ['2:55 error decision-default: decision "a" has a second route that is always open'],
    ],
  ])("E1 a decision with %j", (routes, expected) => {
    const found = kdl(`stage "a" kind="decision" { ${routes} }; ${e}`);
    expect(found.filter((told) => told.includes("decision-default"))).toEqual(expected);
  });

  test.each([
    ['option "y" to="e"; option "n" to="a"', "", []],
    ['option "y" to="e"', "", ['2:1 error human-options: human stage "a" has 1 of at least 2 options']],
    ['option "y" to="e"; option "y" to="a"', "", ['2:70 error duplicate-option: "a" has two options "y"']],
    [
      'option "y" to="e"; option "n" to="x"',
      "",
      ['2:70 error unknown-stage: option "n" to "x": there is no such stage'],
    ],
    [
      'option "y" to="e"; option "n" to="a"; require_feedback_on "m"',
      "",
      ['2:95 error unknown-option: require_feedback_on "m" is no option of "a"'],
    ],
    [
      'default "m"; option "y" to="e"; option "n" to="a"',
      "",
      ['2:45 error unknown-option: default "m" is no option of "a"'],
    ],
    [
      'default "n"; option "y" to="e"; option "n" to="a"',
      "",
      ['2:45 warning no-effect: default "n" of "a" is never taken: there is no timeout'],
    ],
    ['default "n"; timeout "1h"; option "y" to="e"; option "n" to="a"', "", []],
    [
      'option "y" to="e"; option "n" to="a"',
      'transition from="a" to="e"',
      ['3:17 error own-ways: human stage "a" leads on by its options'],
    ],
    [
      'timeout "1h"; option "y" to="e"; option "n" to="a"',
      'transition from="a" to="e" when=#"outcome("a") == "fail""#',
      [],
    ],
    [
      'timeout "1h"; option "y" to="e"; option "n" to="a"',
      'transition from="a" to="d"; stage "d" kind="decision" { route when="true" to="e" }',
      [],
    ],
    [
      'timeout "1h"; option "y" to="e"; option "n" to="a"',
      'transition from="a" to="e" when=#"outcome("a") == "success""#',
      ['3:1 warning no-effect: the transition from "a" to "e" is never taken: an answer leads on by its option'],
    ],
    [
      'option "y" to="e"; option "n" to="a"',
      'transition from="a" to="e" when=#"outcome("a") == "fail""#',
      ['3:1 warning no-effect: the transition from "a" to "e" is never taken: the gate waits until it is answered'],
    ],
  ])("E7 a human stage with %s and %j", (children, more, expected) => {
    expect(kdl(`stage "a" kind="human" prompt="?" { ${children} }; ${e}\n${more}`)).toEqual(expected);
  });
});

describe("E8 parallel stages in KDL", () => {
  const tools = (...ids: string[]) => ids.map((id) => `stage "${id}" kind="tool" command="x"`).join("; ");
  const join = 'stage "j" kind="join"';
  const parallel = (branches: string) => `stage "a" kind="parallel" join="j" { branch ${branches} }`;
  const after = `${e}; transition from="j" to="e"`;

  test.each([
    [
      "whose branches end, or lead to the join",
      `${parallel('"b" "c"')}; ${join}; ${after}\n${tools("b", "c", "d")}\ntransition from="c" to="d"; transition from="d" to="j"`,
      [],
    ],
    [
      "in a branch of another",
      `${parallel('"b" "c"')}; ${join}; ${after}\n${tools("b", "x", "y")}; stage "c" kind="parallel" join="k" { branch "x" "y" }; stage "k" kind="join"`,
      [],
    ],
    [
      "without branches",
      `stage "a" kind="parallel" join="j"; ${join}; ${after}`,
      ['2:1 error parallel: parallel "a" has no branches'],
    ],
    [
      "with an unknown branch",
      `${parallel('"b" "cc"')}; ${join}; ${after}\n${tools("b")}`,
      ['2:49 error unknown-stage: branch "cc": there is no such stage'],
    ],
    [
      "with a branch twice",
      `${parallel('"b" "b"')}; ${join}; ${after}\n${tools("b")}`,
      ['2:49 error parallel: branch "b" is given twice'],
    ],
    [
      "with a join that is none",
      `stage "a" kind="parallel" join="e" { branch "b" }; ${e}\n${tools("b")}`,
      ['2:32 error parallel: "e" is no join: its kind is exit'],
    ],
    [
      "with a quorum above its branches",
      `${parallel('"b"')}; stage "j" kind="join" policy="quorum" quorum=2; ${after}\n${tools("b")}`,
      ["2:52 error quorum: a quorum of 2 cannot be met by 1 branches"],
    ],
    [
      "whose branches meet too early",
      `${parallel('"b" "c"')}; ${join}; ${after}\n${tools("b", "c", "d")}\ntransition from="b" to="d"; transition from="c" to="d"`,
      ['3:71 error branch: stage "d" is in two branches of "a": "b" and "c"'],
    ],
    [
      "whose branch leaves",
      `${parallel('"b"')}; ${join}; ${after}\n${tools("b")}\ntransition from="b" to="e"`,
      ['2:75 error branch: branch "b" of "a" leads to the exit "e"'],
    ],
    [
      "that others enter",
      `${parallel('"b"')}; ${join}; ${e}\n${tools("b", "c")}\ntransition from="j" to="c"; transition from="c" to="b" when="exists(\\"k\\")"; transition from="c" to="e"`,
      ['4:52 error branch: "c" leads into branch "b" of "a" from outside'],
    ],
    [
      "whose branch has a retry target outside",
      `${parallel('"b" "c"')}; ${join}; ${after}\n${tools("c", "d")}; transition from="c" to="d"\nstage "b" kind="tool" command="x" retry_target="a" fallback_retry_target="d"`,
      [
        '4:48 error branch: retry target "a" of "b" leads out of branch "b" of "a"',
        '4:74 error branch: retry target "d" of "b" leads out of branch "b" of "a"',
      ],
    ],
    [
      "whose branches have retry targets of their own, their join, and outside for a goal gate",
      `${parallel('"b" "c" "d"')}; ${join}; ${after}\n${tools("r")}\nstage "b" kind="tool" command="x" retry_target="r"; stage "c" kind="tool" command="x" retry_target="j"; stage "d" kind="llm" prompt="p" auto_status=true goal_gate=true retry_target="a"`,
      [],
    ],
    [
      "that retry targets lead into",
      `retry_target "b"; ${parallel('"b"')}; ${join}; ${e}\n${tools("b", "f")}\nstage "c" kind="tool" command="x" retry_target="b"; transition from="j" to="c"; transition from="c" to="e"; transition from="b" to="f"`,
      [
        '2:14 error branch: retry target "b" leads into branch "b" of "a" from outside',
        '4:48 error branch: retry target "b" leads into branch "b" of "a" from outside',
      ],
    ],
    [
      "with a transition of its own",
      `${parallel('"b"')}; ${join}; ${after}\n${tools("b")}\ntransition from="a" to="b"`,
      ['4:17 error own-ways: parallel stage "a" leads to its branches, then to its join'],
    ],
    [
      "that its join does without",
      `${line}\n${join}; transition from="j" to="e"; transition from="a" to="j"`,
      ['3:1 error join: join "j" belongs to no parallel stage'],
    ],
  ])("%s", (_, text, expected) => {
    expect(kdl(text)).toEqual(expected);
  });
});

describe("E11 a workflow in DOT", () => {
  function dot(text: string): string[] {
    const { graph, diagnostics } = parseDot(`digraph w {\n${text}\n}`, { file: "w.dot" });
    const found = graph === null ? [] : check(graph, options);
    return [...diagnostics, ...found].map(({ severity, rule }) => `${severity} ${rule}`);
  }
  const start = "start [shape=Mdiamond]; exit [shape=Msquare]";
  const ab = "a [prompt=p]; b [prompt=p]";

  test.each([
    ["that is right", `${start}; a [prompt=p]; start -> a -> exit`, []],
    ["with an orphan", `${start}; start -> exit; b [prompt=p]`, ["error unreachable"]],
    [
      "that leads back to its start",
      `${start}; a [prompt=p]; start -> a -> exit; a -> start`,
      ["error start-incoming"],
    ],
    ["that goes on from its exit", `${start}; start -> exit -> start`, ["error exit-outgoing", "error start-incoming"]],
    ["whose cycle never ends", `${start}; ${ab}; start -> a -> b -> a; start -> exit`, ["error no-way-out"]],
    ["with a stage that just ends", `${start}; a [prompt=p]; start -> a; start -> exit`, ["warning dead-end"]],
    [
      "whose decision has conditions only",
      `${start}; d [shape=diamond]; start -> d; d -> exit [condition="outcome=success"]`,
      [],
    ],
    [
      "whose gate has an edge for its failure",
      `${start}; g [shape=hexagon, timeout=1h]; start -> g -> exit; g -> exit [condition="outcome=fail"]`,
      [],
    ],
    [
      "whose gate has a plain edge",
      `${start}; g [shape=hexagon, timeout=1h]; start -> g -> exit; g -> exit [plain=true]`,
      ["error own-ways"],
    ],
    [
      "whose attributes change nothing",
      `${start}; exit [goal_gate=true]; t [shape=parallelogram, tool_command=x, allow_partial=true]; start -> t -> exit`,
      ["warning no-effect", "warning no-effect"],
    ],
    [
      "with no time at all",
      `${start}; t [shape=parallelogram, tool_command=x, timeout=0s]; start -> t -> exit`,
      ["error wrong-type"],
    ],
  ])("%s", (_, text, expected) => {
    expect(dot(text).toSorted()).toEqual(expected);
  });
});

test("ten times the stages take no more than their share", () => {
  const timeOf = (stages: number) => {
    const ids = Array.from({ length: stages }, (_, index) => `s${index}`);
    const text = ids.map(
      (id, index) => `stage "${id}" kind="tool" command="x"\ntransition from="${id}" to="${ids[index + 1] ?? "e"}"\n`,
    );
    const { graph } = parseKdl(`workflow "w" { version 2; start "s0"; ${e}\n${text.join("")}}`, { file: "w" });
    const spentMs = cpuTimer();
    for (let round = 0; round < 500 / stages; round++) expect(graph && check(graph, options)).toEqual([]);
    return spentMs();
  };
  timeOf(20);
  // Each does the same work; a rule that looked through all stages for each of them would take fifty times as long.
  expect(timeOf(500)).toBeLessThan(15 * timeOf(10));
});
