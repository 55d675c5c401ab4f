import { execFile } from "node:child_process";
import { chmodSync, existsSync, lstatSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { findCheckout, markSetUp } from "../../src/git/checkout/checkout.js";
import { startGitBySmallShells } from "../../src/git/git.js";
import { openMirror } from "../../src/git/mirror/mirror.js";
import { restoreParked } from "../../src/git/parking/park.js";
import {
  commitAll,
  discardChanges,
  listWorktrees,
  openWorktree,
  putAt,
  removeWorktree,
  snapshot,
} from "../../src/git/worktree/worktree.js";
import { rounds } from "../rounds.js";
import { commit, identity, makeWorld, open, put, read, sh } from "./git-fixture.js";

const docsPatterns = ["**/*.md", "docs/**"];

describe("a worktree", () => {
  test("starts at the base, on its own branch, with the files of the commit", async () => {
    const world = await makeWorld();
    const opened = await open(world, "one");
    expect(opened).toMatchObject({
      branch: "ratchet/one",
      baseSha: world.base,
      head: world.base,
      fresh: true,
      from: "new",
    });
    expect(opened.tree).toBe(sh(world.repo, "git rev-parse HEAD^{tree}"));
    expect(sh(opened.path, "git rev-parse --abbrev-ref HEAD")).toBe("ratchet/one");
    expect(sh(opened.path, "git status --porcelain")).toBe("");
    expect(read(opened.path, "a.txt")).toBe("a\n");
    expect(sh(opened.path, "git log --format=%s main")).toBe("first");
  });

  test("is taken up as it is while it is there, with the base it was made with", async () => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    const head = commit(path, "b.txt", "b");
    put(path, "c.txt", "not committed");
    await snapshot(path, { base: world.base, docsPatterns });
    expect(await open(world, "one", { base: head })).toMatchObject({ fresh: true, from: "worktree" });
    markSetUp(await findCheckout(path));
    const again = await open(world, "one", { base: head });
    expect(again).toMatchObject({ head, baseSha: world.base, fresh: false, from: "worktree" });
    expect(read(path, "c.txt")).toBe("not committed");
  });

  test("comes back from its branch when its folder is gone, and from the mirror when the git folder is gone too", async () => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    const head = commit(path, "b.txt", "b");
    sh(world.home, `rm -rf ${path}`);
    expect(await open(world, "one")).toMatchObject({ head, baseSha: world.base, fresh: true, from: "branch" });
    expect(read(path, "b.txt")).toBe("b");
    await snapshot(path, { base: world.base, docsPatterns });
    sh(world.home, `rm -rf ${path} mirror.git/checkouts/*`);
    expect(await open(world, "one")).toMatchObject({ head, baseSha: world.base, from: "branch" });
    expect(read(path, "b.txt")).toBe("b");
  });

  test("comes back from the parked ref after it was removed, uncommitted work included", async () => {
    const world = await makeWorld();
    const { path, branch } = await open(world, "one");
    const head = commit(path, "b.txt", "b");
    put(path, "c.txt", "loose");
    await removeWorktree(world.mirror, { path, branch, issue: "one", landed: null });
    expect(existsSync(path)).toBe(false);
    expect(await open(world, "one")).toMatchObject({ head, baseSha: world.base, from: "parked", fresh: true });
    expect(read(path, "c.txt")).toBe("loose");
    await discardChanges(path);
    await removeWorktree(world.mirror, { path, branch, issue: "one", landed: head });
    expect(await open(world, "one")).toMatchObject({ head: world.base, from: "new" });
  });

  test.each([
    ["folder is", "true"],
    ["folder and its git folder are", "rm -rf mirror.git/checkouts/*"],
  ])("is parked with what it had committed, as it was begun, where its %s gone", async (_, also) => {
    const world = await makeWorld();
    const { path, branch } = await open(world, "one");
    commit(path, "b.txt", "b");
    await snapshot(path, { base: world.base, docsPatterns });
    const gone = also === "true" ? commit(path, "c.txt", "c") : sh(path, "git rev-parse HEAD");
    sh(world.home, `rm -rf ${path}; ${also}`);
    const { parked } = await removeWorktree(world.mirror, { path, branch, issue: "one", target: "main" });
    expect(parked?.ref).toBe("refs/ratchet/parked/one/1");
    expect(sh(world.mirror.path, "git for-each-ref refs/heads; ls checkouts")).toBe("");
    await restoreParked(world.mirror, { issue: "one", path });
    expect(await open(world, "one")).toMatchObject({ head: gone, baseSha: world.base });
    expect(sh(path, "git status --porcelain")).toBe("");
  });

  test("has the base it was begun from, also when its branch comes back and the target has it by now", async () => {
    const world = await makeWorld();
    const { path, branch } = await open(world, "one");
    const head = commit(path, "work.txt", "work");
    await removeWorktree(world.mirror, { path, branch, issue: "one", target: "main" });
    sh(world.mirror.path, `git update-ref refs/heads/${branch} ${head}`);
    expect(await open(world, "one", { base: head })).toMatchObject({ baseSha: world.base, head, from: "branch" });
  });

  test("leaves nothing parked once it has landed, also when the user's branches have gone on; what is parked shows its files", async () => {
    const world = await makeWorld();
    const { path, branch } = await open(world, "one");
    const head = commit(path, "b.txt", "b");
    commit(world.repo, "theirs.txt", "t");
    const mirror = await openMirror({ repoPath: world.repo, mirrorPath: world.mirror.path });
    const { parked } = await removeWorktree(mirror, { path, branch, issue: "one" });
    expect(sh(mirror.path, `git rev-parse ${parked?.ref}^{tree}`)).toBe(
      sh(mirror.path, `git rev-parse ${head}^{tree}`),
    );
    await open({ ...world, mirror }, "one");
    expect(await removeWorktree(mirror, { path, branch, issue: "one", landed: head })).toEqual({ parked: null });
  });

  test.each([
    ["nothing", "true", false],
    ["an ignored file", "mkdir build && echo x >build/x", false],
    ["settings of its own", "git config core.hooksPath elsewhere", false],
    ["another branch at landed work", "git checkout -q -b other", false],
    ["branches at landed commits, HEAD at none", "git branch older HEAD~1 && git checkout -q --detach", false],
    ["a tag", "git tag -a -m words here", true],
    ["a changed file", "echo more >>b.txt", true],
    [
      "a file that a setting hides",
      "echo loose >loose && git config core.excludesFile $PWD/.git-x && echo loose >.git-x",
      true,
    ],
    [
      "a branch with a commit",
      "git checkout -q -b other && git commit -q --allow-empty -m x && git checkout -q -",
      true,
    ],
    ["a stash", "echo more >>b.txt && git stash -q", true],
    [
      "a merge that was begun",
      "git checkout -q -b x HEAD~1 && git commit -q --allow-empty -m x && git checkout -q - && git merge -q --no-ff --no-commit x",
      true,
    ],
    ["a repository in place of the link", "rm .git && git init -q .", true],
    ["no files at all", 'rm -rf "$PWD"', false],
    ["its branch put back to where it began", "git checkout -q --detach && git branch -f ratchet/one HEAD~1", false],
  ] as const)("landed, it is removed with %s in it, and what is nowhere else is parked", async (_, left, isParked) => {
    const world = await makeWorld();
    const { path, branch } = await open(world, "one");
    const landed = commit(path, "b.txt", "b");
    await snapshot(path, { base: world.base, docsPatterns: [] });
    sh(path, left);
    const { parked } = await removeWorktree(world.mirror, { path, branch, issue: "one", landed });
    expect(parked !== null).toBe(isParked);
    expect(existsSync(path)).toBe(false);
    expect(sh(world.mirror.path, "git for-each-ref refs/heads refs/ratchet/base; ls checkouts")).toBe("");
  });

  test("what is on its branch alone is parked, when work that was made beside it has landed", async () => {
    const world = await makeWorld();
    const { path, branch } = await open(world, "one");
    const beside = commit(path, "b.txt", "precious");
    sh(path, "git checkout -q --detach HEAD~1");
    const landed = commit(path, "c.txt", "c");
    await snapshot(path, { base: world.base, docsPatterns: [] });
    const { parked } = await removeWorktree(world.mirror, { path, branch, issue: "one", landed });
    expect(parked?.ref).toBe("refs/ratchet/parked/one/1");
    await restoreParked(world.mirror, { issue: "one", path });
    expect(sh(path, "git rev-parse ratchet/one HEAD")).toBe(`${beside}\n${landed}`);
  });

  test("a repository that was committed as a link is parked with its commits, also when the branch has landed", async () => {
    const world = await makeWorld();
    const { path, branch } = await open(world, "one");
    sh(path, "git init -q lib && git -C lib config user.name Ada && git -C lib config user.email ada@example.org");
    const inner = commit(join(path, "lib"), "inner.txt", "only here");
    sh(path, "git add lib 2>/dev/null && git commit -qm link");
    const landed = sh(path, "git rev-parse HEAD");
    const { parked } = await removeWorktree(world.mirror, { path, branch, issue: "one", landed });
    expect(parked?.ref).toBe("refs/ratchet/parked/one/1");
    await restoreParked(world.mirror, { issue: "one", path });
    expect(sh(join(path, "lib"), "git rev-parse HEAD && git status --porcelain && cat inner.txt")).toBe(
      `${inner}\nonly here`,
    );
  });

  test.each([
    ["by itself", () => undefined],
    // From here on all of this file is.
    ["by a small shell", () => startGitBySmallShells(tmpdir())],
  ])("%s, it is made at any path that a file system takes, and is found there again", async (_, prepare) => {
    prepare();
    const world = await makeWorld();
    for (const name of ["plain", `it's "odd" \\ $HOME %s\n* é`]) {
      const path = join(world.home, name, "one");
      const options = { path, branch: "ratchet/one", base: world.base, copy: [], repoPath: world.repo };
      expect(await openWorktree(world.mirror, options)).toMatchObject({ from: "new", head: world.base });
      expect(sh(path, "git status --porcelain && git symbolic-ref HEAD")).toBe("refs/heads/ratchet/one");
      expect(await findCheckout(path)).toMatchObject({ path, branch: "ratchet/one", baseSha: world.base });
      expect(lstatSync(path).mode & 0o777).toBe(0o700);
      await removeWorktree(world.mirror, { path, branch: "ratchet/one", issue: "one", landed: world.base });
      expect(existsSync(path)).toBe(false);
    }
  });

  test("what all begin with is made where it is missing, and anew when the user's settings are others", async () => {
    const world = await makeWorld();
    const skeletons = () => sh(world.mirror.path, "ls ratchet/skeletons");
    await open(world, "one");
    const before = skeletons();
    sh(world.mirror.path, "rm -r ratchet/skeletons");
    await open(world, "two");
    expect(skeletons()).toBe(before);
    sh(world.repo, "git config filter.x.clean cat && git tag new");
    await openMirror({ repoPath: world.repo, mirrorPath: world.mirror.path });
    const { path } = await open(world, "three");
    expect(sh(path, "git config filter.x.clean && git tag")).toBe("cat\nnew");
    expect(skeletons()).not.toBe(before);
    expect(skeletons()).toMatch(/^[0-9a-f]{16}$/);
  });

  test.each([
    ["its git folder alone", "mkdir G", []],
    ["its git folder, and files of somebody else's", "mkdir -p G P && echo theirs >P/mine", ["mine"]],
    [
      "its git folder, which says that the files are ours",
      "mkdir -p G/ratchet P && echo {} >G/ratchet/checkout.json && echo x >P/x",
      [],
    ],
  ] as const)("half made as %s, it is made again", async (_, left, kept) => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    const gitDir = sh(path, "git rev-parse --absolute-git-dir");
    sh(world.home, `rm -r G P; ${left}`.replaceAll(/\bG\b/g, gitDir).replaceAll(/\bP\b/g, path));
    const { aside = [], ...opened } = await open(world, "one");
    expect(aside.flatMap((folder) => sh(folder, "ls").split("\n"))).toEqual(kept);
    expect(opened).toMatchObject({ fresh: true });
    expect(sh(path, "git status --porcelain && cat a.txt")).toBe("a");
  });

  test("what was half made when the process died is made again", async () => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    sh(world.home, `rm ${path}/a.txt mirror.git/checkouts/one-*/ratchet/ready`);
    expect(await open(world, "one")).toMatchObject({ fresh: true, head: world.base });
    expect(read(path, "a.txt")).toBe("a\n");
    expect(sh(path, "git status --porcelain")).toBe("");
  });

  test("foreign files in its place are moved aside, not overwritten", async () => {
    const world = await makeWorld();
    put(join(world.home, "worktrees/one"), "a.txt", "somebody's");
    const { path } = await open(world, "one");
    expect(read(path, "a.txt")).toBe("a\n");
    expect(sh(world.home, "cat worktrees/one.aside-*/a.txt")).toBe("somebody's");
  });

  test("8 at once, round after round, from 2 processes: no failure", async () => {
    const world = await makeWorld();
    const count = rounds(8, 25);
    const child = (name: string) =>
      promisify(execFile)(
        process.execPath,
        ["dist-test/git-worktrees.mjs", world.repo, world.home, name, String(count), "8"],
        {
          env: { ...process.env, BASE: world.base },
        },
      );
    const done = await Promise.all([child("left"), child("right")]);
    expect(done.map(({ stdout }) => stdout.trim())).toEqual([String(count * 8), String(count * 8)]);
    expect(await listWorktrees(world.mirror)).toEqual([]);
  }, 300_000);

  test("the list names path, branch and head, also of one whose files are gone", async () => {
    const world = await makeWorld();
    const one = await open(world, "one");
    await open(world, "two");
    sh(world.home, "rm -rf worktrees/two");
    const listed = await listWorktrees(world.mirror);
    expect(listed.map(({ branch, present }) => [branch, present]).sort()).toEqual([
      ["ratchet/one", true],
      ["ratchet/two", false],
    ]);
    expect(listed.find(({ branch }) => branch === "ratchet/one")).toMatchObject({
      path: one.path,
      head: world.base,
      baseSha: world.base,
    });
  });
});

