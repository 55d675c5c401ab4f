import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { holding } from "../foreign-lock.js";
import { hasPty } from "./pty.js";
import { program, type Running, type Sandbox, sandbox, until } from "./sandbox.js";

/** An agent that works once `wait` is gone, and a run that has asked it. `first`: what the agent does before. */
async function startWaiting(box: Sandbox, first = ""): Promise<{ run: Running; go: () => void }> {
  const wait = box.put("wait", "");
  const agent = `${first}
    while [ -e ${wait} ]; do sleep 0.05; done
    echo "$RATCHET_ISSUE_ID" > "$RATCHET_ISSUE_ID.txt" && git add -A && git commit -q -m "Did it"\n`;
  box.configure({ agent: { type: "command", command: box.script("agent", agent) } });
  await box.add("one");
  await box.add("two");
  const run = box.start(["run", "--max-agents", "1"]);
  await until("the agent is asked", () => run.stdout().includes("prompt implementer sent"));
  return { run, go: () => rmSync(wait) };
}

test("SIGINT once drains: what runs comes to its end, nothing new starts, exit 130", async () => {
  const box = sandbox();
  const { run, go } = await startWaiting(box);
  run.kill("SIGINT");
  await until("it says so", () => run.stderr().includes("draining, press again to stop"));
  go();
  expect((await run.ended).code).toBe(130);
  expect([await box.status("one"), await box.status("two")]).toEqual(["completed", "available"]);
  expect(await box.record()).toMatchObject({ status: "interrupted", exit_code: 130 });
});

test("D3 SIGINT before an issue's first prompt, while another program has the database: no agent is started", async () => {
  const box = sandbox();
  const [started, ready] = [join(box.root, "started"), join(box.root, "ready")];
  const setup = `: >${started}; while [ ! -e ${ready} ]; do sleep 0.05; done`;
  const agent = {
    type: "command",
    command: box.script("agent", 'echo x > x.txt; git add -A; git commit -qm "Did it"\n'),
  };
  box.configure({ agent, commands: { setup } });
  for (const id of ["one", "two"]) await box.add(id);
  const run = box.start(["run", "--max-agents", "1"]);
  await until("its setup runs", () => existsSync(started));
  const letGo = await holding(join(box.home, "ratchet.db"), "writing");
  run.kill("SIGINT");
  await until("it says so", () => run.stderr().includes("draining, press again to stop"));
  box.put("ready", "");
  await letGo();
  const { code, stdout } = await run.ended;
  expect([code, stdout]).toEqual([130, expect.not.stringContaining("prompt implementer sent")]);
  expect([await box.status("one"), await box.status("two")]).toEqual(["available", "available"]);
  expect(await box.issue("one")).toMatchObject({ status: "interrupted", error: null });
  expect((await box.ratchet("run", "--resume")).code).toBe(0);
  expect([await box.status("one"), await box.status("two")]).toEqual(["completed", "completed"]);
});

test("a run that writes to no terminal outlives the one it was started from", async () => {
  const box = sandbox();
  const { run, go } = await startWaiting(box);
  run.kill("SIGHUP");
  go();
  expect((await run.ended).code).toBe(0);
  expect([await box.status("one"), await box.status("two")]).toEqual(["completed", "completed"]);
});

test.each([["SIGINT", "SIGINT"], ["SIGTERM"]] as const)(
  "%s stops, and the issue can be resumed",
  async (...signals) => {
    const box = sandbox();
    const { run, go } = await startWaiting(box);
    const [first, second] = signals;
    run.kill(first);
    if (second) {
      await until("it drains", () => run.stderr().includes("draining"));
      run.kill(second);
    }
    await until("it says so", () => run.stderr().includes("stopping at the next safe point"));
    expect((await run.ended).code).toBe(130);
    expect(box.processes()).toEqual([]);
    expect(await box.issue("one")).toMatchObject({ status: "interrupted" });
    expect(await box.status("one")).toBe("available");
    go();
    expect((await box.ratchet("run", "--resume")).code).toBe(0);
    expect(await box.status("one")).toBe("completed");
  },
);

test("SIGINT three times leaves the run as a crash would, and the next start goes on", async () => {
  const box = sandbox();
  // It does not end when it is asked to: the run has to wait for it.
  const { run, go } = await startWaiting(box, "trap '' INT TERM");
  for (const said of ["draining", "stopping", null]) {
    run.kill("SIGINT");
    if (said) await until(said, () => run.stderr().includes(said));
  }
  expect((await run.ended).code).toBe(130);
  go();
  const next = await box.ratchet("run");
  expect(next.stdout).toContain("Continuing run ");
  expect(next.code).toBe(130);
});

