import { describe, expect, test } from "vitest";
import { listParked, restoreParked } from "../../src/git/parking/park.js";
import { commitAll, removeWorktree, snapshot } from "../../src/git/worktree/worktree.js";
import { commit, identity, makeWorld, open, put, sh } from "./git-fixture.js";

const edit = (n: number) => `GIT_SEQUENCE_EDITOR='sed -i 1s/^pick/edit/' git rebase -q -i HEAD~${n}`;

test.each([
  ["a bisect", "git bisect start && git bisect bad HEAD && git bisect good HEAD~1"],
  ["a bisect that has gone back", "git bisect start && git bisect bad HEAD && git bisect good HEAD~4"],
  ["a rebase at its last commit", edit(1)],
  ["a rebase that has gone back", edit(2)],
])("%s that was begun on a clean worktree is parked and let go, and nothing is committed", async (_, begin) => {
  const world = await makeWorld();
  const { path } = await open(world, "one");
  for (const name of ["one", "two", "three", "four"]) commit(path, `${name}.txt`, name);
  const head = sh(path, "git rev-parse HEAD");
  sh(path, begin);
  expect(await commitAll(path, "Fix session_end (1)", identity)).toEqual({ commit: null });
  expect(sh(path, "git rev-parse HEAD ratchet/one && git symbolic-ref HEAD")).toBe(
    `${head}\n${head}\nrefs/heads/ratchet/one`,
  );
  expect(sh(path, "git status --porcelain=v2 && ls")).toBe("a.txt\ndocs\nfour.txt\none.txt\nsrc\nthree.txt\ntwo.txt");
  expect(await snapshot(path, { base: world.base, docsPatterns: [] })).toMatchObject({ head, dirty: [] });
  expect((await listParked(world.mirror)).map(({ name, n }) => [name, n])).toEqual([["one", 1]]);
  const removal = { path, branch: "ratchet/one", issue: "one", landed: head };
  expect(await removeWorktree(world.mirror, removal)).toEqual({ parked: null });
});

test("a merge that changes nothing becomes a merge commit with the tree of the files", async () => {
  const world = await makeWorld();
  const { path } = await open(world, "one");
  commit(path, "b.txt", "b");
  sh(path, "git checkout -q -b side HEAD~1");
  commit(path, "side.txt", "s");
  sh(path, "git checkout -q ratchet/one && git merge -q --no-commit -s ours side");
  const { commit: made } = await commitAll(path, "Fix session_end (1)", identity);
  expect(
    sh(path, `git rev-list --parents -1 ${made} | wc -w && git diff --stat HEAD^ HEAD && git status --short`),
  ).toBe("3");
});

test("what is uncommitted in the middle of a bisect is committed with all that was committed before", async () => {
  const world = await makeWorld();
  const { path } = await open(world, "one");
  commit(path, "b.txt", "b");
  sh(path, "git bisect start && git bisect bad HEAD && git bisect good HEAD~1");
  put(path, "c.txt", "c");
  const { commit: made } = await commitAll(path, "Fix session_end (1)", identity);
  expect(sh(path, `git rev-parse HEAD && git show --format= --name-status HEAD`)).toBe(`${made}\nA\tc.txt`);
});

test("what is uncommitted in the middle of a rebase that has gone back stays parked, and the branch keeps what it has", async () => {
  const world = await makeWorld();
  const { path } = await open(world, "one");
  for (const name of ["one", "two", "three"]) commit(path, `${name}.txt`, name);
  const head = sh(path, "git rev-parse HEAD");
  sh(path, edit(2));
  put(path, "one.txt", "edited here");
  expect(await commitAll(path, "Fix session_end (1)", identity)).toEqual({
    commit: null,
    parked: "refs/ratchet/parked/one/1",
  });
  expect(sh(path, "git rev-parse HEAD && git status --porcelain && cat one.txt three.txt")).toBe(`${head}\nonethree`);
  expect(sh(world.mirror.path, "git show refs/ratchet/parked/one/1:one.txt")).toBe("edited here");
});

test("a rebase that has come to commits of its own leaves the branch where it was, and those are parked and told", async () => {
  const world = await makeWorld();
  const { path } = await open(world, "one");
  for (const name of ["one", "two"]) commit(path, `${name}.txt`, name);
  const head = sh(path, "git rev-parse HEAD");
  sh(
    path,
    `${edit(2)} && echo amended > one.txt && echo new > new.txt && git add -A && git commit -q --amend -m amended`,
  );
  expect(await commitAll(path, "Fix session_end (1)", identity)).toEqual({
    commit: null,
    parked: "refs/ratchet/parked/one/1",
  });
  expect(sh(path, "git rev-parse HEAD && git status --porcelain && cat one.txt two.txt")).toBe(`${head}\nonetwo`);
  expect(sh(world.mirror.path, "git show refs/ratchet/parked/one/1:one.txt")).toBe("amended");
});

