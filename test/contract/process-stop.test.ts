import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { attemptOf, readPid } from "../../src/lib/process/attempt.js";
import { findProgram } from "../../src/lib/process/find.js";
import { followProgram } from "../../src/lib/process/follow.js";
import { reapLeftovers, stopProgram } from "../../src/lib/process/stop.js";
import { agents, attempts, belongings, never, start, text, until } from "./process-support.js";

const { fresh } = attempts();

async function started(argv: readonly [string, ...string[]]): Promise<string> {
  const folder = fresh();
  await start(folder, argv);
  await until("the program is ready", () => text(folder, "stdout.log").includes("ready"));
  return folder;
}

test.each(["SIGINT", "SIGTERM"] as const)("a program that ends on %s is given the time to", async (first) => {
  const folder = await started([join(agents, "ends-cleanly.sh"), first.slice(3)]);
  const following = followProgram(folder, { signal: never });
  await stopProgram(folder, { first, graceMs: 15_000, why: "drained" });
  expect(await following).toEqual({ type: "exited", code: 3, stopped: "drained" });
  expect(text(folder, "stdout.log")).toContain(`got ${first.slice(3)}`);
  expect(belongings(folder)).toEqual([]);
});

test.each(["stopped", null])("an agent behind a wrapper that ends at once has its grace too (%s)", async (why) => {
  const folder = await started([join(agents, "behind-a-wrapper.sh")]);
  await until("both agents are ready", () => text(folder, "stdout.log").match(/ready/g)?.length === 2);
  const following = followProgram(folder, { signal: never });
  await stopProgram(folder, { first: "SIGTERM", graceMs: 15_000, why });
  expect(await following).toEqual({ type: "exited", code: 143, stopped: why });
  expect(text(folder, "stdout.log").match(/saved/g)).toHaveLength(2);
  expect(belongings(folder)).toEqual([]);
});

test("what a stopped agent leaves that heard no interrupt is told to end, not waited for", async () => {
  const folder = await started(["sh", "-c", "sleep 600 & trap exit INT; echo ready; while :; do sleep 0.05; done"]);
  const startedAt = Date.now();
  await stopProgram(folder, { first: "SIGINT", graceMs: 60_000, why: null });
  expect(Date.now() - startedAt).toBeLessThan(30_000);
  expect(belongings(folder)).toEqual([]);
});

test("the tree of a program whose stopper has died is ended by whoever follows it", async () => {
  const folder = await started([join(agents, "behind-a-wrapper.sh")]);
  writeFileSync(join(folder, "stopping"), `${process.pid}\n`);
  const [program] = readFileSync(
    `/proc/${readPid(attemptOf(folder))}/task/${readPid(attemptOf(folder))}/children`,
    "utf8",
  )
    .trim()
    .split(" ")
    .map(Number)
    .slice(-1);
  process.kill(program ?? 0, "SIGTERM");
  expect(await followProgram(folder, { signal: never })).toMatchObject({ type: "exited", code: 143 });
  expect(belongings(folder)).toEqual([]);
});

test("C9 one that ignores signals is killed with its whole tree, sessions of their own and cleared environments included", async () => {
  const folder = await started([join(agents, "hangs.sh")]);
  await until("the whole tree is up", () => belongings(folder).length >= 7);
  await stopProgram(folder, { first: "SIGTERM", graceMs: 200, why: "timed-out" });
  expect(belongings(folder)).toEqual([]);
  expect(await followProgram(folder, { signal: never })).toEqual({ type: "exited", code: 137, stopped: "timed-out" });
});

test.each(["by itself", "stopped"])(
  "C9 a program that ends (%s) takes along what left its parents, its session and its environment behind",
  async (how) => {
    const daemon = "(env -i setsid sh -c 'echo ready; exec sleep 600' &)";
    const wait = "while [ ! -e go ]; do sleep 0.02; done";
    const folder = await started(["sh", "-c", `${daemon}; ${wait}`]);
    // Somebody else, who works in the same place and reads along.
    const person = spawn("sh", ["-c", 'exec tail -f "$0"', join(folder, "stdout.log")], {
      cwd: folder,
      detached: true,
      stdio: "ignore",
    });
    const programs = () => belongings(folder).map((each) => each.replace(/^\d+ /, "").trim());
    const all = [`tail -f ${join(folder, "stdout.log")}`, "sleep 600"];
    try {
      await until("everybody is there", () => all.every((each) => programs().includes(each)));
      const following = followProgram(folder, { signal: never });
      if (how === "stopped") await stopProgram(folder, { first: "SIGTERM", graceMs: 500, why: null });
      else writeFileSync(join(folder, "go"), "");
      await following;
      expect(programs()).toEqual(all.slice(0, 1));
    } finally {
      person.kill("SIGKILL");
    }
  },
);

