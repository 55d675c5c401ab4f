import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { expectNothingLeft } from "./kill-loop.js";
import { eventsOf, sandbox, until } from "./sandbox.js";
import { countRan, isWaitedFor, ran, runLog, triggerBox, triggerLines, waitFor } from "./trigger-world.js";

const runEndLines = (ended: { stdout: string }) => triggerLines(ended).filter((line) => line.includes("run_end"));
const aborted = ["[trigger] run_end skipped: reason=run_aborted"];
const skipped = { status: "skipped", reason: "run_aborted", commands: [], code_review_result: null };

test("C10 SIGINT during session_end: the issue comes to its end, run_end is skipped, run_aborted, exit 130", async () => {
  const box = triggerBox({
    commands: { one: waitFor("one"), two: "true" },
    triggers: { session_end: { commands: ["one", "two"] }, run_end: { fire_on: "both", commands: ["two"] } },
  });
  await box.add("a");
  const run = box.start(["run"]);
  await until("command one runs", () => isWaitedFor(box, "one"));
  run.kill("SIGINT");
  await until("it drains", () => run.stderr().includes("draining"));
  box.put("one", "");
  const ended = await run.ended;
  expect([ended.code, runEndLines(ended)]).toEqual([130, aborted]);
  const { run_id, run_end, issues } = await box.record();
  expect([run_end, issues.a?.status]).toEqual([skipped, "success"]);
  expect(runLog(box, run_id)).toContain(aborted[0]);
  expect(countRan(box, "two")).toBe(0);
});

test("C11 an issue's abort: run_end is skipped, run_aborted, exit 3", async () => {
  const box = triggerBox({
    commands: { one: "false", two: "true" },
    triggers: {
      session_end: { failure_mode: "abort", commands: ["one"] },
      run_end: { fire_on: "both", commands: ["two"] },
    },
  });
  await box.add("a");
  const ended = await box.ratchet("run");
  expect([ended.code, runEndLines(ended)]).toEqual([3, aborted]);
  expect(await box.record()).toMatchObject({ status: "aborted", run_end: skipped });
});

test("SIGINT while run_end runs: its command ends, no other runs, it has not passed, exit 130", async () => {
  const box = triggerBox({
    commands: { one: waitFor("one"), two: "true" },
    triggers: { run_end: { commands: ["one", "two"] } },
  });
  await box.add("a");
  const run = box.start(["run"]);
  await until("command one runs", () => isWaitedFor(box, "one"));
  run.kill("SIGINT");
  await until("it drains", () => run.stderr().includes("draining"));
  box.put("one", "");
  const ended = await run.ended;
  expect([ended.code, runEndLines(ended).at(-1)]).toEqual([130, "[trigger] run_end completed: result=fail"]);
  expect((await box.record()).run_end).toMatchObject({
    status: "fail",
    reason: "SIGINT received",
    commands: [{ ref: "one", passed: true }],
  });
  expect(countRan(box, "two")).toBe(0);
});

test("a command of run_end that fails by itself after SIGTERM leaves its finding", async () => {
  const box = triggerBox({
    commands: { one: `${waitFor("one")}; echo BOOM >&2; exit 3`, two: "true" },
    triggers: { run_end: { commands: ["one", "two"] } },
  });
  await box.add("a");
  const run = box.start(["run"]);
  await until("command one runs", () => isWaitedFor(box, "one"));
  run.kill("SIGTERM");
  await until("it stops", () => run.stdout().includes("Stopping: what runs"));
  box.put("one", "");
  const ended = await run.ended;
  expect([ended.code, runEndLines(ended).at(-1)]).toEqual([130, "[trigger] run_end completed: result=fail"]);
  expect((await box.record()).run_end).toMatchObject({ reason: "SIGINT received", commands: [{ exit_code: 3 }] });
  const open = JSON.parse(await box.quick("findings", "--json"));
  expect(open).toMatchObject([{ title: "one failed: exit 3: BOOM", status: "open" }]);
  expect(countRan(box, "two")).toBe(0);
});

test.each([
  ["committed", ""],
  ["committed before it deleted its folder", 'w=$PWD; cd /; rm -rf "$w";'],
])(
  "C9 what a fixer of run_end had %s when it was stopped is parked, and the log says how to have it back",
  async (...how) => {
    const box = triggerBox({
      commands: { one: "false" },
      triggers: { run_end: { failure_mode: "remediate", max_retries: 1, commands: ["one"] } },
      agent: `if [ "$RATCHET_ROLE" = fixer ]; then
      echo kept >kept.txt && git add --all && git commit --quiet --message fix; ${how[1]} ${waitFor("never")}; fi`,
    });
    await box.add("a");
    const run = box.start(["run"]);
    await until("the fixer has committed", () => isWaitedFor(box, "never"));
    await box.quick("stop");
    const ended = await run.ended;
    const { run_id: id } = await box.record();
    const [, restore = ""] =
      /is put aside as \S+; (ratchet worktree restore \S+) brings it back/.exec(ended.stdout) ?? [];
    expect([ended.code, restore]).toEqual([130, `ratchet worktree restore run-${id}`]);
    await box.quick("worktree", "restore", `run-${id}`);
    const { stdout } = await box.ratchet("worktree", "list", "--json");
    const [{ path }] = JSON.parse(stdout);
    expect(readFileSync(join(path, "kept.txt"), "utf8")).toBe("kept\n");
  },
);

