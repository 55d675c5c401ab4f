import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findElsewhere, findTaken } from "../../src/git/elsewhere.js";
import { fetchFromUser } from "../../src/git/mirror-refs.js";
import { snapshot } from "../../src/git/worktree.js";
import { commit, makeWorld, open, put, sh, type World } from "./git-fixture.js";

/** What was done in a worktree, and where it began. */
async function begin(world: World, issue = "one") {
  const { path } = await open(world, issue);
  const at = async () => {
    const { head } = await snapshot(path, { base: world.base, docsPatterns: [] });
    await fetchFromUser(world.mirror, ["+refs/heads/*:refs/user/heads/*"]);
    return { path, target: "main", branch: `ratchet/${issue}`, base: world.base, head };
  };
  return { path, at };
}

function release(world: World, file: string): string {
  sh(world.repo, "git checkout -q -B release");
  const made = commit(world.repo, file, "release\n");
  sh(world.repo, "git checkout -q main");
  return made;
}

const mergeIt = (world: World, path: string, what: string) =>
  sh(path, `git fetch -q ${world.repo} ${what} && git merge -q --no-edit FETCH_HEAD`);

test("commits of its own are known to be without git being started", async () => {
  const world = await makeWorld();
  const { path, at } = await begin(world);
  commit(path, "a.txt", "one\n");
  commit(path, "b.txt", "two\n");
  const work = await at();
  const bin = join(world.home, "none");
  put(bin, "git", "#!/bin/sh\nexit 99\n");
  sh(bin, "chmod +x git");
  const before = process.env.PATH;
  onTestFinished(() => {
    process.env.PATH = before;
  });
  process.env.PATH = `${bin}:${before}`;
  expect(await findTaken(world.mirror, work)).toBeNull();
});

test("what it was told to merge does not count, though it was dropped since and another branch has it", async () => {
  const world = await makeWorld();
  const { path, at } = await begin(world);
  commit(path, "one.txt", "one\n");
  const demanded = commit(world.repo, "mine.txt", "mine\n");
  mergeIt(world, path, "main");
  const work = await at();
  sh(world.repo, "git branch keep && git reset -q --hard HEAD^");
  const dropped = { ...(await at()), demanded };
  expect(dropped.head).toBe(work.head);
  expect(await findTaken(world.mirror, dropped)).toBeNull();
  // A later life may be for another target: then whoever has it is named, and that is not the target.
  expect(await findElsewhere(world.mirror, work)).toEqual({ commit: demanded, branch: "keep" });
});

test("what was given as another issue's branch, and the target lacks, is somebody else's; what is on its own is not", async () => {
  const world = await makeWorld();
  sh(world.repo, "git checkout -q -b ratchet/two");
  const theirs = commit(world.repo, "two.txt", "two\n");
  sh(world.repo, "git checkout -q main");
  const { path, at } = await begin(world);
  commit(path, "one.txt", "one\n");
  mergeIt(world, path, "ratchet/two");
  expect(await findTaken(world.mirror, await at())).toEqual({ commit: theirs, branch: "ratchet/two" });
  expect(await findElsewhere(world.mirror, await at())).toEqual({ commit: theirs, branch: "ratchet/two" });
  sh(world.repo, "git branch -q -m ratchet/two ratchet/one");
  await fetchFromUser(world.mirror, ["+refs/heads/*:refs/user/heads/*"], ["--prune"]);
  expect(await findTaken(world.mirror, await at())).toBeNull();
});

test("what only the target had, and has dropped, is on no other branch", async () => {
  const world = await makeWorld();
  const { path, at } = await begin(world);
  commit(world.repo, "mine.txt", "mine\n");
  commit(path, "one.txt", "one\n");
  mergeIt(world, path, "main");
  const work = await at();
  sh(world.repo, "git reset -q --hard HEAD^");
  expect(await findElsewhere(world.mirror, work)).toBeNull();
});

test("what the target has of a branch does not hide what it has not", async () => {
  const world = await makeWorld();
  const { path, at } = await begin(world);
  commit(path, "one.txt", "one\n");
  const first = release(world, "first.txt");
  mergeIt(world, path, "release");
  expect(await findElsewhere(world.mirror, await at())).toEqual({ commit: first, branch: "release" });
  sh(world.repo, "git merge -q release");
  expect(await findElsewhere(world.mirror, await at())).toBeNull();
  const second = release(world, "second.txt");
  mergeIt(world, path, "release");
  expect(await findElsewhere(world.mirror, await at())).toEqual({ commit: second, branch: "release" });
  sh(path, "git checkout -q -b side && git commit -q --allow-empty -m side && git checkout -q -");
  sh(path, "git merge -q --no-ff -m side side");
  sh(world.repo, `git fetch -q ${path} HEAD:a-look side:side`);
  expect(await findElsewhere(world.mirror, await at())).toEqual({ commit: second, branch: "release" });
});
