import { expect, test } from "vitest";
import { expectNothingLeft } from "./kill-loop.js";
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

const lines = (ended: { stdout: string }, name: string) => triggerLines(ended).filter((line) => line.includes(name));

test("periodic fires after every interval of finished issues, whatever became of them", async () => {
  const box = triggerBox({
    commands: { one: "true", two: "true" },
    triggers: { periodic: { interval: 2, commands: ["one"] }, run_end: { fire_on: "both", commands: ["two"] } },
    agent: "case $RATCHET_ISSUE_ID in bad*) exit 1 ;; esac",
    more: { max_agents: 1 },
  });
  for (const id of ["bad-1", "b", "c", "d", "e"]) await box.add(id);
  const ended = await box.ratchet("run");
  expect(ended.code).toBe(1);
  expect(lines(ended, "periodic")).toEqual([
    "[trigger] periodic started: finished=2",
    "[trigger] periodic completed: finished=2, result=pass",
    "[trigger] periodic started: finished=4",
    "[trigger] periodic completed: finished=4, result=pass",
  ]);
  expect(lines(ended, "run_end")).toEqual([
    "[trigger] run_end started: success_count=4, total_count=5",
    "[trigger] run_end completed: result=pass",
  ]);
  expect([countRan(box, "one run"), countRan(box, "two run")]).toEqual([2, 1]);
  await expectNothingLeft(box, ["bad-1"]);
});

test("a command that may fail fails no trigger: no finding, no fixer, no abort, and the next command runs", async () => {
  const all = { commands: ["soft", "hard"] };
  const abort = { ...all, failure_mode: "abort" };
  const box = triggerBox({
    commands: { soft: "exit 3", hard: "true" },
    mayFail: ["soft"],
    triggers: {
      session_end: abort,
      periodic: { interval: 1, ...abort },
      epic_completion: abort,
      run_end: { ...all, failure_mode: "remediate", max_retries: 1 },
    },
    reviewer: pass,
  });
  await box.ratchet("work", "add", "epic", "--type", "epic", "--id", "e");
  await box.add("a", { more: ["--parent", "e"] });
  const ended = await box.ratchet("run");
  expect([ended.code, triggerLines(ended).filter((line) => line.includes("result="))]).toEqual([
    0,
    expect.arrayContaining([
      "[trigger] session_end completed: issue_id=a, result=pass",
      "[trigger] periodic completed: finished=1, result=pass",
      "[trigger] epic_completion completed: epic_id=e, result=pass",
      "[trigger] run_end completed: result=pass",
    ]),
  ]);
  expect([
    countRan(box, "soft a"),
    countRan(box, "hard a"),
    countRan(box, "soft run"),
    countRan(box, "hard run"),
  ]).toEqual([1, 1, 3, 3]);
  expect([countRan(box, "fixer"), ended.stdout]).toEqual([0, expect.not.stringContaining("finding raised")]);
  expect(ended.stdout).toContain("a: soft failed, which is allowed: (no output)");
  const { run_id, run_end } = await box.record();
  const commands = [
    { ref: "soft", passed: false, exit_code: 3, allowed: true },
    { ref: "hard", passed: true, exit_code: 0 },
  ];
  expect([run_end, (await box.issue("a")).session_end_result]).toMatchObject([{ commands }, { commands }]);
  const [asked] = promptsOf(box, { run: run_id, issue: "a", what: "review-command" });
  expect(asked).toContain("- soft: failed, exit code 3, which is allowed (");
});

test("issues go on while periodic runs, at most one more waits, run_end comes last", async () => {
  const box = triggerBox({
    commands: { one: waitFor("go"), two: "true" },
    triggers: { periodic: { interval: 1, commands: ["one"] }, run_end: { commands: ["two"] } },
    more: { max_agents: 1 },
  });
  for (const id of ["a", "b", "c", "d"]) await box.add(id);
  const run = box.start(["run"]);
  await until("periodic runs", () => isWaitedFor(box, "go"));
  await until("all issues are done", () => run.stdout().includes("d: success"));
  box.put("go", "");
  const ended = await run.ended;
  expect(ended.code).toBe(0);
  expect(countRan(box, "one run")).toBe(2);
  expect(ran(box).at(-1)).toBe("two run");
});

test("periodic that aborts ends the run: the others are aborted, run_end is skipped, exit 1", async () => {
  const box = triggerBox({
    commands: { one: "false", two: "true", three: `test "$RATCHET_ISSUE_ID" = a || { ${waitFor("b")}; }` },
    triggers: {
      session_end: { commands: ["three"] },
      periodic: { interval: 1, failure_mode: "abort", commands: ["one"] },
      run_end: { fire_on: "both", commands: ["two"] },
    },
  });
  await box.add("a");
  await box.add("b");
  const run = box.start(["run"]);
  await until("b is in session_end", () => isWaitedFor(box, "b"));
  await until("periodic has failed", () => run.stdout().includes("[trigger] periodic completed"));
  box.put("b", "");
  const ended = await run.ended;
  expect(ended.code).toBe(1);
  expect(lines(ended, "run_end")).toEqual(["[trigger] run_end skipped: reason=run_aborted"]);
  const { status, issues } = await box.record();
  expect([status, issues.a?.status, issues.b?.error]).toEqual(["aborted", "success", "run_aborted"]);
});