describe("what a command left behind", () => {
  test("tracked and unignored changes are discarded and named, ignored files stay", async () => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    put(path, "a.txt", "changed");
    sh(path, "rm src/code.ts && mkdir nested && cd nested && git init -q");
    put(path, "coverage/x", "new");
    put(path, "build/out", "kept");
    expect([...(await discardChanges(path))].sort()).toEqual(["a.txt", "coverage/x", "nested", "src/code.ts"]);
    expect(read(path, "a.txt")).toBe("a\n");
    expect(existsSync(join(path, "nested"))).toBe(false);
    expect(existsSync(join(path, "coverage"))).toBe(false);
    expect(read(path, "build/out")).toBe("kept");
    expect(await discardChanges(path)).toEqual([]);
  });

  test("commits on top of the judged one are parked before the tree goes back to it", async () => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    const judged = commit(path, "b.txt", "b");
    const stray = commit(path, "c.txt", "c");
    expect(await putAt(path, judged)).toEqual([`HEAD (${stray})`, "c.txt"]);
    expect(sh(path, "git rev-parse HEAD")).toBe(judged);
    expect(sh(path, "git rev-parse --abbrev-ref HEAD")).toBe("ratchet/one");
    expect(sh(path, "git status --porcelain")).toBe("");
    expect(sh(world.mirror.path, "git rev-parse refs/ratchet/parked/one/1^1")).toBe(stray);
    expect(await putAt(path, judged)).toEqual([]);
  });

  test("a folder that is gone as a whole is there again, at the commit and on its branch", async () => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    const judged = commit(path, "b.txt", "b");
    rmSync(path, { recursive: true });
    expect(await putAt(path, judged)).toContain("b.txt");
    expect([read(path, "b.txt"), sh(path, "git status --porcelain --branch")]).toEqual(["b", "## ratchet/one"]);
  });
});

