import { describe, expect, test } from "vitest";
import { snapshot } from "../../src/git/worktree/worktree.js";
import { rounds } from "../rounds.js";
import { commit, makeWorld, open, put, sh } from "./git-fixture.js";

const docsPatterns = ["**/*.md", "docs/**", "**/LICENSE*"];

describe("a snapshot", () => {
  test("of an untouched worktree is clean and without commits", async () => {
    const world = await makeWorld();
    const { path, tree } = await open(world, "one");
    expect(await snapshot(path, { base: world.base, docsPatterns })).toEqual({
      head: world.base,
      tree,
      filesTree: tree,
      dirty: [],
      dirtyCount: 0,
      commits: 0,
      docsOnly: false,
      containsBase: true,
      namedCommitInTarget: null,
    });
  });

  test("counts commits, sees uncommitted files, and its files tree is what committing them gives", async () => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    commit(path, "b.txt", "1");
    const head = commit(path, "b.txt", "2");
    put(path, "c.txt", "new");
    sh(path, "git rm -q a.txt");
    const seen = await snapshot(path, { base: world.base, docsPatterns });
    expect(seen).toMatchObject({ head, commits: 2, dirtyCount: 2, containsBase: true, docsOnly: false });
    expect([...seen.dirty].sort()).toEqual(["a.txt", "c.txt"]);
    commit(path, "c.txt", "new");
    const later = await snapshot(path, { base: world.base, docsPatterns });
    expect(later).toMatchObject({ tree: seen.filesTree, filesTree: seen.filesTree, dirtyCount: 0 });
  });

  test("leaves the agent's index and files alone", async () => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    put(path, "a.txt", "staged");
    sh(path, "git add a.txt");
    put(path, "a.txt", "later");
    const before = sh(path, "git status --porcelain && git show :a.txt && cat a.txt");
    await snapshot(path, { base: world.base, docsPatterns });
    expect(sh(path, "git status --porcelain && git show :a.txt && cat a.txt")).toBe(before);
  });

  test("shows at most 50 paths and the true number", async () => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    for (let index = 0; index < 60; index++) put(path, `new/${index}.txt`, "x");
    const { dirty, dirtyCount } = await snapshot(path, { base: world.base, docsPatterns });
    expect([dirty.length, dirtyCount]).toEqual([50, 60]);
  });

  test("a committed file that an ignore rule matches is not dirty", async () => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    put(path, "build/kept.txt", "x");
    sh(path, "git add -f build/kept.txt && git commit -qm forced");
    expect(await snapshot(path, { base: world.base, docsPatterns })).toMatchObject({ dirtyCount: 0, commits: 1 });
  });

  test("a repository committed as a link is not committed work; one that the base has, or a submodule, is fine", async () => {
    const nested = (name: string) =>
      `git init -q "${name}" && git -C "${name}" -c user.name=A -c user.email=a@b commit -q --allow-empty -m inner && git add "${name}" 2>/dev/null`;
    const world = await makeWorld((repo) => sh(repo, `${nested("old")} && git commit -qm old`));
    const { path } = await open(world, "one");
    const look = async () => (await snapshot(path, { base: world.base, docsPatterns })).dirty;
    sh(path, `${nested("lib é")} && git commit -qm link`);
    expect(await look()).toEqual(["lib é (a repository of its own, committed only as a link)"]);
    put(path, ".gitmodules", '[submodule "x"]\n\tpath = lib é\n\turl = https://example.org/x\n');
    sh(path, "git add .gitmodules && git commit -qm listed");
    expect(await look()).toEqual([]);
    sh(path, `git rm -q .gitmodules && ${nested("deep/er")} && git commit -qm again`);
    put(path, "lib é/new.txt", "x");
    expect([...(await look())].sort()).toEqual([
      "deep/er (a repository of its own, committed only as a link)",
      "lib é (a repository of its own, committed only as a link)",
    ]);
  });

  test("a link that came with the target is not the agent's", async () => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    const link = `git update-index --add --cacheinfo 160000,${world.base},theirs && git commit -qm link && git rev-parse HEAD`;
    const tip = sh(world.repo, link);
    sh(path, `git fetch -q ${world.repo} main && git merge -q --ff-only ${tip}`);
    commit(path, "b.txt", "b");
    expect((await snapshot(path, { base: world.base, required: tip, docsPatterns })).dirty).toEqual([]);
  });

  test.each([
    ["docs alone", ["docs/x.bin", "README.md", "sub/LICENSE.txt"], true],
    ["docs and code", ["docs/x.bin", "src/code.ts"], false],
    ["code alone", ["src/code.ts"], false],
  ])("%s", async (_name, paths, expected) => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    for (const name of paths) commit(path, name, "changed");
    expect((await snapshot(path, { base: world.base, docsPatterns })).docsOnly).toBe(expected);
  });

  test("code that was changed and changed back leaves docs only, and nothing leaves nothing", async () => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    commit(path, "a.txt", "changed");
    commit(path, "a.txt", "a\n");
    expect((await snapshot(path, { base: world.base, docsPatterns })).docsOnly).toBe(false);
    commit(path, "docs/new.md", "x");
    expect((await snapshot(path, { base: world.base, docsPatterns })).docsOnly).toBe(true);
  });

  test("says whether HEAD contains what it has to", async () => {
    const world = await makeWorld();
    const theirs = commit(world.repo, "mine.txt", "m");
    const { path } = await open(world, "one");
    sh(path, `git fetch -q ${world.repo} main`);
    commit(path, "b.txt", "b");
    const options = { base: world.base, required: theirs, docsPatterns };
    expect((await snapshot(path, options)).containsBase).toBe(false);
    sh(path, `git merge -q -m merged ${theirs}`);
    expect((await snapshot(path, options)).containsBase).toBe(true);
    sh(path, "git checkout -q --orphan other && git rm -rqf . && git commit -q --allow-empty -m other");
    expect(await snapshot(path, { base: world.base, docsPatterns })).toMatchObject({ containsBase: false, commits: 1 });
  });

  test.each([
    ["a commit of the target", (base: string) => [base.slice(0, 10)], true],
    ["one of several", (base: string) => ["20240115", "deadbeef00", base], true],
    ["an unknown commit", () => ["deadbeef00"], false],
    ["no commit id", () => ["HEAD"], false],
    ["none", () => [], null],
  ])("a named commit: %s", async (_name, named, expected) => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    const options = { base: world.base, docsPatterns, target: "main", namedCommits: named(world.base) };
    expect((await snapshot(path, options)).namedCommitInTarget).toBe(expected);
  });

  test("thousands of files: a worktree and its snapshots take seconds, not minutes", async () => {
    const world = await makeWorld((repo) => {
      sh(
        repo,
        `for d in $(seq ${rounds(30, 200)}); do mkdir -p big/$d; for f in $(seq 100); do echo $d.$f > big/$d/$f; done; done; git add -A && git commit -qm big`,
      );
    });
    const { path } = await open(world, "one");
    await snapshot(path, { base: world.base, docsPatterns });
    commit(path, "big/7/7", "changed");
    const started = performance.now();
    const seen = await snapshot(path, { base: world.base, docsPatterns });
    expect(seen).toMatchObject({ commits: 1, dirtyCount: 0 });
    const ours = performance.now() - started;
    const plain = performance.now();
    sh(path, "git status --porcelain");
    expect(ours).toBeLessThan(Math.max(2000, 8 * (performance.now() - plain)));
  });
});
