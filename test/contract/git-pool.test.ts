import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, statSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { emptyPool, listPool } from "../../src/git/checkout/pool.js";
import { openMirror } from "../../src/git/mirror/mirror.js";
import { listWorktrees, removeWorktree, snapshot } from "../../src/git/worktree/worktree.js";
import { commit, makeWorld, open, put, read, sh, type World } from "./git-fixture.js";

/** Large enough for the pool. */
function makeLarge(prepare: (repo: string) => void = () => undefined): Promise<World> {
  return makeWorld((repo) => {
    for (let index = 0; index < 1200; index++) put(repo, `big/${index % 30}/${index}.txt`, `file ${index}\n`);
    prepare(repo);
    sh(repo, "git add -A && git commit -qm big");
  });
}

async function release(world: World, issue: string, landed: string | null = world.base): Promise<void> {
  const path = join(world.home, "worktrees", issue);
  await removeWorktree(world.mirror, { path, branch: `ratchet/${issue}`, issue, landed });
}

/**
 * Tells whether a folder was used again: git gives a file that it writes a new inode. Numbers of files that are gone are
 * given out again, so when it was made is part of who it is.
 */
function inodeOf(path: string, name = "big/3/3.txt"): string {
  const { ino, birthtimeNs } = statSync(join(path, name), { bigint: true });
  return `${ino} ${birthtimeNs}`;
}

/** Kind, mode and content of everything, folders included. */
function fingerprint(path: string): string {
  const all = "find . -mindepth 1 ! -path ./.git -printf '%y %m %n %p %l\\n'";
  return sh(path, `${all} | sort; find . -type f ! -path ./.git -exec sha256sum '{}' + | sort`);
}

/** Everything an agent can leave among the files, most of it where `git status` or `git clean` does not look. */
function makeMess(world: World, path: string): void {
  const same = statSync(join(path, "big/0/0.txt"));
  put(path, "big/0/0.txt", "FILE 0\n");
  utimesSync(join(path, "big/0/0.txt"), same.atime, same.mtime);
  sh(path, "chmod 600 big/0/30.txt && chmod 755 big/0/60.txt && chmod 777 big/1 && chmod 500 big/2");
  sh(
    path,
    "ln big/0/90.txt hard && rm hard && ln -s 1.txt big/1/link && mkfifo big/4/pipe && mkdir -p big/4/empty/more",
  );
  put(path, "build/out.o", "ignored");
  put(path, "big/5/build/deep/out.o", "ignored below tracked files");
  sh(path, "mkdir locked && echo x > locked/x && chmod 500 locked && git init -q big/6 && git init -q nested");
  put(path, "nested/n.txt", "in a repository of its own");
  put(path, "big/6/.gitattributes", "* -text eol=crlf\n");
  put(path, ".gitattributes", "*.txt eol=crlf\n");
  put(path, "we ird\n name", "odd");
  sh(path, 'printf bytes > "big/7/$(printf "caf\\351")"');
  sh(path, "git update-index --skip-worktree big/8/8.txt && git update-index --assume-unchanged big/9/9.txt");
  put(path, "big/8/8.txt", "hidden");
  put(path, "big/9/9.txt", "hidden");
  // The files inside keep inode and times; only the way to them changes.
  renameSync(join(path, "big/10"), join(world.home, "elsewhere"));
  symlinkSync(join(world.home, "elsewhere"), join(path, "big/10"));
  sh(
    path,
    "rm -r big/11 && echo file > big/11 && rm big/12/12.txt && mkdir big/12/12.txt && echo in > big/12/12.txt/in",
  );
  sh(path, "mv big/13 big/13b && mv big/14 big/13 && mv big/13b big/14 && rm a.txt");
  sh(path, "git config core.hooksPath .evil && echo big/ >> $(git rev-parse --git-path info/exclude)");
}