test("a worktree whose folder its agent has locked is opened again, for a look as for the next turn", async () => {
  const world = await makeWorld();
  const { path } = await open(world, "one");
  const head = commit(path, "b.txt", "b");
  const mode = () => (lstatSync(path).mode & 0o777).toString(8);
  for (const [locked, expected] of [
    [0o000, "700"],
    [0o555, "755"],
  ] as const) {
    chmodSync(path, locked);
    expect(await snapshot(path, { base: world.base, docsPatterns: [] })).toMatchObject({ head, dirtyCount: 0 });
    expect(mode()).toBe(expected);
    chmodSync(path, locked);
    expect(await open(world, "one")).toMatchObject({ head, from: "worktree" });
    expect(mode()).toBe(expected);
  }
});

describe("a worktree in whose place its agent put a link to somebody else's folder", () => {
  const replaced = async () => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    const head = commit(path, "b.txt", "b");
    const theirs = join(world.home, "theirs");
    sh(world.home, "mkdir theirs && echo kept > theirs/file");
    rmSync(path, { recursive: true });
    symlinkSync(theirs, path);
    const untouched = () => expect(sh(theirs, "ls -A && cat file")).toBe("file\nkept");
    return { world, path, head, untouched };
  };

  test("counts as removed: there is nothing to be judged, and nothing of theirs is looked at", async () => {
    const { world, path, untouched } = await replaced();
    await expect(snapshot(path, { base: world.base, docsPatterns: [] })).rejects.toThrow(`${path} is not there`);
    untouched();
  });

  test("is a folder again when it is put back or opened", async () => {
    const { path, head, untouched } = await replaced();
    expect(await putAt(path, head)).toContain("b.txt");
    expect([lstatSync(path).isDirectory(), read(path, "b.txt")]).toEqual([true, "b"]);
    untouched();
    const other = await replaced();
    await open(other.world, "one");
    expect([lstatSync(other.path).isDirectory(), read(other.path, "b.txt")]).toEqual([true, "b"]);
    other.untouched();
  });

  test("is removed, and only the link goes", async () => {
    const { world, path, untouched } = await replaced();
    await removeWorktree(world.mirror, { path, branch: "ratchet/one", issue: "one" });
    expect(existsSync(path)).toBe(false);
    untouched();
  });
});

