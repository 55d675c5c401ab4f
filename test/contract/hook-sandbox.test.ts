import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { followProgram } from "../../src/lib/process/follow.js";
import { startProgram } from "../../src/lib/process/start.js";
import { stopProgram } from "../../src/lib/process/stop.js";
import { missingSandbox, sandboxed } from "../../src/run/sandbox.js";

const works = (await missingSandbox(process.env)) === null;
// Not where temporary files are: that may be below /dev, and a locked turn has a /dev of its own.
const root = mkdtempSync("/var/tmp/ratchet-locked-");
const path = (...names: string[]) => join(root, ...names);
const env = { PATH: process.env.PATH ?? "", HOME: path("home") };

beforeAll(() => {
  for (const name of ["wt", "writable", "other", "home/.ssh", "home/.claude"])
    mkdirSync(path(name), { recursive: true });
  writeFileSync(path("home", ".ssh", "id"), "secret");
  writeFileSync(path("home", ".netrc"), "secret");
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function start(name: string, script: string, readOnly = false): Promise<string> {
  const folder = path(name);
  mkdirSync(folder);
  writeFileSync(join(folder, "guard.json"), "{}");
  const guard = { worktree: path("wt"), readOnly, writable: [path("writable")] };
  const call = { argv: ["/bin/sh", "-c", script] as const, env: {}, stopSignal: "SIGTERM" as const };
  const argv = sandboxed(call, guard, { folder, env });
  const stdoutFile = join(folder, "stdout.log");
  await startProgram({
    folder,
    argv,
    env,
    cwd: path("wt"),
    stdinFile: null,
    stdoutFile,
    stderrFile: join(folder, "stderr.log"),
  });
  return folder;
}

async function end(folder: string) {
  return await followProgram(folder, { signal: new AbortController().signal, timeoutAt: Date.now() + 30_000 });
}

const output = (folder: string) => readFileSync(join(folder, "stdout.log"), "utf8");
const tries = (...paths: string[]) =>
  paths.map((each) => `(echo x > ${each}) 2>/dev/null && echo yes || echo no`).join("; ");

describe.runIf(works)("a turn locked in by bubblewrap", () => {
  it("writes in its worktree and its own folders only, and sees no keys", async () => {
    const folder = path("turn-1");
    const script = tries("a", path("writable", "a"), path("home", ".claude", "a"), join(folder, "a"), "/dev/null");
    const not = tries(path("other", "a"), path("home", "a"), join(folder, "guard.json"), "/etc/ratchet-probe");
    const started = await start(
      "turn-1",
      `${script}; ${not}; ls ${path("home", ".ssh")}; cat ${path("home", ".netrc")}; exit 7`,
    );
    expect(await end(started)).toMatchObject({ type: "exited", code: 7 });
    expect(output(folder).split("\n")).toEqual(["yes", "yes", "yes", "yes", "yes", "no", "no", "no", "no", ""]);
  });

  it("changes nothing in the worktree as a reviewer's", async () => {
    const folder = await start("turn-2", tries("b", path("writable", "b")), true);
    await end(folder);
    expect(output(folder)).toBe("no\nyes\n");
    expect(existsSync(path("wt", "b"))).toBe(false);
  });

  it("has the time to end cleanly when it is stopped", async () => {
    const folder = await start(
      "turn-3",
      "trap 'sleep 0.5; echo clean; exit' TERM; echo ready; while :; do sleep 0.1; done",
    );
    await expect.poll(() => output(folder), { timeout: 10_000 }).toContain("ready");
    await stopProgram(folder, { first: "SIGTERM", graceMs: 8000, why: "stopped" });
    expect(output(folder)).toContain("clean");
  });
});

describe("a machine without bubblewrap", () => {
  it("is found out before the first turn, with what to install", async () => {
    const missing = await missingSandbox({ PATH: path("other") });
    expect(missing?.hint).toMatch(/bubblewrap|none/);
  });
});
