import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { until } from "./sandbox.js";
import {
  countRan,
  failWith,
  isWaitedFor,
  ownReview,
  pass,
  promptsOf,
  putOwnReview,
  ran,
  triggerBox,
  triggerLines,
  waitFor,
} from "./trigger-world.js";

const remediate = (max_retries: number, more: object = {}) => ({
  session_end: { failure_mode: "remediate", max_retries, commands: ["one", "two"], ...more },
});
const result = (text: string) => `[trigger] session_end completed: issue_id=a, result=${text}`;

test("C5 remediate, always failing: three executions, two fixers, its code review once, then the review", async () => {
  const box = triggerBox({
    commands: { one: "true", two: "false" },
    triggers: remediate(2, { code_review: { enabled: true } }),
    reviewer: pass,
  });
  await box.add("a");
  const ended = await box.ratchet("run");
  expect(ended.code).toBe(0);
  expect(triggerLines(ended).at(-1)).toBe(result("fail"));
  expect(ran(box).map((line) => line.split(" ").slice(0, 4).join(" "))).toEqual([
    "implementer a implementer 1",
    ...["one a", "two a", "fixer a fixer 1"],
    ...["one a", "two a", "fixer a fixer 2"],
    ...["one a", "two a"],
    expect.stringMatching(/^review a session_end /),
    expect.stringMatching(/^review a per_issue_review /),
  ]);
  expect(await box.issue("a")).toMatchObject({
    status: "success",
    session_end_attempts: 3,
    session_end_result: {
      status: "fail",
      reason: "max_retries_exhausted",
      commands: [{ passed: true }, { passed: false }],
      code_review_result: { ran: true, passed: true },
    },
  });
});

test("C5 success on the second execution: one fixer, pass", async () => {
  const box = triggerBox({ commands: { one: "true", two: "grep -q fixer a.txt" }, triggers: remediate(2) });
  await box.add("a");
  const ended = await box.ratchet("run");
  expect([ended.code, triggerLines(ended).at(-1)]).toEqual([0, result("pass")]);
  expect([countRan(box, "one"), countRan(box, "two"), countRan(box, "fixer")]).toEqual([2, 2, 1]);
  expect(await box.issue("a")).toMatchObject({
    session_end_attempts: 2,
    session_end_result: { status: "pass", reason: null, commands: [{ passed: true }, { passed: true }] },
  });
  expect(box.git("log", "--format=%s", "main").split("\n")).toContain("fixer for a");
});

test("C5 max_retries 0 sends no fixer; without max_retries remediate is refused", async () => {
  const box = triggerBox({ commands: { one: "false", two: "true" }, triggers: remediate(0) });
  await box.add("a");
  expect(triggerLines(await box.ratchet("run")).at(-1)).toBe(result("fail"));
  expect([countRan(box, "one"), countRan(box, "fixer")]).toEqual([1, 0]);
  expect((await box.issue("a")).session_end_result?.reason).toBe("max_retries_exhausted");
  box.configure({
    agent: { type: "command", command: ["true"] },
    commands: { one: "true" },
    validation_triggers: { session_end: { failure_mode: "remediate", commands: ["one"] } },
  });
  const refused = await box.ratchet("run");
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("validation_triggers.session_end");
  expect(refused.stderr).toContain("max_retries");
});

test("C6 gate, session_end and review count for themselves", async () => {
  // The gate fails once, session_end twice in each of its two entries, the review blocks once.
  const box = triggerBox({
    commands: {
      check: `test "$(grep -c . a.txt)" -gt 1`,
      one: `test "$(grep -c fixer a.txt)" -ge "$(( 2 * $(grep -c implementer a.txt) - 2 ))"`,
      two: "true",
    },
    triggers: remediate(2),
    reviewer: `if [ "$RATCHET_ATTEMPT" = 1 ]; then ${failWith("Wrong")}; else ${pass}; fi`,
    more: { evidence_check: { required: ["check"] } },
  });
  await box.add("a");
  expect((await box.ratchet("run")).code).toBe(0);
  expect(ran(box).filter((line) => /^(implementer|fixer)/.test(line))).toEqual([
    "implementer a implementer 1",
    "implementer a gate_followup 2",
    "fixer a fixer 1",
    "fixer a fixer 2",
    "implementer a review_followup 2",
    "fixer a fixer 1",
    "fixer a fixer 2",
  ]);
  expect(await box.issue("a")).toMatchObject({
    status: "success",
    gate_attempts: 5,
    session_end_attempts: 6,
    review_attempts: 2,
    session_end_result: { status: "pass" },
  });
});

