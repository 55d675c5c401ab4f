import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import {
  commitLanding,
  findLanded,
  followTarget,
  isLanded,
  keepProposal,
  openLandingWorktree,
  proposeLanding,
} from "../../src/git/landing/land.js";
import { tipOf } from "../../src/git/mirror/mirror.js";
import { removeWorktree, snapshot } from "../../src/git/worktree/worktree.js";
import { commit, identity, makeWorld, open, put, read, sh, type World } from "./git-fixture.js";
import { until } from "./process-support.js";

async function work(
  world: World,
  issue: string,
  name: string,
): Promise<{ head: string; path: string; branch: string }> {
  const { path, branch } = await open(world, issue);
  commit(path, name, `${issue}\n`);
  const { head } = await snapshot(path, { base: world.base, docsPatterns: [] });
  return { head, path, branch };
}

function propose(world: World, issue: string, head: string) {
  const message = { issue, title: "Do  the\nthing", run: "run-1" };
  return proposeLanding(world.mirror, { target: "main", head, message, identity });
}

async function land(world: World, issue: string, head: string): Promise<string> {
  const proposal = await propose(world, issue, head);
  if (proposal.type !== "proposed") throw new Error(JSON.stringify(proposal));
  expect(await commitLanding(world.mirror, { target: "main", ...proposal })).toEqual({ type: "landed" });
  return proposal.commit;
}

