import { join } from "node:path";
import { expect, test } from "vitest";
import { continueBranch, putBranch } from "../../src/git/users-branch/given-branch.js";
import { snapshot } from "../../src/git/worktree/worktree.js";
import { commit, identity, makeWorld, open, sh, type World } from "./git-fixture.js";

async function headOf(world: World, path: string): Promise<string> {
  return (await snapshot(path, { base: world.base, docsPatterns: [] })).head;
}

async function work(world: World, issue: string): Promise<{ head: string; path: string; branch: string }> {
  const { path, branch } = await open(world, issue);
  commit(path, `${issue}.txt`, `${issue}\n`);
  return { head: await headOf(world, path), path, branch };
}

test("the branch appears in the user's repository and follows later work", async () => {
  const world = await makeWorld();
  const one = await work(world, "one");
  await putBranch(world.mirror, one);
  expect(sh(world.repo, "git rev-parse ratchet/one")).toBe(one.head);
  sh(one.path, "git commit -q --amend -m again");
  const { head } = await snapshot(one.path, { base: world.base, docsPatterns: [] });
  await putBranch(world.mirror, { branch: one.branch, head, replaces: true });
  expect(sh(world.repo, "git rev-parse ratchet/one")).toBe(head);
});

test("a branch that a person has moved is left alone", async () => {
  const world = await makeWorld();
  const one = await work(world, "one");
  await putBranch(world.mirror, one);
  const theirs = sh(
    world.repo,
    "git checkout -q ratchet/one && git commit -q --allow-empty -m mine && git checkout -q main && git rev-parse ratchet/one",
  );
  sh(one.path, "git commit -q --amend -m again");
  const { head } = await snapshot(one.path, { base: world.base, docsPatterns: [] });
  expect(await putBranch(world.mirror, { branch: one.branch, head, replaces: true })).toEqual({
    why: `${world.repo} has a branch ratchet/one of its own, at ${theirs.slice(0, 12)}, with commits that are not Ratchet's`,
    way: "rename it (`git branch -m ratchet/one NAME`) or delete it",
  });
  expect(sh(world.repo, "git rev-parse ratchet/one")).toBe(theirs);
});

test.each(["ratchet", "ratchet/one/more"])("beside a branch %s git can have none, which is said", async (theirs) => {
  const world = await makeWorld();
  const one = await work(world, "one");
  sh(world.repo, `git branch ${theirs}`);
  expect(await putBranch(world.mirror, one)).toEqual({
    why: `${world.repo} has a branch ${theirs}, beside which git can have no ratchet/one`,
    way: `rename it (\`git branch -m ${theirs} NAME\`) or delete it`,
  });
  sh(world.repo, `git branch -m ${theirs} other`);
  expect(await putBranch(world.mirror, one)).toBe(null);
  expect(sh(world.repo, "git rev-parse ratchet/one")).toBe(one.head);
});

test("a piece that lacks what a person has added to its branch says so: nobody is told to delete the pieces before", async () => {
  const world = await makeWorld();
  const one = await work(world, "one");
  await putBranch(world.mirror, one);
  sh(world.repo, "git checkout -q ratchet/one");
  const theirs = commit(world.repo, "mine.txt", "mine\n");
  sh(world.repo, "git checkout -q main");
  commit(one.path, "more.txt", "more\n");
  expect(await putBranch(world.mirror, { branch: one.branch, head: await headOf(world, one.path) })).toEqual({
    why: `it lacks ${theirs.slice(0, 12)}, which ratchet/one in ${world.repo} has: only what is built on that can follow it`,
    way: null,
  });
});

test("what is given piece by piece only goes forward: what lacks a piece is refused, though nobody has touched the branch", async () => {
  const world = await makeWorld();
  const one = await work(world, "one");
  await putBranch(world.mirror, one);
  sh(one.path, "git commit -q --amend -m again");
  const refused = await putBranch(world.mirror, { branch: one.branch, head: await headOf(world, one.path) });
  const why = `it lacks ${one.head.slice(0, 12)}, which ratchet/one in ${world.repo} has: only what is built on that can follow it`;
  expect(refused).toEqual({ why, way: null });
  expect(sh(world.repo, "git rev-parse ratchet/one")).toBe(one.head);
});

test.each([
  ["is checked out", ":", "it is checked out in PLACE", "check out another branch there"],
  [
    "is checked out in a folder that is gone",
    "rm -r ../held",
    "PLACE, where it is checked out, is gone",
    "run `git worktree prune`",
  ],
  [
    "is being rebased",
    "cd ../held && git commit -q --allow-empty -m x && git rebase -q -x false HEAD^ 2>/dev/null || :",
    "a rebase of it is in progress",
    "finish or abort that",
  ],
])("a branch that %s stays where it is, and says where and what to do", async (_, how, why, way) => {
  const world = await makeWorld();
  const one = await work(world, "one");
  sh(world.repo, `git worktree add -q -b ratchet/one ../held; ${how}`);
  const theirs = sh(world.repo, "git rev-parse ratchet/one");
  expect(await putBranch(world.mirror, one)).toEqual({
    why: `ratchet/one in ${world.repo} could not be moved: ${why.replace("PLACE", join(world.home, "held"))}`,
    way,
  });
  expect(sh(world.repo, "git rev-parse ratchet/one")).toBe(theirs);
});

function next(world: World): Promise<string> {
  const tip = sh(world.repo, "git rev-parse main");
  sh(world.mirror.path, `git fetch -q ${world.repo} main`);
  return continueBranch(world.mirror, { branch: "ratchet/one", target: "main", tip, identity });
}

test("the next piece begins at the target until there is a branch, then at what the user has of it", async () => {
  const world = await makeWorld();
  expect(await next(world)).toBe(world.base);
  const one = await work(world, "one");
  await putBranch(world.mirror, one);
  expect(await next(world)).toBe(one.head);
  sh(world.repo, "git checkout -q ratchet/one && git commit -q --allow-empty -m theirs && git checkout -q main");
  expect(await next(world)).toBe(sh(world.repo, "git rev-parse ratchet/one"));
});

test.each([
  ["merged", "git merge -q --no-ff -m Take ratchet/one"],
  ["deleted", "git branch -q -D ratchet/one"],
])("once the user has %s the branch, the next piece begins at the target", async (_, how) => {
  const world = await makeWorld();
  await putBranch(world.mirror, await work(world, "one"));
  sh(world.repo, how);
  expect(await next(world)).toBe(sh(world.repo, "git rev-parse main"));
});

test("where the target has moved on, the next piece begins at both, and the branch follows it", async () => {
  const world = await makeWorld();
  const one = await work(world, "one");
  await putBranch(world.mirror, one);
  commit(world.repo, "theirs.txt", "theirs\n");
  const head = await next(world);
  expect(sh(world.mirror.path, `git log -1 --format=%P%n%s ${head}`)).toBe(
    `${one.head} ${sh(world.repo, "git rev-parse main")}\nMerge main into ratchet/one`,
  );
  await putBranch(world.mirror, { branch: one.branch, head });
  const files = sh(world.repo, "git ls-tree --name-only ratchet/one").split("\n");
  expect(files).toEqual(expect.arrayContaining(["one.txt", "theirs.txt"]));
});

test("where both conflict there is nowhere to begin, which is said", async () => {
  const world = await makeWorld();
  await putBranch(world.mirror, await work(world, "one"));
  commit(world.repo, "one.txt", "theirs\n");
  await expect(next(world)).rejects.toThrow("ratchet/one and main conflict in one.txt: merge main into ratchet/one");
});
