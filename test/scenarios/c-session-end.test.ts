import { existsSync, rmSync } from "node:fs";
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
  runLog,
  triggerBox,
  triggerLines,
  waitFor,
} from "./trigger-world.js";

const started = (id: string) => `[trigger] session_end started: issue_id=${id}`;
const completed = (id: string, result: string) => `[trigger] session_end completed: issue_id=${id}, result=${result}`;

test("C1 gate, session_end, review, finalize: in this order, told in these lines, and in the record at once", async () => {
  const box = triggerBox({
    commands: { check: "true", one: "true", two: waitFor("two") },
    triggers: { session_end: { commands: ["one", "two"] } },
    reviewer: `${waitFor("review")}; ${pass}`,
    more: { evidence_check: { required: ["check"] } },
  });
  await box.add("a");
  const run = box.start(["run"]);
  await until("command two runs", () => isWaitedFor(box, "two"));
  expect(await box.issue("a")).toMatchObject({
    base_sha: box.git("rev-parse", "HEAD"),
    session_end_result: null,
    status: "running",
  });
  box.put("two", "");
  await until("the review runs", () => isWaitedFor(box, "review"));
  const { run_id } = await box.record();
  const folder = `${box.home}/runs/${run_id}/a/03-session_end`;
  const time = expect.stringMatching(/^\d{4}-.*Z$/);
  const command = { passed: true, exit_code: 0, timed_out: false, duration_seconds: expect.any(Number) };
  expect((await box.issue("a")).session_end_result).toEqual({
    status: "pass",
    reason: null,
    started_at: time,
    finished_at: time,
    commands: [
      { ...command, ref: "one", command: expect.any(String), output_path: `${folder}/one` },
      { ...command, ref: "two", command: expect.any(String), output_path: `${folder}/two` },
    ],
    code_review_result: null,
  });
  box.put("review", "");
  const { code, stdout } = await run.ended;
  expect(code).toBe(0);
  const said = ["a: gate passed", started("a"), completed("a", "pass"), "a: review by command started", "a: success"];
  for (const text of [stdout, runLog(box, run_id)]) {
    const places = said.map((line) => text.indexOf(line));
    expect(places, text).toEqual([...places].sort((x, y) => x - y));
    expect(places).not.toContain(-1);
  }
  expect(ran(box).map((line) => line.split(" ")[0])).toEqual(["implementer", "check", "one", "two", "review"]);
});

test("C2 a gate that is used up: no session_end command runs, skipped, gate_failed, both times null", async () => {
  const box = triggerBox({
    commands: { check: "false", one: "true" },
    triggers: { session_end: { commands: ["one"] } },
    reviewer: pass,
    more: { evidence_check: { required: ["check"] } },
  });
  await box.add("a");
  const ended = await box.ratchet("run");
  expect(ended.code).toBe(1);
  expect(triggerLines(ended)).toEqual(["[trigger] session_end skipped: issue_id=a, reason=gate_failed"]);
  expect(await box.issue("a")).toMatchObject({
    error: "gate_failed",
    session_end_attempts: 0,
    session_end_result: {
      status: "skipped",
      reason: "gate_failed",
      started_at: null,
      finished_at: null,
      commands: [],
      code_review_result: null,
    },
  });
  expect([countRan(box, "check"), countRan(box, "one"), countRan(box, "review")]).toEqual([3, 0, 0]);
});

test("C2 not configured: skipped, not_configured, no started line, the review goes on", async () => {
  const box = triggerBox({ commands: {}, triggers: {}, reviewer: pass });
  await box.add("a");
  const ended = await box.ratchet("run");
  expect(triggerLines(ended)).toEqual(["[trigger] session_end skipped: issue_id=a, reason=not_configured"]);
  expect(await box.issue("a")).toMatchObject({
    status: "success",
    session_end_result: { status: "skipped", reason: "not_configured", started_at: null, finished_at: null },
  });
  expect(countRan(box, "review a per_issue_review")).toBe(1);
});

test("C3 an issue in session_end delays neither the gate nor the review of another", async () => {
  const box = triggerBox({
    commands: { one: `if [ "$RATCHET_ISSUE_ID" = a ]; then ${waitFor("go")}; fi` },
    triggers: { session_end: { commands: ["one"] } },
    reviewer: pass,
    more: { max_agents: 1 },
  });
  await box.add("a", { more: ["--priority", "P0"] });
  await box.add("b");
  const run = box.start(["run"]);
  await until("a is in session_end", () => isWaitedFor(box, "go"));
  await until("b is landed", () => run.stdout().includes("b: success"));
  expect(run.stdout()).not.toContain(completed("a", "pass"));
  box.put("go", "");
  expect((await run.ended).code).toBe(0);
  expect(await box.issue("a")).toMatchObject({ status: "success" });
});