test("uncommitted work is committed on the branch, deletions, links and modes included", async () => {
  const world = await makeWorld();
  const { path } = await open(world, "one");
  expect(await commitAll(path, "Fix session_end (1)", identity)).toEqual({ commit: null });
  sh(path, "rm a.txt && printf x > run.sh && chmod +x run.sh && ln -s run.sh link");
  const { commit: made } = await commitAll(path, "Fix session_end (1)", identity);
  expect(sh(path, "git rev-parse HEAD ratchet/one")).toBe(`${made}\n${made}`);
  expect(sh(path, "git status --porcelain")).toBe("");
  expect(sh(path, "git show --format='%s %an <%ae>' --name-status HEAD")).toBe(
    "Fix session_end (1) Ada <ada@example.org>\n\nD\ta.txt\nA\tlink\nA\trun.sh",
  );
  expect(lstatSync(join(path, "link")).isSymbolicLink()).toBe(true);
  expect(sh(world.mirror.path, "git rev-parse ratchet/one")).toBe(made);
});

test("issues whose ids differ in case only have worktrees of their own", async () => {
  const world = await makeWorld();
  const [upper, lower] = await Promise.all([open(world, "ABC"), open(world, "abc")]);
  commit(upper.path, "upper.txt", "u");
  expect(existsSync(join(lower.path, "upper.txt"))).toBe(false);
  expect(
    await openWorktree(world.mirror, { ...lower, base: world.base, copy: [], repoPath: world.repo }),
  ).toMatchObject({ head: world.base });
});