const oneStage = `workflow "one" {
  version 2
  start "do"
  stage "do" kind="llm" prompt="Do it"
  stage "exit" kind="exit"
  transition from="do" to="exit"
}`;

test.each([
  [["run"], "SIGINT"],
  [["run"], "SIGTERM"],
  [["workflow", "run", "one.awf.kdl"], "SIGTERM"],
] as const)(
  "%s: a first %s ends the test of an agent's guard with all of it: nothing has begun",
  async (args, signal) => {
    const box = sandbox();
    const env = await withHangingClaude(box);
    box.write("one.awf.kdl", oneStage);
    const run = box.start(args, { env });
    await until("it says so", () => run.stderr().includes("testing claude's guard"));
    run.kill(signal);
    const { code, stderr } = await run.ended;
    expect([code, stderr]).toEqual([130, expect.stringContaining("interrupted before anything was started")]);
    expect([box.processes(), readdirSync(env.TMPDIR)]).toEqual([[], []]);
    expect(await box.status("one")).toBe("available");
  },
);

/** The program in a terminal that is closed while it tests a guard; ends as the program does. */
const inTerminal = `
import os, pty, sys
pid, fd = pty.fork()
if pid == 0: os.execvp(sys.argv[1], sys.argv[1:])
said = b""
while b"testing claude's guard" not in said: said += os.read(fd, 1024)
os.close(fd)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`;

/** An agent whose guard cannot be tested: it does not end. */
async function withHangingClaude(box: Sandbox): Promise<{ TMPDIR: string; PATH: string }> {
  chmodSync(box.put("bin/claude", "#!/bin/sh\nsleep 600 & wait\n"), 0o755);
  box.configure({ agent: { type: "claude" } });
  await box.add("one");
  const TMPDIR = join(box.root, "tmp");
  mkdirSync(TMPDIR);
  return { TMPDIR, PATH: `${join(box.root, "bin")}:${process.env.PATH}` };
}

test.runIf(hasPty)("a closed terminal ends the test of an agent's guard with all of it, and then the run", async () => {
  const box = sandbox();
  const env = { ...box.env, ...(await withHangingClaude(box)) };
  const child = spawn("python3", ["-c", inTerminal, process.execPath, program, "run"], { cwd: box.dir, env });
  const code = await new Promise((resolve) => child.once("close", resolve));
  // As Python tells a signal.
  expect(code).toBe(256 - constants.signals.SIGHUP);
  expect([box.processes(), readdirSync(env.TMPDIR)]).toEqual([[], []]);
});

test("what a killed test of an agent's guard has left is ended and removed by the next one", async () => {
  const box = sandbox();
  const env = await withHangingClaude(box);
  const killed = box.start(["run"], { env });
  await until("it says so", () => killed.stderr().includes("testing claude's guard"));
  killed.kill("SIGKILL");
  await killed.ended;
  const [left = ""] = readdirSync(env.TMPDIR);
  expect(existsSync(join(env.TMPDIR, left, "turn/pid"))).toBe(true);
  const next = box.start(["run"], { env });
  await until("it says so", () => next.stderr().includes("testing claude's guard"));
  expect([readdirSync(env.TMPDIR).length, readdirSync(env.TMPDIR).includes(left)]).toEqual([1, false]);
  expect(box.processes().filter((one) => one.includes(left))).toEqual([]);
  next.kill("SIGINT");
  await next.ended;
  expect([box.processes(), readdirSync(env.TMPDIR)]).toEqual([[], []]);
});

test("drain and stop reach a run from another terminal", async () => {
  const box = sandbox();
  const { run, go } = await startWaiting(box);
  const { run_id } = await box.record();
  expect(await box.ratchet("drain")).toEqual({ code: 0, stdout: `run ${run_id} is draining\n`, stderr: "" });
  await until("status says so", async () => (await box.ratchet("status")).stdout.includes("draining"));
  const said = "Draining: what runs comes to its end, nothing new starts";
  await until("the run says so", () => run.stdout().includes(said));
  expect(readFileSync(join(box.home, "runs", run_id, "run.log"), "utf8")).toContain(` warn ${said}\n`);
  go();
  expect((await run.ended).code).toBe(130);
  expect([await box.status("one"), await box.status("two")]).toEqual(["completed", "available"]);
  const late = await box.ratchet("stop");
  expect([late.code, late.stderr]).toEqual([1, expect.stringContaining("no run is at work")]);
});