describe("D4 a worktree from the pool", () => {
  test("D4 shows nothing of what the last agent left, and keeps the files that nobody touched", async () => {
    const world = await makeLarge();
    const { path } = await open(world, "messy");
    const [inode, elsewhere] = [inodeOf(path), join(world.home, "elsewhere")];
    const landed = commit(path, "new.txt", "landed\n");
    makeMess(world, path);
    await snapshot(path, { base: world.base, docsPatterns: [] });
    await release(world, "messy", landed);
    expect([existsSync(path), (await listPool(world.mirror)).length]).toEqual([false, 1]);

    const next = await open(world, "next", { base: landed });
    expect(next).toMatchObject({ fresh: true, from: "new", head: landed });
    expect([inodeOf(next.path), await listPool(world.mirror)]).toEqual([inode, []]);
    expect(readdirSync(elsewhere)).toHaveLength(40);
    const seen = await snapshot(next.path, { base: landed, docsPatterns: [] });
    expect([seen.dirtyCount, sh(next.path, "git status --porcelain --ignored")]).toEqual([0, ""]);
    const made = await open(world, "made", { base: landed });
    expect(inodeOf(made.path)).not.toBe(inode);
    expect(fingerprint(next.path)).toBe(fingerprint(made.path));
    expect(sh(next.path, "git config core.hooksPath || echo none")).toBe("none");
  });

  test("D4 goes back to a commit before the agent's, and is used again and again", async () => {
    const world = await makeLarge();
    const { path } = await open(world, "one");
    const inode = inodeOf(path);
    commit(path, "big/1/new.txt", "not landed");
    sh(path, "git rm -q -r big/2 && git commit -qm removed");
    await release(world, "one", null);
    for (const issue of ["two", "three"]) {
      const next = await open(world, issue);
      expect([inodeOf(next.path), sh(next.path, "git status --porcelain --ignored")]).toEqual([inode, ""]);
      expect(existsSync(join(next.path, "big/1/new.txt"))).toBe(false);
      put(next.path, "big/1/left.txt", "left");
      put(next.path, "big/2/2.txt", "changed");
      await release(world, issue);
    }
    const parked = await open(world, "one");
    expect(parked).toMatchObject({ from: "parked" });
    expect(read(parked.path, "big/1/new.txt")).toBe("not landed");
  });

  test("D4 a change in the very second in which the folder was filled does not stay, though git takes it for none", async () => {
    const world = await makeLarge();
    for (let attempt = 0; attempt < 20; attempt++) {
      const { path } = await open(world, `early-${attempt}`);
      const youngest = sh(path, "find big -type f -printf '%C@ %p\\n' | sort -n | tail -1").split(" ")[1] ?? "";
      const [before, inode] = [statSync(join(path, youngest)), inodeOf(path)];
      sh(path, `chmod 600 ${youngest}`);
      const after = statSync(join(path, youngest));
      await release(world, `early-${attempt}`);
      if (Math.floor(before.ctimeMs / 1000) === Math.floor(after.ctimeMs / 1000)) {
        const next = await open(world, "next");
        expect(inodeOf(next.path)).toBe(inode);
        return expect(statSync(join(next.path, youngest)).mode).toBe(before.mode);
      }
      await emptyPool(world.mirror);
    }
    expect.unreachable("twenty times the second was over before the file was changed");
  }, 120_000);

  test("D4 a folder that a program still stands in is not given to anybody else", async () => {
    const world = await makeLarge();
    const { path } = await open(world, "one");
    const inode = inodeOf(path);
    const standing = spawn("sleep", ["600"], { cwd: join(path, "big/3"), stdio: "ignore" });
    await once(standing, "spawn");
    try {
      await release(world, "one");
      const next = await open(world, "two");
      expect(inodeOf(next.path)).not.toBe(inode);
      expect(sh(next.path, "git status --porcelain --ignored")).toBe("");
    } finally {
      standing.kill("SIGKILL");
    }
  });

  const filtered = "*.txt filter=upper\n";
  test.each([
    [
      "with a submodule",
      (repo: string) => sh(repo, `mkdir sub && git update-index --add --cacheinfo 160000,${"1".repeat(40)},sub`),
    ],
    ["with filters", (repo: string) => put(repo, ".gitattributes", filtered)],
    ["with filters of the user's own", (repo: string) => put(repo, ".git/info/attributes", filtered)],
  ])("a repository %s gets fresh folders", async (_, prepare) => {
    const world = await makeLarge(prepare);
    const { path } = await open(world, "one");
    const inode = inodeOf(path);
    await release(world, "one");
    const next = await open(world, "two");
    expect([inodeOf(next.path) === inode, await listPool(world.mirror)]).toEqual([false, []]);
    expect(sh(next.path, "git status --porcelain --ignored")).toBe("");
  });

  test("files are written anew when line ends are to be others, by a commit or by a setting", async () => {
    const world = await makeLarge();
    const { path } = await open(world, "one");
    const landed = commit(path, ".gitattributes", "*.txt eol=crlf\n");
    await release(world, "one", landed);
    const two = await open(world, "two", { base: landed });
    expect(read(two.path, "big/3/3.txt")).toBe("file 3\r\n");
    await release(world, "two");
    sh(world.repo, "git config core.autocrlf true");
    await openMirror({ repoPath: world.repo, mirrorPath: world.mirror.path });
    const three = await open(world, "three");
    expect(read(three.path, "big/3/3.txt")).toBe("file 3\r\n");
  });
});

