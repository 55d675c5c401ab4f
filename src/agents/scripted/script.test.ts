import { expect, test } from "vitest";
import { parseScript, validateScript } from "./script.js";

test("a script is read with every kind of step", () => {
  const parsed = parseScript(`
- when: {issue: demo-1, role: implementer, kind: gate_followup, attempt: 2, stage: implement}
  do:
    - write: {path: a.txt, text: "x"}
    - run: npm test
    - commit: Fix it
    - sleep: 0.5
    - say: done
    - verdict: fail
      findings: [{title: T}]
    - exit: 75
    - crash: true
- do: []
`);
  expect(parsed).toEqual({
    ok: true,
    scenes: [
      {
        when: { issue: "demo-1", role: "implementer", kind: "gate_followup", attempt: "2", stage: "implement" },
        do: [
          { type: "write", path: "a.txt", text: "x" },
          { type: "run", command: "npm test" },
          { type: "commit", message: "Fix it" },
          { type: "sleep", seconds: 0.5 },
          { type: "say", text: "done" },
          { type: "verdict", verdict: "fail", findings: [{ title: "T" }] },
          { type: "exit", code: 75 },
          { type: "crash" },
        ],
      },
      { when: {}, do: [] },
    ],
  });
});

test("an empty script has no scenes", () => {
  expect(parseScript("# nothing yet\n")).toEqual({ ok: true, scenes: [] });
});

test.each([
  ["a: 1", 1, "a script is a list"],
  ["- 5", 1, "each entry is"],
  ["- when: {}\n", 1, "`do` is a list"],
  ["- do: []\n  wehn: {}", 2, "unknown key `wehn`, allowed: when, do"],
  ["- do: []\n  when: {isue: x}", 2, "unknown key `isue`"],
  ["- do: []\n  when: {attempt: [1]}", 2, "`when.attempt` is a text or a number"],
  ["- do: []\n  when: x", 2, "`when` is a mapping"],
  ["- do:\n  - dance: 1", 2, "a step is one of write, run"],
  ["- do:\n  - constructor: 1", 2, "a step is one of"],
  ["- do:\n  - say\n", 2, "a step is one of"],
  ["- do:\n  - write: {path: a}", 2, "`write.text` is a text"],
  ["- do:\n  - sleep: soon", 2, "`sleep` is a number"],
  ["- do:\n  - exit: 256", 2, "`exit` is 0 to 255"],
  ["- do:\n  - verdict: maybe", 2, "`verdict` is pass or fail"],
  ["- do:\n  - say: a\n    run: b", 3, "unknown key `run`"],
  ["- do: [\n", 2, ""],
])("%j is refused at line %i: %s", (text, line, message) => {
  const [problem] = validateScript(text);
  expect(problem?.line).toBe(line);
  expect(problem?.message).toContain(message);
});

test("all problems are told at once", () => {
  expect(validateScript("- do:\n  - say: 5\n  - exit: x\n- 7\n").map(({ line }) => line)).toEqual([2, 3, 4]);
});
