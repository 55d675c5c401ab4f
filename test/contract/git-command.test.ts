import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { GitError, git, gitText } from "../../src/git/git.js";
import { commit, makeWorld, put, sh } from "./git-fixture.js";

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
