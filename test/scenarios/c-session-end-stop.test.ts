import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventsOf, type Sandbox, until } from "./sandbox.js";
import {
  countRan,
  isWaitedFor,
  ownReview,
  pass,
  putOwnReview,
  ran,
  triggerBox,
  triggerLines,
  waitFor,
} from "./trigger-world.js";

const completed = (id: string, result: string) => `[trigger] session_end completed: issue_id=${id}, result=${result}`;

function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
}
function pidsIn(box: Sandbox, file: string): number[] {
  return readFileSync(join(box.root, file), "utf8").trim().split("\n").map(Number);
}

test("C9 the overall timeout ends the whole tree, sessions of their own included; nothing is recorded, the review goes on", async () => {
  const deaf = `trap "" TERM INT HUP; echo $$ >>"$HOME/pids"; while :; do sleep 0.1; done`;
  const box = triggerBox({
    commands: {
      one: "true",
      two: `echo $$ >>"$HOME/pids"; echo partial
        env -i HOME="$HOME" PATH="$PATH" setsid sh -c '${deaf}' & (setsid sh -c '${deaf}' &) ; nohup sh -c '${deaf}' & wait`,
      three: "true",
    },
    triggers: { session_end: { timeout: 3, commands: ["one", "two", "three"], code_review: { enabled: true } } },
    reviewer: `for pid in $(cat "$HOME/pids"); do grep -q "^State:.[^Z]" "/proc/$pid/status" && echo "$pid" >>"$HOME/survivors"; done; ${pass}`,
  });
  await box.add("a");
  const ended = await box.ratchet("run");
  expect([ended.code, triggerLines(ended).at(-1)]).toEqual([0, completed("a", "timeout")]);
  expect(pidsIn(box, "pids")).toHaveLength(4);
  expect(existsSync(join(box.root, "survivors"))).toBe(false);
  expect(pidsIn(box, "pids").filter(isAlive)).toEqual([]);
  expect(box.processes()).toEqual([]);
  const { run_id, issues } = await box.record();
  expect(issues.a).toMatchObject({
    status: "success",
    session_end_result: {
      status: "timeout",
      reason: "session_end_timeout",
      commands: [],
      code_review_result: null,
    },
  });
  expect(readFileSync(join(box.home, "runs", run_id, "a/03-session_end/two/stdout.log"), "utf8")).toBe("partial\n");
  expect(countRan(box, "three")).toBe(0);
  expect(ran(box).filter((line) => line.startsWith("review"))).toHaveLength(1);
});

test("a command over its own timeout is a failed command, not a timeout of session_end", async () => {
  const box = triggerBox({
    commands: { one: "sleep 60" },
    triggers: { session_end: { commands: [{ ref: "one", timeout: 1 }] } },
  });
  await box.add("a");
  expect(triggerLines(await box.ratchet("run")).at(-1)).toBe(completed("a", "fail"));
  expect((await box.issue("a")).session_end_result).toMatchObject({
    status: "fail",
    reason: "command_failed",
    commands: [{ ref: "one", passed: false, timed_out: true }],
  });
});

test("C9 the timeout does not count the wait for an exclusive command, which status tells", async () => {
  const more = { commands: { alone: { command: waitFor("go"), exclusive: true, timeout: 60 } } };
  const box = triggerBox({ commands: {}, triggers: {}, more: { ...more, evidence_check: { required: ["alone"] } } });
  for (const id of ["holder", "a"]) await box.add(id);
  const holder = box.start(["run", "holder"]);
  await until("its gate has it", () => isWaitedFor(box, "go"));
  const timeoutMs = 3000;
  const trigger = { timeout: timeoutMs / 1000, commands: ["alone"] };
  const settings: object = JSON.parse(box.read("ratchet.yaml"));
  box.configure({ ...settings, evidence_check: { required: [] }, validation_triggers: { session_end: trigger } });
  const run = box.start(["run", "a"]);
  const turn = "its turn with alone, which another run has now (exclusive)";
  await until("it waits", async () => (await box.quick("status", "--json")).includes(turn));
  const waitedAt = Date.now();
  await until("it has waited longer than its timeout", () => Date.now() > waitedAt + timeoutMs);
  box.put("go", "");
  expect(triggerLines(await run.ended).at(-1)).toBe(completed("a", "pass"));
  expect((await holder.ended).code).toBe(0);
});