test("C7 the fixer gets the failing command and both tails, in a session of its own; its commits are reviewed and land", async () => {
  const box = triggerBox({
    commands: {
      one: "true",
      two: `for n in $(seq 1 40); do echo "out $n"; done; echo "bad news" >&2; grep -q fixer a.txt`,
    },
    triggers: remediate(1),
    reviewer: pass,
    agent: `echo "{\\"session_id\\": \\"of-$RATCHET_ROLE\\"}" >"$RATCHET_RESULT_FILE"
      echo "\${RATCHET_SESSION_ID:-new}" >"$HOME/session-of-$RATCHET_ROLE"`,
  });
  await box.add("a", { body: "What is wanted" });
  expect((await box.ratchet("run")).code).toBe(0);
  const { run_id, issues } = await box.record();
  const [prompt = ""] = promptsOf(box, { run: run_id, issue: "a", what: "fixer" });
  for (const text of ["session_end of issue a", "attempt 1 of 1", "What is wanted", "two failed: exit 1", "bad news"]) {
    expect(prompt).toContain(text);
  }
  expect(prompt).toMatch(/stdout:\n\s*out 11\n[\s\S]*out 40\n/);
  expect(prompt).not.toContain("out 10\n");
  expect(prompt).toMatch(/runs all of these again:\n\n- one: /);
  expect(issues.a?.session_id).toBe("of-implementer");
  const head = box.git("rev-parse", "main");
  expect(ran(box).at(-1)).toBe(`review a per_issue_review ${issues.a?.base_sha} ${head}`);
  expect(box.git("show", "--format=%s", "--no-patch", "main")).toBe("fixer for a");
});

test("C7 what a fixer leaves uncommitted is committed by Ratchet, and goes through the gate", async () => {
  const box = triggerBox({
    commands: { check: "true", one: "test -e patch.txt", two: "true" },
    triggers: remediate(1),
    agent: `if [ "$RATCHET_ROLE" = fixer ]; then cat >/dev/null; echo new >patch.txt; exit 0; fi`,
    more: { evidence_check: { required: ["check"] } },
  });
  await box.add("a");
  expect((await box.ratchet("run")).code).toBe(0);
  expect(box.git("log", "-1", "--format=%s", "main")).toBe("Fix session_end (1)");
  expect(box.git("ls-tree", "--name-only", "main")).toContain("patch.txt");
  expect(await box.issue("a")).toMatchObject({ gate_attempts: 2, session_end_attempts: 2 });
});

test.each([
  ["its own folder", 'w=$PWD; cd /; rm -rf "$w"', "fixer for a", "fixer's turn: failed: git could not be started"],
  [
    "the objects of its commit",
    'rm -rf "$(git rev-parse --git-dir)/objects"',
    "Fix session_end (1)",
    /Commit \w+ was lost, its objects were deleted: it goes on from \w+ with the files that are there/,
  ],
])("C7 a fixer that deletes %s has worked: the worktree is made anew, and its commands run again", async (...how) => {
  const [, harm, subject, told] = how;
  const box = triggerBox({
    commands: { check: "true", one: "true", two: "grep -q fixer a.txt" },
    triggers: remediate(1),
    agent: `if [ "$RATCHET_ROLE" = fixer ]; then trap '${harm}' EXIT; fi`,
    more: { evidence_check: { required: ["check"] } },
  });
  await box.add("a");
  const ended = await box.ratchet("run");
  expect([ended.code, triggerLines(ended).slice(0, 2).at(-1)]).toEqual([0, result("pass")]);
  expect(ended.stdout).toMatch(told);
  expect([box.git("log", "-1", "--format=%s", "main"), countRan(box, "fixer")]).toEqual([subject, 1]);
});