test("C4 continue: a failing command ends the commands, its code review runs once, the issue succeeds all the same", async () => {
  const box = triggerBox({
    commands: { one: "true", two: "echo to-stdout; echo to-stderr >&2; exit 3", three: "true" },
    triggers: { session_end: { commands: ["one", "two", "three"], code_review: { enabled: true } } },
    reviewer: pass,
  });
  await box.add("a");
  const ended = await box.ratchet("run");
  expect(ended.code).toBe(0);
  expect(triggerLines(ended)).toEqual([started("a"), completed("a", "fail")]);
  expect(ran(box).map((line) => line.split(" ").slice(0, 3).join(" "))).toEqual([
    "implementer a implementer",
    "one a",
    "two a",
    "review a session_end",
    "review a per_issue_review",
  ]);
  const { session_end_result, status } = await box.issue("a");
  expect([status, session_end_result]).toMatchObject([
    "success",
    {
      status: "fail",
      reason: "command_failed",
      commands: [
        { ref: "one", passed: true, exit_code: 0 },
        { ref: "two", passed: false, exit_code: 3 },
      ],
      code_review_result: { ran: true, passed: true, findings: [] },
    },
  ]);
  const findings = JSON.parse(await box.quick("findings", "a", "--all", "--json"));
  expect(findings).toMatchObject([{ stage: "session_end", source: "command", status: "waived" }]);
});

test("C16 the reviewer is told how session_end ended, each issue's its own; a failed one fails no review", async () => {
  const box = triggerBox({
    commands: { good: "true", fickle: `test "$RATCHET_ISSUE_ID" != bad` },
    triggers: { session_end: { commands: ["good", "fickle"] } },
    reviewer: pass,
  });
  await box.add("bad");
  await box.add("fine");
  expect((await box.ratchet("run")).code).toBe(0);
  const { run_id, issues } = await box.record();
  expect([issues.bad?.status, issues.fine?.status]).toEqual(["success", "success"]);
  const asked = (issue: string) => promptsOf(box, { run: run_id, issue, what: "review-command" });
  expect(asked("bad")).toEqual([
    expect.stringMatching(
      /after the gate: fail, command_failed\.[\s\S]*- good: passed [\s\S]*- fickle: failed, exit code 1 /,
    ),
  ]);
  expect(asked("fine")).toEqual([
    expect.stringMatching(/after the gate: pass\.[\s\S]*- good: passed [\s\S]*- fickle: passed /),
  ]);
});

test("C13 without commands session_end is its code review alone, whose blocking findings make it fail, not the issue", async () => {
  const box = triggerBox({ commands: {}, triggers: { session_end: { commands: [], code_review: ownReview() } } });
  putOwnReview(box, failWith("Odd"));
  await box.add("a");
  const ended = await box.ratchet("run");
  expect(ended.code).toBe(0);
  expect(triggerLines(ended)).toEqual([started("a"), completed("a", "fail")]);
  const { session_end_result } = await box.issue("a");
  expect(session_end_result).toMatchObject({ status: "fail", reason: "code_review", commands: [] });
  expect(session_end_result?.code_review_result).toEqual({ ran: true, passed: false, findings: [expect.any(String)] });
  expect(countRan(box, "review")).toBe(1);
});

test("C1 commands judge the exact commit: what one of them commits or writes is gone before the next, and told", async () => {
  const meddle = "echo more > more.txt; git add more.txt; git commit --quiet --message meddled; echo x > left.txt";
  const look = 'git log -1 --format=%s >> "$HOME/seen"; git status --short >> "$HOME/seen"';
  const box = triggerBox({
    commands: { meddle, unstage: "git rm --quiet --cached README.md", look },
    triggers: { session_end: { commands: ["meddle", "unstage", "look"] } },
    reviewer: `${look}; ${pass}`,
    more: { evidence_check: { required: ["meddle", "unstage", "look"] } },
  });
  await box.add("a");
  const ended = await box.ratchet("run");
  expect(ended.code).toBe(0);
  expect(box.read("../seen").trim().split("\n")).toEqual(Array(3).fill("implementer for a"));
  const told = ended.stdout.match(/^a: \w+ changed files, which were put back: .*$/gm);
  const meddled = expect.stringMatching(/^a: meddle .*: HEAD \(\w+\), more.txt, left.txt$/);
  const unstaged = "a: unstage changed files, which were put back: index (README.md)";
  expect(told).toEqual([meddled, unstaged, meddled, unstaged]);
  expect(box.git("log", "--format=%s", "main")).not.toContain("meddled");
});

test("D1 a gate command that was killed half way leaves nothing for its second run to judge", async () => {
  const half = 'test ! -e half.txt || echo dirty >> "$HOME/seen"; echo x > half.txt';
  const wait = 'while [ -e "$HOME/wait" ]; do sleep 0.05; done';
  const box = triggerBox({
    commands: { half: `${half}; ${wait}` },
    triggers: {},
    more: { evidence_check: { required: ["half"] } },
  });
  await box.add("a");
  const hold = box.put("wait", "");
  const first = box.start(["run"]);
  await until("the command runs", () => countRan(box, "half a") === 1);
  first.kill("SIGKILL");
  await first.ended;
  rmSync(hold);
  expect((await box.ratchet("run")).code).toBe(0);
  expect([countRan(box, "half a"), existsSync(join(box.root, "seen"))]).toEqual([2, false]);
});