describe("landing", () => {
  test("work on top of the tip lands as it is, and the checked-out target follows", async () => {
    const world = await makeWorld();
    const { head } = await work(world, "one", "one.txt");
    const proposal = await propose(world, "one", head);
    expect(proposal).toMatchObject({ type: "proposed", tip: world.base, commit: head, merged: false });
    expect(await isLanded(world.mirror, "main", head)).toBe(false);
    await land(world, "one", head);
    expect(await isLanded(world.mirror, "main", head)).toBe(true);
    expect(await followTarget(world.mirror, { target: "main", commit: head })).toEqual({ behind: null });
    expect(sh(world.repo, "git rev-parse main refs/ratchet/landed/main")).toBe(`${head}\n${head}`);
    expect(sh(world.repo, "git status --porcelain")).toBe("");
    expect(read(world.repo, "one.txt")).toBe("one\n");
    expect(existsSync(join(world.repo, ".git/FETCH_HEAD"))).toBe(false);
  });

  test("work from before many landings lands as a merge, work that has merged them as it is", async () => {
    const world = await makeWorld();
    const [one, two, three] = [
      await work(world, "one", "one.txt"),
      await work(world, "two", "two.txt"),
      await work(world, "three", "three.txt"),
    ];
    await land(world, "one", one.head);
    const second = await land(world, "two", two.head);
    expect(await propose(world, "three", three.head)).toMatchObject({ tip: second, merged: true });
    const tip = await land(world, "three", three.head);
    const { path } = await open(world, "four");
    sh(path, `git merge -q --ff-only ${tip}`);
    commit(path, "four.txt", "four\n");
    const { head, tree } = await snapshot(path, { base: world.base, docsPatterns: [] });
    const proposal = { type: "proposed", tip, commit: head, tree, merged: false };
    expect(await propose(world, "four", head)).toEqual(proposal);
    expect(sh(path, `git ls-tree --name-only ${tree}`).split("\n")).toEqual(
      expect.arrayContaining(["one.txt", "two.txt", "three.txt", "four.txt"]),
    );
  });

  test("what landed is found again by the commit that brought it, whatever landed since", async () => {
    const world = await makeWorld();
    const [one, two, three] = [
      await work(world, "one", "one.txt"),
      await work(world, "two", "two.txt"),
      await work(world, "three", "three.txt"),
    ];
    const find = (head: string) => findLanded(world.mirror, { target: "main", head });
    expect(await find(one.head)).toBeNull();
    await land(world, "one", one.head);
    expect(await find(one.head)).toMatchObject({ commit: one.head, merged: false });
    const second = await land(world, "two", two.head);
    await land(world, "three", three.head);
    const tree = sh(world.mirror.path, `git rev-parse ${second}^{tree}`);
    expect(await find(two.head)).toEqual({ type: "proposed", tip: one.head, commit: second, tree, merged: true });
    expect(await find(one.head)).toMatchObject({ commit: one.head, merged: false });
  });

  test("who insists lands ahead of a person who goes on committing, and the next landing has both", async () => {
    const world = await makeWorld();
    const { head } = await work(world, "one", "one.txt");
    const proposal = await propose(world, "one", head);
    if (proposal.type !== "proposed") throw new Error(proposal.type);
    commit(world.repo, "theirs.txt", "t");
    const options = { target: "main", ...proposal };
    expect(await commitLanding(world.mirror, options)).toEqual({ type: "moved" });
    expect(await commitLanding(world.mirror, { ...options, insists: true })).toEqual({ type: "landed" });
    const { behind } = await followTarget(world.mirror, { target: "main", commit: head });
    expect(behind).toContain("it has commits of its own");
    const two = await work(world, "two", "two.txt");
    const tip = await land(world, "two", two.head);
    expect(await followTarget(world.mirror, { target: "main", commit: tip })).toEqual({ behind: null });
    const files = sh(world.repo, "ls *.txt").split("\n");
    expect(files).toEqual(expect.arrayContaining(["one.txt", "theirs.txt", "two.txt"]));
  });

  test("who insists does not overrule a person who put the branch elsewhere", async () => {
    const world = await makeWorld();
    const { head } = await work(world, "one", "one.txt");
    const proposal = await propose(world, "one", head);
    if (proposal.type !== "proposed") throw new Error(proposal.type);
    sh(world.repo, "git commit -q --amend --allow-empty -m amended");
    const options = { target: "main", ...proposal, insists: true };
    expect(await commitLanding(world.mirror, options)).toEqual({ type: "moved" });
  });

  test("a branch that a person switches to while their lock is waited for stays where it is", async () => {
    const world = await makeWorld();
    sh(world.repo, "git branch release && touch .git/index.lock");
    const { head } = await work(world, "one", "one.txt");
    await land(world, "one", head);
    const following = followTarget(world.mirror, { target: "main", commit: head });
    await until("the landed line is there", () => existsSync(join(world.repo, ".git/refs/ratchet/landed/main")));
    sh(world.repo, "git symbolic-ref HEAD refs/heads/release && rm .git/index.lock");
    expect(await following).toEqual({ behind: null });
    expect(sh(world.repo, "git rev-parse release main")).toBe(`${world.base}\n${head}`);
    expect(existsSync(join(world.repo, "one.txt"))).toBe(false);
  });

  test.each([
    ["of its own choice", "git init -q --separate-git-dir ../else.git"],
    ["as of a submodule", "git init -q --separate-git-dir ../else.git && git config core.worktree ../repo"],
  ])("a checkout whose git folder is elsewhere, %s, follows", async (_, move) => {
    const world = await makeWorld((repo) => sh(repo, move));
    put(world.repo, "notes.txt", "mine");
    const { head } = await work(world, "one", "one.txt");
    await land(world, "one", head);
    expect(await followTarget(world.mirror, { target: "main", commit: head })).toEqual({ behind: null });
    expect(sh(world.repo, "git rev-parse main && git status --porcelain")).toBe(`${head}\n?? notes.txt`);
  });

  test("a file that the user has git ignore is not overwritten by one that landed", async () => {
    const world = await makeWorld();
    put(world.repo, ".git/info/exclude", "one.txt\n");
    put(world.repo, "one.txt", "the only copy\n");
    const { path } = await open(world, "one");
    sh(path, "echo other > one.txt && git add -f one.txt && git commit -qm one");
    const { head } = await snapshot(path, { base: world.base, docsPatterns: [] });
    await land(world, "one", head);
    const { behind } = await followTarget(world.mirror, { target: "main", commit: head });
    expect(behind).toContain("main is behind: untracked one.txt would be overwritten");
    expect(read(world.repo, "one.txt")).toBe("the only copy\n");
    const line = /run `([^`]+)`/.exec(behind ?? "")?.[1];
    expect(sh(world.repo, `${line} 2>&1 || true`)).toContain("would be overwritten");
    expect(read(world.repo, "one.txt")).toBe("the only copy\n");
    sh(world.repo, `rm one.txt && ${line}`);
    expect(read(world.repo, "one.txt")).toBe("other\n");
  });

  test.each([
    ["few", 5, "untracked file-001, file-002, file-003 and 2 more would be overwritten"],
    [
      "more than git lists",
      900,
      /untracked file-001, file-002, file-003 and at least (3|4)\d\d more would be overwritten/,
    ],
  ])("of %s files in the way as many are told as are known", async (_, count, said) => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    const files = `for i in $(seq -f %03g ${count}); do echo other >file-$i; done`;
    sh(path, `${files}; echo other >a.txt; git add -A && git commit -qm one`);
    const { head } = await snapshot(path, { base: world.base, docsPatterns: [] });
    await land(world, "one", head);
    const behindNow = async () => (await followTarget(world.mirror, { target: "main", commit: head })).behind;
    sh(world.repo, files);
    expect(await behindNow()).toMatch(said);
    sh(world.repo, "echo theirs >a.txt");
    expect(await behindNow()).toContain("uncommitted changes in a.txt are in the way");
  });

  test("work beside the tip lands as a merge with the issue's trailers", async () => {
    const world = await makeWorld();
    const one = await work(world, "one", "one.txt");
    const two = await work(world, "two", "two.txt");
    const first = await land(world, "one", one.head);
    const proposal = await propose(world, "two", two.head);
    if (proposal.type !== "proposed") throw new Error(proposal.type);
    expect(proposal).toMatchObject({ tip: first, merged: true });
    expect(sh(world.mirror.path, `git log -1 --format='%an%n%B' ${proposal.commit}`)).toBe(
      "Ada\nMerge two: Do the thing\n\nRatchet-Issue: two\nRatchet-Run: run-1\n",
    );
    expect(sh(world.mirror.path, `git ls-tree --name-only ${proposal.tree}`)).toContain("one.txt");
    await keepProposal(world.mirror, "two", proposal.commit);
    sh(world.mirror.path, "git -c gc.pruneExpire=now gc -q");
    expect(sh(world.mirror.path, `git cat-file -t ${proposal.commit}`)).toBe("commit");
    const place = await openLandingWorktree(world.mirror, {
      path: join(world.home, "worktrees/_landing"),
      commit: proposal.commit,
    });
    expect(read(place.path, "two.txt") + read(place.path, "one.txt")).toBe("two\none\n");
    expect(await commitLanding(world.mirror, { target: "main", ...proposal })).toEqual({ type: "landed" });
    expect(await commitLanding(world.mirror, { target: "main", ...proposal })).toEqual({ type: "landed" });
  });

  test("a conflict names the files, and lands once the agent has merged the tip", async () => {
    const world = await makeWorld();
    const one = await work(world, "one", "a.txt");
    const two = await work(world, "two", "a.txt");
    const tip = await land(world, "one", one.head);
    expect(await propose(world, "two", two.head)).toEqual({ type: "conflict", tip, files: ["a.txt"] });
    sh(two.path, `git merge -q ${tip} || true; printf both > a.txt; git commit -qam merged`);
    const { head, containsBase } = await snapshot(two.path, { base: world.base, reviewBase: tip, docsPatterns: [] });
    expect(containsBase).toBe(true);
    expect(await propose(world, "two", head)).toMatchObject({ type: "proposed", commit: head, merged: false });
  });

  test("a proposal whose tip moved is not landed", async () => {
    const world = await makeWorld();
    const one = await work(world, "one", "one.txt");
    const two = await work(world, "two", "two.txt");
    const proposal = await propose(world, "two", two.head);
    await land(world, "one", one.head);
    if (proposal.type !== "proposed") throw new Error(proposal.type);
    expect(await commitLanding(world.mirror, { target: "main", ...proposal })).toEqual({ type: "moved" });
    expect(await isLanded(world.mirror, "main", two.head)).toBe(false);
  });

  test("two processes land at the same time: every commit is on the line, none is lost", async () => {
    const world = await makeWorld();
    const child = (name: string) =>
      promisify(execFile)(process.execPath, ["dist-test/git-land.mjs", world.repo, world.home, name, "6"]);
    const printed = (await Promise.all([child("left"), child("right")])).map(({ stdout }) => stdout.trim().split("\n"));
    const landed = printed.flat();
    expect(landed).toHaveLength(12);
    for (const sha of landed) expect(await isLanded(world.mirror, "main", sha)).toBe(true);
    await followTarget(world.mirror, { target: "main", commit: landed[0] ?? "" });
    expect(
      sh(world.repo, "ls")
        .split("\n")
        .filter((name) => /^(left|right)-\d\.txt$/.test(name)),
    ).toHaveLength(12);
    expect(sh(world.repo, "git status --porcelain")).toBe("");
  });

  test("an older end of the line that another process brings over last is not taken for what has landed", async () => {
    const world = await makeWorld();
    const [one, two] = [await work(world, "one", "one.txt"), await work(world, "two", "two.txt")];
    const first = await land(world, "one", one.head);
    await followTarget(world.mirror, { target: "main", commit: first });
    const second = await land(world, "two", two.head);
    // What their fetch saw before the second landing: its objects are here by another one.
    sh(world.repo, `git fetch -q ${world.mirror.path} refs/ratchet/landed/main:refs/kept`);
    sh(world.mirror.path, `git update-ref refs/ratchet/landed/main ${first}`);
    expect(await followTarget(world.mirror, { target: "main", commit: second })).toEqual({ behind: null });
    sh(world.mirror.path, `git update-ref refs/ratchet/landed/main ${second}`);
    expect(sh(world.repo, "git rev-parse main && git status --porcelain")).toBe(second);
    expect(await tipOf(world.mirror, "main")).toEqual({ type: "tip", sha: second, merged: false });
  });

  test("the landing worktree is put at the next commit, clean but for ignored files", async () => {
    const world = await makeWorld();
    const { head } = await work(world, "one", "one.txt");
    const path = join(world.home, "worktrees/_landing");
    expect((await openLandingWorktree(world.mirror, { path, commit: world.base })).fresh).toBe(true);
    put(path, "left-over.txt", "x");
    put(path, "a.txt", "changed");
    put(path, "build/cache", "kept");
    expect((await openLandingWorktree(world.mirror, { path, commit: head })).fresh).toBe(false);
    expect(sh(path, "git status --porcelain && git rev-parse HEAD")).toBe(head);
    expect(existsSync(join(path, "left-over.txt"))).toBe(false);
    expect(read(path, "build/cache")).toBe("kept");
  });

  test("a removed worktree of landed work leaves no branch and nothing parked", async () => {
    const world = await makeWorld();
    const one = await work(world, "one", "one.txt");
    await land(world, "one", one.head);
    expect(await removeWorktree(world.mirror, { ...one, issue: "one", target: "main" })).toEqual({ parked: null });
    expect(
      sh(world.mirror.path, "git for-each-ref refs/heads refs/ratchet/parked refs/ratchet/base refs/ratchet/proposed"),
    ).toBe("");
    expect(await open(world, "one")).toMatchObject({ from: "new", head: world.base });
  });
});

test("a target without a commit is said, not guessed", async () => {
  const world = await makeWorld();
  expect(await tipOf(world.mirror, "nowhere")).toMatchObject({
    type: "missing",
    reason: "there is no branch nowhere with a commit: run `git branch nowhere`",
  });
});
