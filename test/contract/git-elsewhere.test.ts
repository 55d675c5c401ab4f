import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findElsewhere, findTaken } from "../../src/git/landing/elsewhere.js";
import { fetchFromUser } from "../../src/git/mirror/mirror-refs.js";
import { snapshot } from "../../src/git/worktree/worktree.js";
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

const amend = "git commit -q --amend --no-edit --allow-empty";

test.each([
  ["reset to", `git reset -q --hard FETCH_HEAD && ${amend}`],
  [
    "gone forward to, twice",
    `git reset -q --hard HEAD^ && git merge -q --ff-only FETCH_HEAD && ${amend} && ${amend} -m Again`,
  ],
  ["reset to, after work of its own", `${amend} -m A && git reset -q --hard FETCH_HEAD && ${amend}`],
  [
    "reset to, and then to what is below it",
    `git reset -q --hard FETCH_HEAD && git reset -q --hard HEAD^ && ${amend} -m A`,
  ],
  ["rebased without its tip", `git reset -q --hard FETCH_HEAD && git rebase -q --onto HEAD~2 HEAD^ && ${amend} -m A`],
  ["merged", `git commit -q --allow-empty -m A && git merge -q --no-edit FETCH_HEAD && ${amend}`],
])("what is below a branch's tip that the agent has amended is that branch's: one that it has %s", async (_, does) => {
  const world = await makeWorld();
  const { path, at } = await begin(world);
  release(world, "first.txt");
  sh(world.repo, "git checkout -q release");
  for (const file of ["second.txt", "third.txt"]) commit(world.repo, file, "release\n");
  const theirs = sh(world.repo, "git rev-list main..release").split("\n");
  sh(world.repo, "git checkout -q main");
  sh(path, "git commit -q --allow-empty -m Own");
  sh(path, `git fetch -q ${world.repo} release && ${does}`);
  const found = await findTaken(world.mirror, await at());
  expect(found?.branch).toBe("release");
  expect(theirs).toContain(found?.commit);
});

test("what is the work's own stays so after it was amended, reset and made anew, also where the log began later", async () => {
  const world = await makeWorld();
  const { path, at } = await begin(world);
  for (const file of ["one.txt", "two.txt", "three.txt"]) commit(path, file, "own\n");
  sh(path, "rm $(git rev-parse --git-path logs/HEAD)");
  sh(path, `${amend} -m Three && git branch keep && git branch start HEAD~2`);
  sh(world.repo, `git fetch -q ${path} start:a-look keep:made-of-it`);
  sh(path, `git reset -q --hard HEAD^ && ${amend} -m Two && git merge -q --no-edit keep`);
  expect(await findTaken(world.mirror, await at())).toBeNull();
});

/** Another issue with a commit in its worktree. */
async function beside(world: World, issue: string) {
  const other = await begin(world, issue);
  return { ...other, made: commit(other.path, `${issue}.txt`, `${issue}\n`) };
}

test.each([
  ["merged", (from: string) => `git fetch -q ${from} HEAD && git merge -q --no-edit FETCH_HEAD`],
  ["amended", (from: string) => `git fetch -q ${from} HEAD && git reset -q --hard FETCH_HEAD && ${amend}`],
])(
  "what another issue has made and not landed is that issue's, where it was %s: looked at or not, amended or not",
  async (_, takes) => {
    const world = await makeWorld();
    const { path, at } = await begin(world);
    const two = await beside(world, "two");
    commit(two.path, "more.txt", "more\n");
    commit(path, "one.txt", "one\n");
    sh(path, takes(two.path));
    const found = async () => (await findTaken(world.mirror, await at())) ?? { commit: "none", branch: "none" };
    expect((await found()).branch).toBe("ratchet/two");
    await two.at();
    expect((await found()).branch).toBe("ratchet/two");
    sh(two.path, `git reset -q --hard HEAD^ && ${amend} -m Otherwise`);
    await two.at();
    expect((await found()).branch).toBe("ratchet/two");
    // What it is then is not what was taken, but the one who has it has landed it.
    sh(world.repo, `git fetch -q ${path} HEAD && git merge -q --ff-only FETCH_HEAD`);
    expect(await findTaken(world.mirror, await at())).toBeNull();
  },
);

test("what another issue has merged, and nobody here has made, is not that issue's", async () => {
  const world = await makeWorld();
  const { path, at } = await begin(world);
  const two = await beside(world, "two");
  const library = join(world.home, "library");
  sh(world.home, `git clone -q -c user.name=Third -c user.email=third@example.org ${world.repo} ${library}`);
  commit(library, "library.txt", "of a third\n");
  const merge = `git fetch -q ${library} HEAD && git merge -q --no-edit --no-ff FETCH_HEAD`;
  for (const checkout of [two.path, path]) sh(checkout, merge);
  await two.at();
  expect(await findTaken(world.mirror, await at())).toBeNull();
  const three = await begin(world, "three");
  sh(three.path, `git fetch -q ${library} HEAD && git merge -q --ff-only FETCH_HEAD`);
  commit(three.path, "three.txt", "three\n");
  await three.at();
  expect(await findTaken(world.mirror, await at())).toBeNull();
});

test("another issue that has taken in this one's work holds it up only where it is merged back", async () => {
  const world = await makeWorld();
  const { path, at } = await begin(world);
  const two = await beside(world, "two");
  commit(path, "one.txt", "one\n");
  sh(two.path, `git fetch -q ${path} HEAD && git merge -q --no-edit FETCH_HEAD`);
  await two.at();
  expect(await findTaken(world.mirror, await at())).toBeNull();
  expect((await findTaken(world.mirror, await two.at()))?.branch).toBe("ratchet/one");
  sh(path, `git fetch -q ${two.path} HEAD && git merge -q --no-edit --no-ff FETCH_HEAD`);
  expect(await findTaken(world.mirror, await at())).toMatchObject({ branch: "ratchet/two" });
});

test("what another issue began from, and a person has dropped since, is not that issue's; nor is a workspace another one", async () => {
  const world = await makeWorld();
  const { path, at } = await begin(world);
  commit(path, "one.txt", "one\n");
  const base = commit(world.repo, "mine.txt", "mine\n");
  await fetchFromUser(world.mirror, ["+refs/heads/*:refs/user/heads/*"]);
  const two = await begin({ ...world, base }, "two");
  commit(two.path, "two.txt", "two\n");
  await two.at();
  mergeIt(world, path, "main");
  sh(world.repo, "git reset -q --hard HEAD^");
  expect(await findTaken(world.mirror, await at())).toBeNull();
  const side = await beside(world, "workspace-1");
  await side.at();
  sh(path, `git fetch -q ${side.path} HEAD && git merge -q --no-edit FETCH_HEAD`);
  expect(await findTaken(world.mirror, await at())).toBeNull();
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
