import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { openMirror } from "../../src/git/mirror/mirror.js";
import { removeWorktree } from "../../src/git/worktree/worktree.js";
import { identityOf } from "../../src/lib/process-identity.js";
import { rounds } from "../rounds.js";
import { makeWorld, open, put, read, sh, type World } from "./git-fixture.js";

function makeBig(): Promise<World> {
  return makeWorld((repo) => {
    const files = "for d in $(seq 40); do mkdir -p big/$d; for f in $(seq 50); do echo $d.$f > big/$d/$f; done; done";
    sh(repo, `${files}; git add -A && git commit -qm big`);
  });
}

/** SIGKILLed at this many milliseconds after it said what it is at. */
async function killWhile(world: World, at: "opening" | "removing", afterMs: number): Promise<void> {
  const args = ["dist-test/git-reopen.mjs", world.repo, world.home, "one", world.base];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: child.stdout })) if (line === at) break;
  await delay(afterMs);
  // One that was quicker than the last has ended already: then there is nothing to kill in this round.
  if (child.exitCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

describe("after a kill -9", () => {
  test("locks of a git that is no more are gone when the worktree is used again, those of a living one stay", async () => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    const gitDir = sh(path, "git rev-parse --absolute-git-dir");
    for (const name of ["index.lock", "HEAD.lock"]) put(gitDir, name, "");
    const somebody = spawn("sleep", ["60"], { cwd: path });
    await once(somebody, "spawn");
    await open(world, "one");
    expect(existsSync(join(gitDir, "index.lock"))).toBe(true);
    somebody.kill("SIGKILL");
    await once(somebody, "exit");
    await open(world, "one");
    put(path, "file", "new");
    expect(sh(path, "git add -A && git commit -qm work && git status --porcelain")).toBe("");
  });

  test("what it used of indexes is gone at the next look, a living one's is not", async () => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    const gitDir = sh(path, "git rev-parse --absolute-git-dir");
    const dead = spawn("true");
    await once(dead, "exit");
    const names = [`${dead.pid}-0a0b0c0d`, `${dead.pid}-0a0b0c0d.lock`, `${process.pid}-0a0b0c0d`];
    for (const name of names) put(gitDir, `ratchet-index.${name}`, "");
    await open(world, "one");
    expect(names.map((name) => existsSync(join(gitDir, `ratchet-index.${name}`)))).toEqual([false, false, true]);
  });

  test.each([
    ["opening", rounds(4, 10)],
    ["removing", rounds(3, 5)],
  ] as const)(
    "while %s, the worktree is opened at once, whole, whatever git was still doing",
    async (at, count) => {
      const world = await makeBig();
      let longestMs = 100;
      for (let round = 0; round < count; round++) {
        const afterMs = Math.random() * longestMs;
        await killWhile(world, at, afterMs);
        const startedAt = performance.now();
        const { path, branch, head } = await open(world, "one");
        expect([head, sh(path, "git status --porcelain")], `killed after ${afterMs} ms`).toEqual([world.base, ""]);
        longestMs = performance.now() - startedAt;
        await removeWorktree(world.mirror, { path, branch, issue: "one", landed: world.base });
        expect(readdirSync(join(world.home, "worktrees"))).toEqual([".checkouts"]);
      }
      await openMirror({ repoPath: world.repo, mirrorPath: world.mirror.path });
      expect(readdirSync(join(world.mirror.path, "checkouts"))).toEqual([]);
      const pooled = readdirSync(join(world.mirror.path, "pool"));
      expect(pooled.filter((name) => name.startsWith("."))).toEqual([]);
    },
    300_000,
  );

  test("what was taking old files out of a pooled folder is ended before it is filled anew", async () => {
    const world = await makeBig();
    const { path, branch } = await open(world, "one");
    await removeWorktree(world.mirror, { path, branch, issue: "one", landed: world.base });
    const [bin, started] = [join(world.home, "bin"), join(world.home, "find.pid")];
    put(bin, "find", `#!/bin/sh\necho $$ > ${started}.new && mv ${started}.new ${started}; exec sleep 60\n`);
    chmodSync(join(bin, "find"), 0o755);
    const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` };
    const args = ["dist-test/git-reopen.mjs", world.repo, world.home, "one", world.base];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"], env });
    await vi.waitFor(() => expect(existsSync(started)).toBe(true), { timeout: 30_000, interval: 10 });
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    await open(world, "one");
    expect(identityOf(Number(read(world.home, "find.pid")))).toBeNull();
    expect(sh(path, "git status --porcelain")).toBe("");
  }, 60_000);

  test("files that were being put back into a lost folder are put there again, and the agent's refs stay", async () => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    sh(path, "git tag mine");
    const [gitDir = ""] = readdirSync(join(world.mirror.path, "checkouts"));
    const own = join(world.mirror.path, "checkouts", gitDir);
    sh(path, "rm -r a.txt src");
    put(own, "ratchet/filling", "");
    put(own, "ratchet-index.lock", "half");
    expect(await open(world, "one")).toMatchObject({ from: "branch", head: world.base });
    expect(sh(path, "git status --porcelain && git tag")).toBe("mine");
    put(path, "a.txt", "work");
    expect(await open(world, "one")).toMatchObject({ from: "worktree" });
    expect(read(path, "a.txt")).toBe("work");
  });

  test("what it left among the git folders is swept, what a living process makes there is not", async () => {
    const world = await makeWorld();
    const folder = join(world.mirror.path, "checkouts");
    const dead = spawn("true");
    await once(dead, "exit");
    const names = [`.new-${dead.pid}-0a`, ".gone-0b", ".gone-0b-files", `.new-${process.pid}-0c`];
    for (const name of names) mkdirSync(join(folder, name));
    await openMirror({ repoPath: world.repo, mirrorPath: world.mirror.path });
    expect(names.map((name) => existsSync(join(folder, name)))).toEqual([false, false, false, true]);
  });
});