test("C10 SIGINT once: the running command ends, the others do not run, the issue is reviewed and finalized, exit 130", async () => {
  const box = triggerBox({
    commands: { one: waitFor("one"), two: "true", three: "true" },
    triggers: { session_end: { commands: ["one", "two", "three"] } },
    reviewer: pass,
  });
  await box.add("a");
  const run = box.start(["run"]);
  await until("command one runs", () => isWaitedFor(box, "one"));
  run.kill("SIGINT");
  await until("it drains", () => run.stderr().includes("draining"));
  box.put("one", "");
  const ended = await run.ended;
  expect(ended.code).toBe(130);
  expect(triggerLines(ended)).toEqual([
    "[trigger] session_end started: issue_id=a",
    completed("a", "interrupted"),
    "[trigger] run_end skipped: reason=run_aborted",
  ]);
  expect(await box.issue("a")).toMatchObject({
    status: "success",
    session_end_result: {
      status: "interrupted",
      reason: "SIGINT received",
      commands: [{ ref: "one", passed: true, exit_code: 0 }],
      code_review_result: null,
    },
  });
  expect([countRan(box, "two"), countRan(box, "review a per_issue_review")]).toEqual([0, 1]);
  expect(await box.status("a")).toBe("completed");
});

test("C11 abort: the culprit fails, others finish their command and fail run_aborted, pending ones never start", async () => {
  const box = triggerBox({
    commands: {
      one: `case $RATCHET_ISSUE_ID in
        before) exit 0 ;;
        culprit) ${waitFor("culprit")}; exit 1 ;;
        other) ${waitFor("other")}; echo done >>"$HOME/other-done" ;;
        esac`,
      two: "true",
    },
    triggers: { session_end: { failure_mode: "abort", commands: ["one", "two"], code_review: ownReview() } },
    agent: `if [ "$RATCHET_ISSUE_ID" = busy ]; then cat >/dev/null; echo begun >busy.txt; ${waitFor("busy")}; fi`,
  });
  putOwnReview(box, pass);
  await box.add("before", { more: ["--priority", "P0"] });
  for (const id of ["culprit", "other", "busy"]) await box.add(id, { more: ["--dep", "before"] });
  await box.add("pending", { more: ["--dep", "culprit"] });
  const run = box.start(["run"]);
  const waited = ["culprit", "other", "busy"];
  await until("all are where they should be", () => waited.every((name) => isWaitedFor(box, name)));
  box.put("culprit", "");
  await until("the run says so", () => run.stdout().includes("\nAborting: what runs ends at its next safe point"));
  expect((await box.ratchet("status")).stdout).toMatch(/^run \S+: aborting: what runs ends/);
  expect(existsSync(join(box.root, "other-done"))).toBe(false);
  box.put("other", "");
  const ended = await run.ended;
  expect(ended.code).toBe(3);
  expect(readFileSync(join(box.root, "other-done"), "utf8")).toBe("done\n");
  const { issues, status, exit_code } = await box.record();
  expect({ status, exit_code }).toEqual({ status: "aborted", exit_code: 3 });
  expect(Object.keys(issues).sort()).toEqual(["before", "busy", "culprit", "other"]);
  expect(issues.before).toMatchObject({ status: "success", session_end_result: { status: "pass" } });
  expect(issues.culprit).toMatchObject({
    status: "failed",
    error: "failure_mode_abort",
    session_end_result: { status: "fail", reason: "failure_mode_abort", code_review_result: null },
  });
  expect(issues.other).toMatchObject({
    status: "failed",
    error: "run_aborted",
    session_end_result: {
      status: "interrupted",
      reason: "run_aborted",
      commands: [{ ref: "one", passed: true }],
      code_review_result: null,
    },
  });
  expect(issues.busy).toMatchObject({ status: "failed", error: "run_aborted" });
  expect([await box.status("pending"), await box.status("before")]).toEqual(["available", "completed"]);
  expect(ran(box).filter((line) => /^(two|review) (culprit|other)/.test(line))).toEqual([]);
  expect(box.processes()).toEqual([]);
  expect(readFileSync(join(issues.busy?.worktree_path ?? "", "busy.txt"), "utf8")).toBe("begun\n");
});

