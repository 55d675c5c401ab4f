import { spawn } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { GitError, git, gitText } from "../../src/git/git.js";
import { openMirror } from "../../src/git/mirror/mirror.js";
import { mayHaveWorkedIn } from "../../src/lib/process/table.js";
import { commit, makeWorld, open, put, sh } from "./git-fixture.js";

describe("a git command of ours", () => {
  test("opens no editor and no pager, runs no hook, whatever the user has configured", async () => {
    const world = await makeWorld();
    const mark = join(world.home, "called");
    put(world.repo, ".git/hooks/pre-commit", `#!/bin/sh\ntouch ${mark}\n`);
    sh(
      world.repo,
      `chmod +x .git/hooks/pre-commit && git config core.editor 'touch ${mark}' && git config core.pager 'touch ${mark}' && git config core.fsmonitor 'touch ${mark}'`,
    );
    put(world.repo, "a.txt", "changed");
    await expect(git(world.repo, ["commit", "-a"])).rejects.toThrow("git commit failed");
    await git(world.repo, ["commit", "-q", "-a", "-m", "x"]);
    expect(await gitText(world.repo, ["log", "--format=%s"])).toBe("x\nfirst");
    expect(sh(world.home, "ls")).not.toContain("called");
  });

  test("fails with what git said, and takes an exit code as an answer when told", async () => {
    const world = await makeWorld();
    const failed = git(world.repo, ["rev-parse", "--verify", "nothing"]);
    await expect(failed).rejects.toBeInstanceOf(GitError);
    await expect(failed).rejects.toMatchObject({ code: 128, retryable: false });
    expect((await git(world.repo, ["diff", "--quiet", "HEAD", "HEAD~0"], { okCodes: [1] })).code).toBe(0);
  });

  test("a held lock is waited out", async () => {
    const world = await makeWorld();
    const lock = join(world.repo, ".git/index.lock");
    put(world.repo, ".git/index.lock", "");
    put(world.repo, "b.txt", "b");
    const added = git(world.repo, ["add", "b.txt"]);
    const early = await Promise.race([
      added.then(() => "done"),
      git(world.repo, ["rev-parse", "HEAD"]).then(() => "waiting"),
    ]);
    expect(early).toBe("waiting");
    rmSync(lock);
    await added;
    expect(sh(world.repo, "git status --porcelain")).toBe("A  b.txt");
  });

  test("a lock that nobody has any more goes from the mirror, which is told, and from nowhere else", async () => {
    const world = await makeWorld();
    const told: string[] = [];
    const names = ["refs/user/heads/main.lock", "packed-refs.lock", "refs/ratchet/x.lock"];
    const files = names.map((name) => join(world.mirror.path, name));
    for (const name of names) put(world.mirror.path, name, "");
    put(world.repo, ".git/refs/heads/new.lock", "");
    const checkout = (await open(world, "one")).path;
    const ofCheckout = sh(checkout, "git rev-parse --git-dir");
    put(ofCheckout, "refs/heads/new.lock", "");
    sh(world.home, `touch -d '1 hour ago' repo/.git/refs/heads/new.lock ${ofCheckout}/refs/heads/new.lock`);
    sh(world.mirror.path, `touch -d '1 hour ago' ${names.join(" ")}`);
    const head = commit(world.repo, "b.txt", "b");
    await openMirror({ repoPath: world.repo, mirrorPath: world.mirror.path, tell: (text) => void told.push(text) });
    await git(world.mirror.path, ["update-ref", "refs/ratchet/x", head], { lockWaitMs: 0 });
    await git(world.mirror.path, ["pack-refs", "--all"], { lockWaitMs: 0 });
    expect(told).toContain(`${files[0]} was left by a git that is gone, and is removed`);
    expect(files.map((file) => existsSync(file))).toEqual([false, false, false]);
    for (const cwd of [world.repo, checkout])
      await expect(git(cwd, ["update-ref", "refs/heads/new", "HEAD"], { lockWaitMs: 0 })).rejects.toThrow("is locked");
  });

  test("a lock in the mirror that may be held stays", async () => {
    const world = await makeWorld();
    const { path } = world.mirror;
    const fails = async () =>
      await expect(git(path, ["update-ref", "refs/ratchet/x", "HEAD"], { lockWaitMs: 0 })).rejects.toThrow("is locked");
    put(path, "refs/ratchet/x.lock", "");
    sh(path, "git symbolic-ref HEAD refs/user/heads/main");
    await fails();
    const holding = spawn("git", ["update-ref", "--stdin"], { cwd: path });
    const answers = async () => await new Promise((resolve) => holding.stdout.once("data", resolve));
    holding.stdin.write("start\n");
    await answers();
    const made = (atMs: number) => mayHaveWorkedIn(path, { program: "git", atMs });
    expect([made(Date.now()), made(Date.now() - 60_000)]).toEqual([true, false]);
    expect(mayHaveWorkedIn(path, { program: "other", atMs: Date.now() })).toBe(false);
    holding.stdin.end();
    await new Promise((resolve) => holding.once("close", resolve));
    await fails();
  });

  test("a lock that stays is named, with a hint, and never removed", async () => {
    const world = await makeWorld();
    put(world.repo, ".git/refs/heads/new.lock", "");
    const failed = git(world.repo, ["update-ref", "refs/heads/new", "HEAD"], { lockWaitMs: 200 });
    await expect(failed).rejects.toMatchObject({
      name: "ExternalError",
      retryable: true,
      message: expect.stringContaining(join(world.repo, ".git/refs/heads/new.lock")),
      hint: expect.stringContaining("remove"),
    });
    sh(world.repo, "test -f .git/refs/heads/new.lock");
  });

  test("is stopped by its signal and by its time limit", async () => {
    const world = await makeWorld();
    sh(world.repo, "git config alias.wait '!sleep 60'");
    await expect(git(world.repo, ["wait"], { timeoutMs: 100 })).rejects.toThrow("it took too long");
    const stop = new AbortController();
    const waiting = git(world.repo, ["wait"], { signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    await expect(git(world.repo, ["status"], { signal: stop.signal })).rejects.toThrow("enough");
  });

  test("a missing folder is said", async () => {
    await expect(git("/nowhere/at/all", ["status"])).rejects.toThrow("/nowhere/at/all is not there");
  });

  test("input of any size reaches it", async () => {
    const world = await makeWorld();
    const sha = await gitText(world.repo, ["hash-object", "-w", "--stdin"], { input: "x".repeat(3_000_000) });
    expect((await git(world.repo, ["cat-file", "blob", sha])).stdout).toHaveLength(3_000_000);
    commit(world.repo, "b.txt", "b");
  });
});