describe("the pool", () => {
  test("several that open at once never get the same folder", async () => {
    const world = await makeLarge();
    for (const issue of ["a", "b"]) await open(world, issue);
    for (const issue of ["a", "b"]) await release(world, issue);
    const opened = await Promise.all(["c", "d", "e", "f"].map((issue) => open(world, issue)));
    expect(new Set(opened.map(({ path }) => inodeOf(path))).size).toBe(4);
    for (const { path } of opened) expect(sh(path, "git status --porcelain --ignored")).toBe("");
  });

  test("is bounded, is no worktree, and can be emptied; small repositories have none", async () => {
    const world = await makeLarge();
    const issues = Array.from({ length: 9 }, (_, index) => `issue-${index}`);
    await Promise.all(issues.map((issue) => open(world, issue)));
    for (const issue of issues) await release(world, issue);
    expect([(await listPool(world.mirror)).length, await listWorktrees(world.mirror)]).toEqual([8, []]);
    await emptyPool(world.mirror);
    expect(readdirSync(join(world.mirror.path, "pool"))).toEqual([]);
    const small = await makeWorld();
    await open(small, "one");
    await release(small, "one");
    expect(await listPool(small.mirror)).toEqual([]);
  });

  test("what a crash left half given is swept, and what it left half taken is removed with the checkout", async () => {
    const world = await makeLarge();
    await open(world, "one");
    await release(world, "one");
    const dead = spawn("true");
    await once(dead, "exit");
    mkdirSync(join(world.mirror.path, "pool", `.new-${dead.pid}-0a`));
    await open(world, "two");
    const [gitDir = ""] = readdirSync(join(world.mirror.path, "checkouts")).filter((name) => name.startsWith("two"));
    const own = join(world.mirror.path, "checkouts", gitDir);
    // As it is between the rename of an entry and the mark that all is done.
    sh(own, "rm ratchet/ready && touch ratchet/filling && mkdir -p pooled-1/files && rm ../../../worktrees/two/a.txt");
    put(world.home, "worktrees/two/big/3/left.txt", "half");
    const again = await open(world, "two");
    expect(sh(again.path, "git status --porcelain --ignored")).toBe("");
    expect(lstatSync(own).isDirectory() && existsSync(join(own, "pooled-1"))).toBe(false);
    await openMirror({ repoPath: world.repo, mirrorPath: world.mirror.path });
    expect(readdirSync(join(world.mirror.path, "pool"))).toEqual([]);
  });
});