test("C11 what is landing when the run aborts goes on, and explain says so", async () => {
  const box = triggerBox({
    commands: {
      check: `case "$RATCHET_ISSUE_ID $(ls)" in lander*moved*) ${waitFor("landing")} ;; esac`,
      one: `case $RATCHET_ISSUE_ID in culprit) ${waitFor("culprit")}; exit 1 ;; lander) ${waitFor("lander")} ;; esac`,
    },
    triggers: { session_end: { failure_mode: "abort", commands: ["one"] } },
    more: { evidence_check: { required: ["check"] } },
  });
  for (const id of ["culprit", "lander"]) await box.add(id);
  const run = box.start(["run"]);
  await until("both are where they should be", () => ["culprit", "lander"].every((name) => isWaitedFor(box, name)));
  // Its branch alone was gated: now it has to be gated on the merge.
  box.write("moved.txt", "");
  box.git("add", "--all");
  box.git("commit", "--quiet", "--message", "Moved on");
  box.put("lander", "");
  await until("it is landing", () => isWaitedFor(box, "landing"));
  box.put("culprit", "");
  await until("it is told so", async () => (await box.ratchet("explain", "lander")).stdout.includes("told to end"));
  expect((await box.ratchet("explain", "lander")).stdout).toMatch(/^lander is running: run \S+ is landing it/);
  box.put("landing", "");
  expect((await run.ended).code).toBe(3);
  expect([await box.status("culprit"), await box.status("lander")]).toEqual(["failed", "completed"]);
});

test("C15 killed during session_end: interrupted, process_crash; then all commands again, the old one is ended", async () => {
  const box = triggerBox({
    commands: { one: "test ! -e half.txt", two: `echo $$ >>"$HOME/pids"; touch half.txt; ${waitFor("two")}` },
    triggers: { session_end: { commands: ["one", "two"] } },
    reviewer: pass,
  });
  await box.add("a");
  const first = box.start(["run"]);
  await until("command two runs", () => isWaitedFor(box, "two"));
  first.kill("SIGKILL");
  await first.ended;
  const second = box.start(["run", "--json"]);
  await until("command two runs again", () => pidsIn(box, "pids").length === 2);
  expect(pidsIn(box, "pids").map(isAlive)).toEqual([false, true]);
  expect((await box.issue("a")).session_end_result).toMatchObject({
    status: "interrupted",
    reason: "process_crash",
    commands: [{ ref: "one", passed: true }],
  });
  box.put("two", "");
  const ended = await second.ended;
  expect(ended.code).toBe(0);
  const told = eventsOf(ended).flatMap((event) =>
    event.type === "session-end-completed" ? [[event.result, event.reason]] : [],
  );
  expect(told).toEqual([
    ["interrupted", "process_crash"],
    ["pass", null],
  ]);
  expect([countRan(box, "one"), countRan(box, "two")]).toEqual([2, 2]);
  expect(await box.issue("a")).toMatchObject({
    status: "success",
    session_end_attempts: 1,
    session_end_result: { status: "pass", reason: null, commands: [{ ref: "one" }, { ref: "two" }] },
  });
  expect(box.processes()).toEqual([]);
});
