import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parkWork, restoreParked } from "../../src/git/parking/park.js";
import { removeWorktree, snapshot } from "../../src/git/worktree/worktree.js";
import { commit, makeRepository, makeWorld, open, sh, tempFolder } from "./git-fixture.js";

const git = "git -c protocol.file.allow=always -c user.name=Ada -c user.email=ada@example.org";

/** A worktree whose repository has the submodule `mod`, and a submodule's repository that others have, too. */
async function withSubmodule() {
  const inner = join(tempFolder(), "inner");
  makeRepository(inner);
  const world = await makeWorld((repo) => {
    sh(repo, `${git} submodule --quiet add ${inner} mod && git commit -qm mod`);
  });
  const { path, branch } = await open(world, "one");
  sh(path, `${git} submodule --quiet update --init`);
  sh(join(path, "mod"), "git config user.name Ada && git config user.email ada@example.org");
  return { world, path, branch, inner, mod: join(path, "mod") };
}

async function land(how: string) {
  const made = await withSubmodule();
  const { world, path, branch, mod } = made;
  sh(mod, how);
  sh(path, "echo b >b.txt && git add -A && git commit -qm bumped");
  const landed = sh(path, "git rev-parse HEAD");
  await snapshot(path, { base: world.base, docsPatterns: [] });
  const { parked } = await removeWorktree(world.mirror, { path, branch, issue: "one", landed });
  expect(existsSync(path)).toBe(false);
  return { ...made, landed, parked };
}

describe("a submodule", () => {
  const commits = "echo fix >fix.txt && git add -A && git commit -qm fix";

  test.each([
    ["commits that are nowhere else", commits],
    ["a branch that is nowhere else", `git checkout -qb side && ${commits} && git checkout -q -`],
    ["a stash", "echo more >>a.txt && git stash -q"],
    [
      "commits in a git folder of its own",
      `cd .. && rm -rf mod && ${git} clone -q ${"$(git config -f .gitmodules submodule.mod.url)"} mod && cd mod && git config user.name A && git config user.email a@b && ${commits}`,
    ],
  ])("with %s is parked when its issue has landed, and comes back as it was", async (_, how) => {
    const { world, path, mod, landed, parked } = await land(how);
    expect(parked?.ref).toBe("refs/ratchet/parked/one/1");
    await restoreParked(world.mirror, { issue: "one", path });
    expect(sh(path, "git rev-parse HEAD && git status --porcelain")).toBe(landed);
    expect(sh(mod, "git rev-parse HEAD")).toBe(sh(path, "git rev-parse HEAD:mod"));
    expect(sh(mod, "git log --format=%s --all --not --remotes && git status --porcelain")).toMatch(/^fix$|^WIP on/m);
  });

  test.each([
    ["as it was", "true"],
    ["that the work has removed", "cd .. && git rm -q mod"],
    ["at a commit that its remote has by now", `${commits} && git push -q origin HEAD:refs/heads/fix`],
    // A shallow one has no branch of its remote that holds the commit.
    ["whose remote gave it by no branch", "git update-ref -d refs/remotes/origin/main; git branch -D main"],
  ])("%s leaves nothing parked", async (_, how) => {
    expect((await land(how)).parked).toBeNull();
  });

  test("that the work has removed is parked with the commits that it has alone", async () => {
    expect((await land(`${commits} && cd .. && git rm -qf mod`)).parked?.ref).toBe("refs/ratchet/parked/one/1");
  });

  const bump = "cd .. && git add mod && git commit -qm bumped && cd mod";
  const own = `git checkout -qb fix && ${commits}`;
  const fetchOf = (what: string) => `git fetch -q --no-tags origin ${what} && git checkout -q FETCH_HEAD`;
  const aside =
    "git checkout -q --detach && git commit -q --allow-empty -m aside && git tag aside && git checkout -q main";

  async function unpushedAfter(how: string) {
    const { world, path, inner, mod } = await withSubmodule();
    sh(inner, `${aside} && git commit -q --allow-empty -m newer`);
    sh(mod, how);
    const { unpushed } = await snapshot(path, { base: world.base, docsPatterns: [] });
    return { unpushed, pointer: sh(path, "git rev-parse HEAD:mod") };
  }

  test.each([
    ["at a commit that is nowhere else", `${own} && ${bump}`],
    [
      "at a commit that was never in it",
      `cd .. && git update-index --cacheinfo 160000,${"a".repeat(40)},mod && git commit -qm x`,
    ],
  ])("%s is told", async (_, how) => {
    const { unpushed, pointer } = await unpushedAfter(how);
    expect(unpushed).toEqual([`mod at ${pointer.slice(0, 12)}`]);
  });

  test.each([
    ["at a commit that was pushed", `${own} && git push -q origin fix && ${bump}`],
    ["at a commit that was pushed once the work pointed to it", `${own} && ${bump} && git push -q origin fix`],
    ["at a commit of its remote's branch", `${fetchOf("main")} && ${bump}`],
    ["at a tag of its remote that is on no branch", `git fetch -q --tags && git checkout -q aside && ${bump}`],
    ["at a commit that was fetched to no ref", `${fetchOf("refs/tags/aside")} && ${bump}`],
    [
      "at the base's commit again, which its remote gave by no branch",
      `git update-ref -d refs/remotes/origin/main; ${own} && ${bump} && git checkout -q main && ${bump}`,
    ],
    ["that is not in the worktree", `${own} && ${bump} && cd .. && git submodule --quiet deinit -f mod`],
  ])("%s is not told", async (_, how) => {
    expect((await unpushedAfter(how)).unpushed).toBeUndefined();
  });

  test("at a commit that came with the target is not told", async () => {
    const { world, path, mod } = await withSubmodule();
    sh(mod, `${own} && ${bump}`);
    const tip = sh(path, "git rev-parse HEAD");
    commit(path, "b.txt", "b");
    const options = { base: world.base, reviewBase: tip, docsPatterns: [] };
    expect((await snapshot(path, options)).unpushed).toBeUndefined();
  });

  test("keeps its commits when the git folder around it is made anew", async () => {
    const { world, path, mod } = await withSubmodule();
    sh(mod, commits);
    sh(path, 'rm -rf "$(git rev-parse --git-dir)/refs"');
    expect(await open(world, "one")).toMatchObject({ lost: expect.stringContaining("is made anew") });
    expect(sh(mod, "git log -1 --format=%s && git status --porcelain")).toBe("fix");
  });

  test("of parked work comes back with its files", async () => {
    const { world, path, mod, branch } = await withSubmodule();
    commit(path, "b.txt", "b");
    await parkWork(world.mirror, { path, issue: "one" });
    await removeWorktree(world.mirror, { path, branch, issue: "one", landed: null });
    await restoreParked(world.mirror, { issue: "one", path });
    expect(sh(mod, "git status --porcelain && cat a.txt")).toBe("a");
  });
});
