import { existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { listCheckouts } from "../../src/git/checkout/checkout.js";
import { tellNotCopied } from "../../src/git/checkout/copy.js";
import { discardChanges, removeWorktree } from "../../src/git/worktree/worktree.js";
import { makeWorld, open, put, read, sh } from "./git-fixture.js";

describe("worktree.copy", () => {
  test("brings untracked files along and keeps them out of git's sight", async () => {
    const world = await makeWorld();
    put(world.repo, ".env", "SECRET=1");
    put(world.repo, "config/local/a b.json", "{}");
    const { path } = await open(world, "one", { copy: [".env", "config/local", "missing"] });
    expect(read(path, ".env")).toBe("SECRET=1");
    expect(read(path, "config/local/a b.json")).toBe("{}");
    expect(sh(path, "git status --porcelain")).toBe("");
    expect(await discardChanges(path)).toEqual([]);
    expect(read(path, ".env")).toBe("SECRET=1");
  });

  test("of a folder the files that git does not have come along, and what is made beside them is seen", async () => {
    const world = await makeWorld((repo) => {
      for (const name of ["config/tracked.yml", "config/dropped.yml"]) put(repo, name, "tracked");
      sh(repo, "git add -A && git commit -q -m config");
    });
    put(world.repo, "config/local.env", "KEY=1");
    put(world.repo, "config/build/out", "ignored");
    put(world.repo, "fresh/ a*b", "untracked");
    const copy = ["config", "fresh"];
    const { path } = await open(world, "one", { copy });
    expect(read(path, "config/local.env")).toBe("KEY=1");
    expect(sh(path, "git status --porcelain")).toBe("");
    put(path, "config/new.txt", "work");
    put(path, "fresh/axb", "work");
    put(path, "config/build/more", "ignored in the repository, too");
    sh(path, "git rm -q config/dropped.yml && git commit -q -m dropped");
    put(world.repo, "config/late.env", "KEY=2");
    put(world.repo, "config/new.txt", "the user's own");
    await open(world, "one", { copy });
    expect(sh(path, "git status --porcelain -uall").split("\n").sort()).toEqual(["?? config/new.txt", "?? fresh/axb"]);
    expect([read(path, "config/late.env"), read(path, "config/new.txt")]).toEqual(["KEY=2", "work"]);
    expect(existsSync(join(path, "config/dropped.yml"))).toBe(false);
    expect(sh(path, "git add -A && git diff --cached --name-only").split("\n")).toEqual([
      "config/new.txt",
      "fresh/axb",
    ]);
  });

  test("what an agent made in such a folder is parked before the worktree is removed", async () => {
    const world = await makeWorld();
    put(world.repo, "config/local.env", "KEY=1");
    const { path, branch } = await open(world, "one", { copy: ["config"] });
    put(path, "config/new.txt", "work");
    const { parked } = await removeWorktree(world.mirror, { path, branch, issue: "one" });
    expect(parked).not.toBe(null);
    await open(world, "one", { copy: ["config"] });
    expect([read(path, "config/new.txt"), read(path, "config/local.env")]).toEqual(["work", "KEY=1"]);
    expect(sh(path, "git status --porcelain -uall")).toBe("?? config/new.txt");
  });

  test("a worktree of an older Ratchet's shows what was made in a folder that it hid, and still no copies", async () => {
    const world = await makeWorld();
    put(world.repo, "config/local.env", "KEY=1");
    const { path } = await open(world, "one", { copy: ["config"] });
    const [checkout] = await listCheckouts(world.mirror);
    put(checkout?.gitDir ?? "", "ratchet/copies", "/config\n");
    put(path, "config/new.txt", "work");
    await open(world, "one", { copy: ["config"] });
    expect(sh(path, "git status --porcelain -uall")).toBe("?? config/new.txt");
  });

  test("copies are hidden also where the list of them was lost, and nothing is copied through an agent's link", async () => {
    const world = await makeWorld();
    put(world.repo, "config/local.env", "KEY=1");
    put(world.repo, "other/local.env", "KEY=2");
    const { path } = await open(world, "one", { copy: ["config", "other"] });
    const [checkout] = await listCheckouts(world.mirror);
    rmSync(join(checkout?.gitDir ?? "", "ratchet", "copies"));
    rmSync(join(path, "other"), { recursive: true });
    symlinkSync(join(world.home, "elsewhere"), join(path, "other"));
    mkdirSync(join(world.home, "elsewhere"));
    await open(world, "one", { copy: ["config", "other"] });
    expect(sh(path, "git status --porcelain -uall")).toBe("?? other");
    expect(existsSync(join(world.home, "elsewhere/local.env"))).toBe(false);
  });

  test("a folder with more files than git can look through at once is left out, which is told", async () => {
    const world = await makeWorld();
    for (let at = 0; at < 2001; at += 1) put(world.repo, `many/${at}`, "");
    const { path } = await open(world, "one", { copy: ["many"] });
    expect(existsSync(join(path, "many"))).toBe(false);
    const options = { copy: ["many"], repoPath: world.repo };
    expect(await tellNotCopied(options)).toContain("many (more than 2000 files that git does not ignore)");
    put(world.repo, ".git/info/exclude", "/many\n");
    expect(await tellNotCopied(options)).toBe(null);
    expect(existsSync(join((await open(world, "two", { copy: ["many"] })).path, "many/2000"))).toBe(true);
  });

  test("never overwrites a tracked file and never follows a link out of the repository", async () => {
    const world = await makeWorld();
    put(world.home, "outside.txt", "secret");
    put(world.repo, "a.txt", "changed by the user");
    symlinkSync(join(world.home, "outside.txt"), join(world.repo, "link"));
    symlinkSync(world.home, join(world.repo, "folder"));
    const { path } = await open(world, "one", { copy: ["a.txt", "link", "folder/outside.txt"] });
    expect(read(path, "a.txt")).toBe("a\n");
    expect(existsSync(join(path, "link"))).toBe(false);
    expect(existsSync(join(path, "folder"))).toBe(false);
  });

  test.each(["../x", "/etc/passwd", ".git/config", ".", "a/../../x"])("refuses %s", async (name) => {
    const world = await makeWorld();
    await expect(open(world, "one", { copy: [name] })).rejects.toThrow("not a path inside the repository");
  });
});