test("epics are never assigned; the last child completes them, and top-level ones fire their trigger", async () => {
  const box = triggerBox({
    commands: { one: 'ls >>"$HOME/seen"', two: "true" },
    triggers: { epic_completion: { commands: ["one"] }, run_end: { commands: ["two"] } },
    more: { max_agents: 1 },
  });
  await box.add("top", { more: ["--type", "epic"] });
  await box.add("sub", { more: ["--type", "epic", "--parent", "top"] });
  await box.add("other", { more: ["--type", "epic"] });
  await box.add("a", { more: ["--parent", "sub"] });
  await box.add("b", { more: ["--parent", "top"] });
  await box.add("c", { more: ["--parent", "other"] });
  await box.add("waits", { more: ["--dep", "top"] });
  const ended = await box.ratchet("run");
  expect(ended.code).toBe(0);
  expect(lines(ended, "epic_completion")).toEqual([
    expect.stringMatching(/^\[trigger\] epic_completion started: epic_id=(top|other)$/),
    expect.stringMatching(/^\[trigger\] epic_completion completed: epic_id=(top|other), result=pass$/),
    expect.stringMatching(/^\[trigger\] epic_completion started: epic_id=(top|other)$/),
    expect.stringMatching(/^\[trigger\] epic_completion completed: epic_id=(top|other), result=pass$/),
  ]);
  expect(await Promise.all(["top", "sub", "other", "waits"].map(box.status))).toEqual(Array(4).fill("completed"));
  const { issues } = await box.record();
  expect(Object.keys(issues).sort()).toEqual(["a", "b", "c", "waits"]);
  expect(ran(box).at(-1)).toBe("two run");
});

test("epic_depth all fires for inner epics too; an epic with a failed child stays open", async () => {
  const box = triggerBox({
    commands: { one: "true" },
    triggers: { epic_completion: { epic_depth: "all", commands: ["one"] } },
    agent: "case $RATCHET_ISSUE_ID in bad) exit 1 ;; esac",
  });
  await box.add("top", { more: ["--type", "epic"] });
  await box.add("sub", { more: ["--type", "epic", "--parent", "top"] });
  await box.add("a", { more: ["--parent", "sub"] });
  await box.add("bad", { more: ["--parent", "top"] });
  const ended = await box.ratchet("run");
  expect(ended.code).toBe(1);
  expect(lines(ended, "epic_completion started")).toEqual(["[trigger] epic_completion started: epic_id=sub"]);
  expect([await box.status("sub"), await box.status("top")]).toEqual(["completed", "available"]);
});

test("B8 what a review of the run finds beside becomes one follow-up issue, which this run does not take and a later one adds nothing to", async () => {
  const code_review = ownReview({ finding_threshold: "P1" });
  const box = triggerBox({
    commands: {},
    triggers: { periodic: { interval: 1, commands: [], code_review } },
    more: { max_agents: 1 },
  });
  putOwnReview(box, failWith("Naming", 3));
  await box.add("a");
  await box.add("b");
  const ended = await box.ratchet("run");
  expect(ended.code).toBe(0);
  const board: { id: string; title: string; source: string }[] = JSON.parse(await box.quick("work", "list", "--json"));
  const { run_id } = await box.record();
  expect(board).toMatchObject([{ title: `Follow-up of periodic of run ${run_id}`, status: "available" }]);
  const findings = JSON.parse(await box.quick("findings", "--all", "--json"));
  const tracked = { title: "Naming", status: "waived", reason: `tracked as ${board[0]?.id}` };
  expect(findings).toMatchObject([tracked]);
  await box.add("c");
  expect((await box.ratchet("run", "c")).code).toBe(0);
  expect(JSON.parse(await box.quick("work", "list", "--json"))).toEqual(board);
  expect(JSON.parse(await box.quick("findings", "--all", "--json"))).toMatchObject([tracked, tracked]);
});

test("B8 what one review lets go as below its threshold still blocks in a stricter one of the same run", async () => {
  const box = triggerBox({
    commands: {},
    triggers: {
      periodic: { interval: 1, commands: [], code_review: ownReview({ finding_threshold: "none" }) },
      run_end: { commands: [], code_review: ownReview({ finding_threshold: "P2" }) },
    },
  });
  putOwnReview(box, failWith("Naming", 2));
  await box.add("a");
  const ended = await box.ratchet("run");
  expect([ended.code, ...lines(ended, "completed")]).toEqual([
    1,
    "[trigger] periodic completed: finished=1, result=pass",
    "[trigger] run_end completed: result=fail",
  ]);
});
