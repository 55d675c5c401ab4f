import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Sandbox, sandbox, until } from "./sandbox.js";

/** A run that is at work until it is stopped, in the sandbox's repository or another one. */
async function startWorking(box: Sandbox, cwd = box.dir) {
  box.configure({ agent: { type: "command", command: box.script("agent", "sleep 600\n") } });
  if (cwd !== box.dir) execFileSync("cp", [join(box.dir, "ratchet.yaml"), cwd]);
  await box.start(["work", "add", "Do it"], { cwd }).ended;
  const run = box.start(["run"], { cwd });
  await until("the agent is at work", () => run.stdout().includes("prompt implementer sent"));
  return run;
}

function cloneOf(box: Sandbox): string {
  const other = join(box.root, "other");
  execFileSync("git", ["clone", "--quiet", box.dir, other], { env: box.env });
  execFileSync("git", ["-C", other, "config", "core.excludesFile", join(box.dir, ".git/info/exclude")]);
  return other;
}

test("last is the newest run of this repository, whoever runs elsewhere; a whole id names any run", async () => {
  const box = sandbox();
  const other = cloneOf(box);
  const own = await startWorking(box);
  const { run_id } = await box.record();
  const foreign = await startWorking(box, other);
  const [newest] = JSON.parse((await box.ratchet("logs", "list", "--all", "--json")).stdout);
  expect(newest.run_id).not.toBe(run_id);
  expect((await box.ratchet("stop", "last")).stdout).toBe(`run ${run_id} is stopping\n`);
  expect((await own.ended).code).toBe(130);
  const late = await box.ratchet("stop", "last");
  expect([late.code, late.stderr]).toEqual([1, expect.stringContaining(`run ${run_id} has ended (interrupted)`)]);
  expect(foreign.isEnded()).toBe(false);
  expect((await box.ratchet("stop", newest.run_id)).stdout).toBe(`run ${newest.run_id} is stopping\n`);
  expect((await foreign.ended).code).toBe(130);
});

test("a repository that is not known yet has no last run, whoever runs elsewhere; a whole id names any run", async () => {
  const box = sandbox();
  const other = cloneOf(box);
  const run = await startWorking(box);
  const { run_id } = await box.record();
  const there = async (...args: string[]) => await box.start(args, { cwd: other }).ended;
  const looks = ["logs show last", "logs follow", "logs prompt last x", "logs transcript last x", "runs export last"];
  for (const command of [...looks, "drain last", "stop last"]) {
    const said = await there(...command.split(" "));
    expect([command, said.code, said.stderr]).toEqual([command, 1, expect.stringContaining("there is no run yet")]);
  }
  expect((await there("logs", "show", run_id)).stdout).toContain(`run ${run_id} running`);
  expect((await box.start(["logs", "show", "last"], { cwd: box.root }).ended).stdout).toContain(run_id);
  expect(run.isEnded()).toBe(false);
});