test("a run that is stopped from another terminal says so, and status too", async () => {
  const box = sandbox();
  // It takes a while to end.
  const end = `while [ ! -e ${box.root}/go ]; do sleep 0.05; done; exit 1`;
  const stubborn = `trap '${end}' TERM INT; while :; do sleep 0.05; done\n`;
  box.configure({ agent: { type: "command", command: box.script("agent", stubborn) } });
  await box.add("one");
  const run = box.start(["run"]);
  await until("the agent is asked", () => run.stdout().includes("prompt implementer sent"));
  expect((await box.ratchet("stop")).stdout).toMatch(/^run .* is stopping\n$/);
  await until("status says so", async () => (await box.ratchet("status")).stdout.includes("stopping at the next"));
  box.put("go", "");
  expect((await run.ended).stdout).toContain("Stopping: what runs ends at its next safe point and can be resumed");
});

test("stop ends a process that goes on with an earlier run: it starts no other", async () => {
  const box = sandbox();
  const killed = await startWaiting(box);
  killed.run.kill("SIGKILL");
  await killed.run.ended;
  const run = box.start(["run"]);
  await until("it goes on", () => run.stdout().includes("Continuing run "));
  await until("somebody drives it", async () => (await box.ratchet("stop")).code === 0);
  const { code, stdout } = await run.ended;
  expect([code, stdout.match(/^run \S+ started/gm)]).toEqual([130, null]);
  expect([await box.status("one"), await box.status("two")]).toEqual(["available", "available"]);
});

test("what was named is told as not run where the run before it was told to end", async () => {
  const box = sandbox();
  const killed = await startWaiting(box);
  killed.run.kill("SIGKILL");
  await killed.run.ended;
  await box.add("three");
  const run = box.start(["run", "one", "three"]);
  await until("it goes on", () => run.stdout().includes("Continuing run "));
  run.kill("SIGINT");
  await until("it says so", () => run.stderr().includes("draining, press again to stop"));
  killed.go();
  const { code, stdout } = await run.ended;
  const told = stdout.split("\n").filter((line) => line.includes("did not run: run "));
  expect([code, told]).toEqual([130, [expect.stringMatching(/^three .* was told to end, and no other was begun$/)]]);
});

test.each(["drain", "stop"] as const)(
  "%s of a killed run ends that run alone, and whoever takes it up says so",
  async (name) => {
    const box = sandbox();
    const killed = await startWaiting(box);
    killed.run.kill("SIGKILL");
    await killed.run.ended;
    const { run_id } = await box.record();
    const word = name === "drain" ? "draining" : "stopping";
    const told = `run ${run_id} has no process: it will be ${word} when it is taken up again\n`;
    expect(await box.ratchet(name)).toEqual({ code: 0, stdout: told, stderr: "" });
    const status = await box.ratchet("status");
    expect(status.stdout).toContain(`nobody drives it; it will be ${word} when \`ratchet run\` takes it up`);
    const { runs } = JSON.parse((await box.ratchet("status", "--json")).stdout);
    expect(runs).toMatchObject([{ driven: false, draining: true, stopping: name === "stop" }]);
    const { continues, issues } = JSON.parse((await box.ratchet("run", "--dry-run", "--json")).stdout);
    // What is stopped is available again, and taken like any other.
    expect(issues).toEqual(name === "stop" ? ["two", "one"] : ["two"]);
    expect(continues).toEqual([{ run_id, issues: ["one"], draining: true, stopping: name === "stop" }]);
    killed.go();
    const { code, stdout, stderr } = await box.ratchet("run", "one", "two");
    expect([code, stderr]).toEqual([130, ""]);
    expect(stdout).toContain(`Continuing run ${run_id} `);
    expect(stdout).toContain(name === "drain" ? "\nDraining: " : "\nStopping: ");
    expect(stdout.match(/^run \S+ started/gm)).toHaveLength(1);
    expect(await box.status("two")).toBe("completed");
  },
);

test("the logs of a killed run say that nobody drives it, and who follows it sees it go on", async () => {
  const box = sandbox();
  const killed = await startWaiting(box);
  const { run_id } = await box.record();
  const follow = box.start(["logs", "follow"]);
  await until("it follows", () => follow.stdout().includes("prompt implementer sent"));
  expect((await box.ratchet("logs", "list")).stdout).toMatch(new RegExp(`^${run_id} +running `, "m"));
  expect((await box.ratchet("logs", "show", "last")).stdout).not.toContain("--resume");
  killed.run.kill("SIGKILL");
  await killed.run.ended;
  const how = "nobody drives it; `ratchet run` goes on with it";
  await until("it says so", () => follow.stderr() === `run ${run_id}: ${how}\n`);
  expect((await box.ratchet("logs", "list")).stdout).toMatch(new RegExp(`^${run_id} +nobody drives it `, "m"));
  const shown = (await box.ratchet("logs", "show", "last")).stdout;
  expect(shown).toMatch(new RegExp(`^run ${run_id}, started .*\n${how}\n`));
  expect(shown).not.toContain("--resume");
  const [listed] = JSON.parse((await box.ratchet("logs", "list", "--json")).stdout);
  expect([listed.status, (await box.record()).status]).toEqual(["running", "running"]);
  killed.go();
  await box.ratchet("run");
  const { code, stdout, stderr } = await follow.ended;
  expect([code, stderr.split("\n")]).toEqual([0, [`run ${run_id}: ${how}`, ""]]);
  expect(stdout).toContain("exit code 0");
});

