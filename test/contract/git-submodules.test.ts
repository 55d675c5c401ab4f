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
    ["at a commit that its remote has by now", `${commits} && git push -q origin HEAD:refs/heads/fix`],
    // A shallow one has no branch of its remote that holds the commit.
    ["whose remote gave it by no branch", "git update-ref -d refs/remotes/origin/main; git branch -D main"],
  ])("%s leaves nothing parked", async (_, how) => {
    expect((await land(how)).parked).toBeNull();
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