test("a turn over its time is told, and still there to be stopped", async () => {
  const folder = await started([join(agents, "hangs.sh")]);
  expect(await followProgram(folder, { signal: never, timeoutAt: Date.now() + 100 })).toEqual({ type: "timed-out" });
  expect(findProgram(folder).state).toBe("running");
});

test("following ends at once when it is aborted, and leaves the program alone", async () => {
  const folder = await started([join(agents, "hangs.sh")]);
  const abort = new AbortController();
  const following = followProgram(folder, { signal: abort.signal });
  abort.abort();
  expect(await following).toEqual({ type: "aborted" });
  expect(findProgram(folder).state).toBe("running");
});

test("silence is told after the idle time, output puts it off", async () => {
  const folder = fresh();
  await start(folder, ["sh", "-c", "for i in 1 2 3 4 5 6; do echo $i; sleep 1; done; sleep 600"]);
  const startedAt = Date.now();
  let seen = 0;
  const onOutput = (): void => {
    seen++;
  };
  expect(await followProgram(folder, { signal: never, idleSeconds: 4, onOutput })).toEqual({ type: "idle" });
  expect(Date.now() - startedAt).toBeGreaterThan(7500);
  expect(seen).toBeGreaterThan(2);
});

test("a program that was stopped before it started never starts", async () => {
  const folder = fresh();
  await stopProgram(folder, { first: "SIGTERM", graceMs: 1000, why: "stopped" });
  await start(folder, ["sh", "-c", "echo started"]);
  expect(await followProgram(folder, { signal: never })).toEqual({ type: "exited", code: 137, stopped: "stopped" });
  expect(existsSync(join(folder, "stdout.log"))).toBe(false);
});

test("a shim that is killed makes the turn lost, and its tree is ended", async () => {
  const folder = await started([join(agents, "hangs.sh")]);
  const following = followProgram(folder, { signal: never });
  process.kill(readPid(attemptOf(folder)) ?? 0, "SIGKILL");
  expect(await following).toEqual({ type: "lost" });
  await until("nothing left over", () => belongings(folder).length === 0, 3000);
});

test("a process that was given the shim's number later is not taken for it, nor ended", async () => {
  const folder = fresh();
  const other = spawn("sleep", ["600"], { stdio: "ignore", detached: true });
  try {
    await start(folder, ["sh", "-c", `echo ${other.pid} >| pid; kill -9 $PPID; sleep 600`]);
    expect(await followProgram(folder, { signal: never })).toEqual({ type: "lost" });
    await stopProgram(folder, { first: "SIGTERM", graceMs: 100, why: null });
    expect(other.exitCode ?? other.signalCode).toBe(null);
    // The number in the folder is the other one's now, so it is all that seems to belong there.
    expect(belongings(folder).map((each) => Number.parseInt(each, 10))).toEqual([other.pid]);
  } finally {
    other.kill("SIGKILL");
  }
});

test("reaping tells how many it ended, and nobody is mistaken for a carrier", async () => {
  const { cookie } = attemptOf(fresh());
  const env = { PATH: process.env.PATH ?? "" };
  const carriers = Array.from({ length: 2 }, () =>
    spawn("sleep", ["600"], { env: { ...env, RATCHET_TURN: cookie }, stdio: "ignore" }),
  );
  const bystander = spawn("sleep", ["600"], {
    env: { ...env, RATCHET_TURN: cookie.replace(/./g, "0") },
    stdio: "ignore",
  });
  await until("they run", () => [...carriers, bystander].every((child) => child.pid !== undefined));
  await until("they carry", () => carriers.every((child) => hasCookie(child.pid, cookie)));
  expect(await reapLeftovers({ cookie })).toBe(2);
  expect(bystander.signalCode).toBe(null);
  bystander.kill("SIGKILL");
});

function hasCookie(pid: number | undefined, cookie: string): boolean {
  return text(`/proc/${pid}`, "environ").includes(cookie);
}

test("a program that nobody follows is gone after the grace, with its tree, and says how it ended", async () => {
  const folder = fresh();
  await start(folder, [join(agents, "hangs.sh")], { graceSeconds: 2 });
  await until("the whole tree is up", () => belongings(folder).length >= 7);
  await until("the grace is over", () => belongings(folder).length === 0, 30_000);
  expect(findProgram(folder)).toMatchObject({ state: "ended" });
});

test("a program that is followed lives through many graces", async () => {
  const folder = fresh();
  await start(folder, ["sh", "-c", "sleep 9; echo survived"], { graceSeconds: 3 });
  expect(await followProgram(folder, { signal: never })).toMatchObject({ type: "exited", code: 0 });
  expect(text(folder, "stdout.log")).toBe("survived\n");
});