test("a rebase that has all of its branch and more goes on from there", async () => {
  const world = await makeWorld();
  const { path } = await open(world, "one");
  commit(path, "one.txt", "one");
  sh(path, `${edit(1)} && echo two > two.txt && git add two.txt && git commit -qm two`);
  const head = sh(path, "git rev-parse HEAD");
  expect(await commitAll(path, "Fix session_end (1)", identity)).toEqual({ commit: null });
  expect(sh(path, "git rev-parse HEAD ratchet/one")).toBe(`${head}\n${head}`);
});

describe("conflicts", () => {
  const begin = (how: string) =>
    `git checkout -q -b side HEAD~1 && echo side > one.txt && echo new > of-side.txt && git add -A && git commit -qm side &&
     git checkout -q ratchet/one && ! git ${how} 2>/dev/null >&2`;

  test.each(["merge side", "cherry-pick side", "-c core.editor=true revert HEAD~1"])(
    "that %j has left in files are committed by nobody: they stay parked, and the branch has what it had",
    async (how) => {
      const world = await makeWorld();
      const { path } = await open(world, "one");
      for (const text of ["one", "two", "three"]) commit(path, "one.txt", text);
      const head = sh(path, "git rev-parse HEAD");
      sh(path, begin(how));
      expect(sh(path, "cat one.txt")).toContain("<<<<<<<");
      const { commit: made, parked = "" } = await commitAll(path, "Fix session_end (1)", identity);
      expect(made).toBeNull();
      expect(sh(path, "git rev-parse HEAD && git status --porcelain && cat one.txt")).toBe(`${head}\nthree`);
      expect(sh(world.mirror.path, `git show ${parked}:one.txt`)).toContain("<<<<<<<");
    },
  );

  const sides = (before: string, theirs: string, ours: string) =>
    `${before} && git add -A && git commit -qm before && git branch side && ${ours} && git add -A && git commit -qm ours &&
     git checkout -q side && ${theirs} && git add -A && git commit -qm theirs && git checkout -q ratchet/one`;
  const lines = "printf 'a\\nb\\n' > x";

  test.each([
    ["a binary file", sides("printf '\\0a' > x", "printf '\\0b' > x", "printf '\\0c' > x")],
    ["a link", sides("ln -s a x", "ln -sf b x", "ln -sf c x")],
    ["a file that one side has deleted", sides(lines, "git rm -q x", "echo c > x")],
    ["a file that the other has deleted", sides(lines, "echo c > x", "git rm -q x")],
    ["two names for one file", sides(lines, "git mv x y", "git mv x z")],
    ["a file where the other has a folder", sides("echo s > s", "echo c > x", "mkdir x && echo t > x/t")],
    [
      "marks of another length",
      sides("echo 'x conflict-marker-size=5' > .gitattributes; echo a > x", "echo b > x", "echo c > x"),
    ],
  ])("that a merge leaves of %s are committed by nobody either", async (_, begin) => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    sh(path, begin);
    const head = sh(path, "git rev-parse HEAD");
    sh(path, "! git merge side 2>/dev/null >&2");
    expect(sh(path, "git ls-files -u")).not.toBe("");
    expect(await commitAll(path, "Fix session_end (1)", identity)).toEqual({
      commit: null,
      parked: "refs/ratchet/parked/one/1",
    });
    expect(sh(path, "git rev-parse HEAD && git status --porcelain --ignored")).toBe(head);
  });

  test("that were resolved in the files are committed, also where git was not told", async () => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    commit(path, "zero.txt", "0");
    commit(path, "one.txt", "one");
    sh(path, begin("merge side"));
    put(path, "one.txt", "both");
    const { commit: made } = await commitAll(path, "Fix session_end (1)", identity);
    expect(sh(path, `git rev-list --parents -1 ${made} | wc -w && git show HEAD:one.txt && git status --short`)).toBe(
      "3\nboth",
    );
  });
});

describe("a repository that somebody has made", () => {
  const make =
    "git init -q tool && echo t > tool/t && git -C tool add -A && git -C tool -c user.name=a -c user.email=a@b commit -qm tool";

  test.each([
    ["alone", ":", null],
    ["beside files", "echo b > b.txt", "A\tb.txt"],
    ["in the middle of a bisect", "git bisect start && git bisect bad HEAD && git bisect good HEAD~1", null],
  ])("%s is parked and told, and goes", async (_, also, committed) => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    commit(path, "one.txt", "one");
    sh(path, `${make} && ${also}`);
    const { commit: made, parked } = await commitAll(path, "Fix session_end (1)", identity);
    expect(parked).toBe("refs/ratchet/parked/one/1");
    expect(sh(path, "git status --porcelain")).toBe("");
    expect(made && sh(path, `git show --format= --name-status ${made}`)).toBe(committed);
    await restoreParked(world.mirror, { path, issue: "one" });
    expect(sh(path, "git -C tool log --format=%s && cat tool/t")).toBe("tool\nt");
  });

  test("and that the commit names stays where it is", async () => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    sh(path, `${make} && git -c advice.addEmbeddedRepo=false add tool && git commit -qm link && echo u > tool/t`);
    expect(await commitAll(path, "Fix session_end (1)", identity)).toEqual({ commit: null });
    expect(sh(path, "cat tool/t")).toBe("u");
  });
});
