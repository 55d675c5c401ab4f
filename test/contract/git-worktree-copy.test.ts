import { existsSync, mkdirSync, readdirSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { notCopiedText } from "../../src/core/not-copied.js";
import { listCheckouts } from "../../src/git/checkout/checkout.js";
import { findNotCopied } from "../../src/git/checkout/copy.js";
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
    expect(notCopiedText(await findNotCopied(options))).toContain(
      "many (more than 2000 files that git does not ignore)",
    );
    put(world.repo, ".git/info/exclude", "/many\n");
    expect(notCopiedText(await findNotCopied(options))).toBe(null);
    expect(existsSync(join((await open(world, "two", { copy: ["many"] })).path, "many/2000"))).toBe(true);
  });

  describe.each([
    ["that git ignores", "/cp\n"],
    ["whose files git looks at", ""],
  ])("of a folder %s", (_what, exclude) => {
    test("a link stays a link where it leads to the same place of the worktree; others are left out and told", async () => {
      const world = await makeWorld();
      put(world.repo, ".git/info/exclude", exclude);
      put(world.home, "outside/secret", "secret");
      for (const name of ["cp/bin/tool", "cp/own file", "other.env"]) put(world.repo, name, name);
      const links = {
        inner: "bin/tool",
        again: "inner",
        tracked: "../a.txt",
        folder: "bin",
        dangling: "nowhere",
        itself: "itself",
        up: "..",
        missing: "../other.env",
        named: join(world.repo, "cp/own file"),
      };
      const left = {
        out: "../../outside/secret",
        "out folder": "../../outside",
        astray: "../../nowhere",
        absolute: join(world.repo, "cp/bin"),
        through: "out folder/secret",
      };
      for (const [name, to] of Object.entries({ ...links, ...left })) symlinkSync(to, join(world.repo, "cp", name));
      symlinkSync(join(world.home, "outside"), join(world.repo, "outside"));
      const copy = ["cp"];
      const { path } = await open(world, "one", { copy });
      expect(readdirSync(join(path, "cp")).sort()).toEqual([...Object.keys(links), "bin", "own file"].sort());
      for (const [name, to] of Object.entries({ ...links, missing: null, named: null })) {
        if (to !== null) expect([name, readlinkSync(join(path, "cp", name))]).toEqual([name, to]);
      }
      expect([read(path, "cp/missing"), read(path, "cp/named")]).toEqual(["other.env", "cp/own file"]);
      expect(sh(path, "git status --porcelain")).toBe("");
      const told = notCopiedText(await findNotCopied({ copy, repoPath: world.repo })) ?? "";
      expect(told).toMatch(
        /: cp\/.*, cp\/.*, cp\/.* and 2 more \(a link that is not relative or leads out of the reposi/,
      );
    });

    test("names that are no UTF-8, or more than a line, come byte for byte, and others beside them are seen", async () => {
      const world = await makeWorld();
      put(world.repo, ".git/info/exclude", exclude);
      mkdirSync(join(world.repo, "cp"));
      sh(world.repo, `cd cp; printf 1 > "$(printf 'caf\\351')"; printf 2 > "$(printf 'a\\nb')"`);
      sh(world.repo, `cd cp; mkdir "$(printf 'd\\351')"; printf 3 > "$(printf 'd\\351/\\374')"; printf 4 > ü`);
      const { path } = await open(world, "one", { copy: ["cp"] });
      expect(sh(path, "diff -r ../../repo/cp cp; git status --porcelain")).toBe("");
      sh(path, `cd cp; printf 5 > "$(printf 'caf\\352')"`);
      expect(sh(path, "git status --porcelain -uall")).toBe(exclude === "" ? '?? "cp/caf\\352"' : "");
    });
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