test("C8 the code review covers base_sha..HEAD with the fixer's commits and nobody else's, also after a resume", async () => {
  const box = triggerBox({
    commands: { one: "true", two: 'grep -q fixer "$RATCHET_ISSUE_ID.txt"' },
    triggers: remediate(1, { code_review: ownReview() }),
    agent: 'if [ "$RATCHET_ISSUE_ID" = a ] && [ ! -e "$HOME/go" ]; then echo half >a.txt; exit 1; fi',
  });
  putOwnReview(box, `git diff --name-only "$RATCHET_BASE_SHA..$RATCHET_HEAD_SHA" >"$HOME/names"; ${pass}`);
  const start = box.git("rev-parse", "main");
  await box.add("a");
  expect((await box.ratchet("run")).code).toBe(1);
  await box.add("b");
  expect((await box.ratchet("run", "b")).code).toBe(0);
  expect(box.git("ls-tree", "--name-only", "main")).toContain("b.txt");
  box.put("go", "");
  expect((await box.ratchet("run", "--resume")).code).toBe(0);
  const { base_sha, session_end_result } = await box.issue("a");
  expect([base_sha, session_end_result?.code_review_result]).toEqual([
    start,
    { ran: true, passed: true, findings: [] },
  ]);
  const head = box.git("log", "--format=%H", "--grep=fixer for a", "main");
  expect(ran(box).filter((line) => line.startsWith("review a"))).toEqual([`review a session_end ${start} ${head}`]);
  expect(readFileSync(join(box.root, "names"), "utf8")).toBe("a.txt\n");
});

/** Everything that judges needs what setup makes, which git ignores; a setup after the first waits to be told. */
function setUpWorld(triggers: object) {
  const box = triggerBox({
    commands: {
      setup: `[ ! -e "$HOME/again" ] || { ${waitFor("go")}; }; : >"$HOME/again"; mkdir -p deps; echo d >deps/d`,
      check: "cat deps/d",
      one: "cat deps/d && grep -q fixer *.txt",
    },
    triggers,
    agent: `if [ "$RATCHET_ROLE" = fixer ]; then trap 'w=$PWD; cd /; rm -rf "$w"' EXIT; fi`,
    more: { evidence_check: { required: ["check"] } },
  });
  box.put("shop/.git/info/exclude", "/ratchet.yaml\n/deps/\n");
  return box;
}

test.each(["session_end", "run_end"])(
  "C7 where a fixer of %s has deleted its worktree, setup runs in the new one before anything judges it",
  async (trigger) => {
    const box = setUpWorld({ [trigger]: { failure_mode: "remediate", max_retries: 1, commands: ["one"] } });
    box.put("go", "");
    await box.add("a");
    const ended = await box.ratchet("run");
    expect(ended.stdout).toContain(`completed: ${trigger === "run_end" ? "" : "issue_id=a, "}result=pass`);
    expect(ended.code).toBe(0);
    expect(box.git("log", "-1", "--format=%s", "main")).toMatch(/^fixer for /);
    expect(await box.issue("a")).toMatchObject({ status: "success" });
  },
);

test("D1 killed while setup runs in the worktree that a fixer has deleted, it runs there again, and all is judged after it", async () => {
  const box = setUpWorld({ session_end: { failure_mode: "remediate", max_retries: 1, commands: ["one"] } });
  await box.add("a");
  const run = box.start(["run"]);
  await until("setup runs again", () => isWaitedFor(box, "go"));
  run.kill("SIGKILL");
  await run.ended;
  box.put("go", "");
  expect((await box.ratchet("run")).code).toBe(0);
  expect([countRan(box, "setup"), countRan(box, "fixer"), countRan(box, "one"), countRan(box, "check")]).toEqual([
    3, 1, 2, 2,
  ]);
  expect(await box.issue("a")).toMatchObject({ status: "success", session_end_result: { status: "pass" } });
});