test("a second SIGINT stops run_end with everything it started; nothing is left", async () => {
  const box = triggerBox({
    commands: { one: `(setsid sleep 600 &) ; ${waitFor("never")}` },
    triggers: { run_end: { commands: ["one"] } },
  });
  await box.add("a");
  const run = box.start(["run"]);
  await until("command one runs", () => isWaitedFor(box, "never"));
  run.kill("SIGINT");
  await until("it drains", () => run.stderr().includes("draining"));
  run.kill("SIGINT");
  expect((await run.ended).code).toBe(130);
  expect((await box.record()).run_end).toMatchObject({ status: "fail", commands: [] });
  await expectNothingLeft(box);
});

test("over its timeout run_end fails, and its tree is gone", async () => {
  const box = triggerBox({
    commands: { one: "true", two: "(setsid sleep 600 &) ; sleep 600" },
    triggers: { run_end: { timeout: 2, commands: ["one", "two"] } },
  });
  await box.add("a");
  const ended = await box.ratchet("run");
  expect([ended.code, runEndLines(ended).at(-1)]).toEqual([1, "[trigger] run_end completed: result=fail"]);
  expect((await box.record()).run_end).toMatchObject({ status: "fail", reason: "run_end_timeout", commands: [] });
  await expectNothingLeft(box);
});

test("C15 killed during run_end: the next start runs its commands again, in the same run, and tells it once", async () => {
  const box = triggerBox({
    commands: { one: "true", two: waitFor("two") },
    triggers: { run_end: { commands: ["one", "two"] } },
  });
  await box.add("a");
  const first = box.start(["run", "--json"]);
  await until("command two runs", () => isWaitedFor(box, "two"));
  first.kill("SIGKILL");
  const before = eventsOf(await first.ended);
  box.put("two", "");
  const second = await box.ratchet("run", "--json");
  expect(second.code).toBe(0);
  const told = [...before, ...eventsOf(second)].filter(({ type }) => type.startsWith("run-end"));
  expect(told.map(({ type }) => type)).toEqual(["run-end-started", "run-end-completed"]);
  expect(ran(box).slice(1)).toEqual(["one run", "two run", "one run", "two run"]);
  expect((await box.record()).run_end).toMatchObject({ status: "pass", commands: [{ ref: "one" }, { ref: "two" }] });
  await expectNothingLeft(box);
});

test("killed while a fixer of the run works: it is attached to, not asked again, and its work lands", async () => {
  const box = triggerBox({
    commands: { one: "test -e run.txt" },
    triggers: { run_end: { failure_mode: "remediate", max_retries: 1, commands: ["one"] } },
    agent: `if [ "$RATCHET_ROLE" = fixer ]; then ${waitFor("fixer")}; fi`,
  });
  await box.add("a");
  const first = box.start(["run"]);
  await until("the fixer works", () => isWaitedFor(box, "fixer"));
  first.kill("SIGKILL");
  await first.ended;
  const second = box.start(["run"]);
  await until("it goes on", () => second.stdout().includes("Continuing run "));
  box.put("fixer", "");
  expect((await second.ended).code).toBe(0);
  expect(countRan(box, "fixer run fixer 1")).toBe(1);
  expect(box.git("log", "-1", "--format=%s", "main")).toBe("fixer for the run");
  await expectNothingLeft(box);
});

const migration = `global_validation_commands is deprecated. Migrate to validation_triggers.run_end:

validation_triggers:
  run_end:
    failure_mode: continue
    commands:
      - ref: test
      - ref: lint
`;
test.each([
  ["alone", {}],
  ["beside run_end", { validation_triggers: { run_end: { commands: ["test"] } } }],
])(
  "C14 global_validation_commands %s: how to migrate, on stderr and in ratchet.log, exit 2, nothing started",
  async (_, more) => {
    const box = sandbox();
    box.configure({ agent: { type: "command", command: ["true"] }, commands: { test: "true", lint: "true" } });
    await box.add("a");
    box.configure({
      agent: { type: "command", command: ["true"] },
      commands: { test: "true", lint: "true" },
      global_validation_commands: ["test", "lint"],
      ...more,
    });
    const ended = await box.ratchet("run");
    expect(ended.code).toBe(2);
    const plain = (text: string) => text.replace(/^ +/gm, "");
    expect(plain(ended.stderr)).toContain(plain(migration));
    expect(plain(readFileSync(join(box.home, "ratchet.log"), "utf8"))).toContain(plain(migration));
    expect(ended.stderr).not.toMatch(/^\s+at /m);
    expect([ended.stdout, existsSync(join(box.home, "runs")), await box.status("a")]).toEqual(["", false, "available"]);
  },
);