test("an issue of a killed run is stopped by its name when the run is taken up; a dry run names what would be", async () => {
  const box = sandbox();
  const killed = await startWaiting(box);
  killed.run.kill("SIGKILL");
  await killed.run.ended;
  const { run_id } = await box.record();
  const dry = await box.ratchet("run", "--dry-run", "one");
  const first = `first run ${run_id}, whose process is gone, would be continued: one\n`;
  expect([dry.stdout, dry.stderr]).toEqual(["", `${first}no other issue would be taken\n`]);
  const stopped = await box.ratchet("stop", "one");
  expect(stopped.stdout).toBe(`one in run ${run_id} has no process: it will be stopping when it is taken up again\n`);
  expect((await box.ratchet("status")).stdout).toMatch(/^one .*its run to be taken up: then it will be stopping$/m);
  expect((await box.ratchet("explain", "one")).stdout).toContain(
    "is gone; it is stopped when that run is taken up again\n",
  );
  const then = await box.ratchet("run", "--dry-run");
  const word = `first run ${run_id}, whose process is gone, would be continued, and of its issues stopped: one\n`;
  // What is stopped is available again, and taken like any other.
  expect([then.stdout, then.stderr]).toEqual(["two\none\n", word]);
  const { continues } = JSON.parse((await box.ratchet("run", "--dry-run", "--json")).stdout);
  expect(continues).toMatchObject([{ issues: ["one"], stopped: ["one"], stopping: false }]);
  const run = box.start(["run"]);
  await until("it is stopped", () => run.stdout().includes("one: interrupted"));
  killed.go();
  await run.ended;
  expect(await box.status("two")).toBe("completed");
});

test("stop takes a single issue; the run goes on with the others", async () => {
  const box = sandbox();
  const { run, go } = await startWaiting(box);
  const stopped = await box.ratchet("stop", "one", "--json");
  expect(JSON.parse(stopped.stdout)).toMatchObject({ signal: "stop", reached: [{ issue_id: "one", alive: true }] });
  await until("it is stopped", () => run.stdout().includes("one: interrupted"));
  go();
  await run.ended;
  expect(await box.status("two")).toBe("completed");
});

test("status shows what runs, in the contract's shape", async () => {
  const box = sandbox();
  const { run, go } = await startWaiting(box);
  const { runs } = JSON.parse((await box.ratchet("status", "--json")).stdout);
  expect(runs).toMatchObject([
    {
      status: "running",
      issues: [
        {
          issue_id: "one",
          phase: "implementing",
          attempt: 1,
          max_attempts: 3,
          open_findings: { p0: 0, p1: 0, p2: 0, p3: 0, other: 0 },
          session_id: null,
          elapsed_seconds: expect.any(Number),
          cost_usd: null,
          waiting_for: null,
        },
      ],
    },
  ]);
  expect((await box.ratchet("status")).stdout).toMatch(/^one +implementing +1\/3/m);
  const parked = await box.ratchet("worktree", "park", "one");
  expect([parked.code, parked.stderr]).toEqual([1, expect.stringContaining("is at work on one")]);
  go();
  expect((await run.ended).code).toBe(0);
  expect((await box.ratchet("status")).stdout).toContain("Nothing is running");
});

test("a second run on the repository works along", async () => {
  const box = sandbox();
  const { run, go } = await startWaiting(box);
  const second = box.start(["run", "--json"]);
  await until("it says so", () => second.stderr().includes("working along with run "));
  go();
  expect([(await run.ended).code, (await second.ended).code]).toEqual([0, 0]);
  expect([await box.status("one"), await box.status("two")]).toEqual(["completed", "completed"]);
});

test("a run that is killed beside another keeps its issue, and the other one says how it goes on", async () => {
  const box = sandbox();
  const { run, go } = await startWaiting(box);
  const second = box.start(["run", "--max-agents", "1"]);
  await until("it has the other issue", () => second.stdout().includes("two: prompt implementer sent"));
  run.kill("SIGKILL");
  await run.ended;
  go();
  const { code, stderr } = await second.ended;
  const dead = /^the process of run \S+ is gone, and one is still its own: ratchet run goes on with it$/m;
  expect([code, stderr]).toEqual([0, expect.stringMatching(dead)]);
});
