import { existsSync, readdirSync, renameSync } from "node:fs";
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
  const urlIs = (url: string) =>
    `git remote rename origin other && cd .. && git config -f .gitmodules submodule.mod.url "${url}" && git commit -qam bumped`;
  const relative =
    "git config -f .gitmodules submodule.mod.url ../../$(basename $(dirname $(git -C mod config remote.origin.url)))/inner";
  const aside =
    "git checkout -q --detach && git commit -q --allow-empty -m aside && git tag aside && git checkout -q main";

  /** `how` is done in the submodule. */
  async function unpushedAfter(how: string) {
    const { world, path, inner, mod } = await withSubmodule();
    sh(inner, `${aside} && git commit -q --allow-empty -m newer`);
    sh(mod, how);
    const look = () => snapshot(path, { base: world.base, docsPatterns: [] });
    const { unpushed } = await look();
    const left = readdirSync(join(world.mirror.path, "checkouts")).filter((name) => name.startsWith("."));
    return { unpushed, pointer: sh(path, "git rev-parse -q --verify HEAD:mod || true"), left, look, inner };
  }

  const fork = "git init -q --bare ../../fork.git";
  const pushed = `${own} && git push -q "$(git config remote.origin.url)" HEAD:refs/heads/fix && ${bump}`;
  const isGone = 'mv "$(git config remote.origin.url)" ../../gone';
  const knowsFilters = 'git -C "$(git config remote.origin.url)" config uploadpack.allowFilter true';
  const deinit = "cd .. && git submodule --quiet deinit -f mod";
  const away = 'cd .. && rm -rf mod "$(git rev-parse --git-dir)/modules"';

  test.each([
    ["at a commit that is nowhere else", `${own} && ${bump}`],
    ["at a commit that only a tag of its own has", `${own} && git tag v1 && ${bump}`],
    [
      "at a commit that came from a clone beside it",
      `git clone -q . ../../else && cd ../../else && ${git} commit -q --allow-empty -m else && cd - && git fetch -q ../../else HEAD && git checkout -q FETCH_HEAD && ${bump}`,
    ],
    ["at a commit that it has pulled from itself", `${own} && git checkout -q main && git pull -q . fix && ${bump}`],
    [
      "at a commit that another remote than that of .gitmodules has",
      `${own} && ${fork} && git remote add fork ../../fork.git && git push -q fork fix && ${bump}`,
    ],
    [
      "at a commit that was pushed to another place than its remote is fetched from",
      `${own} && ${fork} && git remote set-url --push origin "$PWD/../../fork.git" && git push -q origin fix && ${bump}`,
    ],
    ["at a commit that is nowhere else, and not in the worktree", `${own} && ${bump} && ${deinit}`],
    ["at a commit that is nowhere any more", `${own} && ${bump} && ${away}`],
    [
      "at a commit of the remote that it had before",
      `git fetch -q && cd .. && ${git} clone -q --bare "$(git config -f .gitmodules submodule.mod.url)" ../fork.git && git -C ../fork.git update-ref refs/heads/main HEAD~1 && git -C ../fork.git gc -q --prune=now && git submodule --quiet set-url mod "$PWD/../fork.git" && git -C mod checkout -q origin/main && git commit -qam fork && cd mod`,
    ],
    [
      "at a commit that was never in it",
      `cd .. && git update-index --cacheinfo 160000,${"a".repeat(40)},mod && git commit -qm x`,
    ],
  ])("%s is told", async (_, how) => {
    const { unpushed, pointer, left } = await unpushedAfter(how);
    expect(unpushed).toEqual([`mod at ${pointer.slice(0, 12)}: its remote does not have it`]);
    expect(left).toEqual([]);
  });

  test.each([
    ["of a remote that is gone", `${own} && ${bump} && ${isGone}`, "does not appear to be a git repository"],
    ["of a remote that is a program", `${own} && ${urlIs("ext::sh -c exit")}`, "its url is none that may be asked"],
    ["of a remote that is an option", `${own} && ${urlIs("--upload-pack=true")}`, "its url is none that may be asked"],
    ["of a remote that no helper speaks to", `${own} && ${urlIs("none://x:secret@example.org")}`, "not allowed"],
  ])("%s is told, and why nobody can say", async (_, how, why) => {
    const { unpushed, left } = await unpushedAfter(how);
    expect(unpushed).toEqual([expect.stringMatching(/^mod at [0-9a-f]{12}: /)]);
    expect(unpushed?.[0]).toContain(why);
    expect(unpushed?.[0]).not.toContain("secret");
    expect(left).toEqual([]);
  });

  test.each([
    ["at a commit that was pushed", `${own} && git push -q origin fix && ${bump}`],
    ["at a commit that was pushed once the work pointed to it", `${own} && ${bump} && git push -q origin fix`],
    [
      "at a commit that a branch of its remote is known to have",
      `${own} && git push -q origin fix && ${bump} && ${isGone}`,
    ],
    ["at a commit that was pushed to its remote's url", pushed],
    ["at a commit that was pushed to a remote that leaves out what is not asked for", `${knowsFilters} && ${pushed}`],
    [
      "at a commit that was pushed from one that follows another branch alone",
      `git config remote.origin.fetch +refs/heads/main:refs/remotes/origin/main && ${own} && git push -q origin fix && ${bump}`,
    ],
    [
      "at a commit that was pushed from a shallow one",
      `cd .. && rm -rf mod && ${git} clone -q --depth 1 "file://$(git config -f .gitmodules submodule.mod.url)" mod && cd mod && git config user.name A && git config user.email a@b && ${own} && git push -q origin fix && ${bump}`,
    ],
    ["at a commit of its remote's branch", `${fetchOf("main")} && ${bump}`],
    ["at a tag of its remote that is on no branch", `git fetch -q --tags && git checkout -q aside && ${bump}`],
    ["at a commit that was fetched to no ref", `${fetchOf("refs/tags/aside")} && ${bump}`],
    [
      "at the base's commit again, which its remote gave by no branch",
      `git update-ref -d refs/remotes/origin/main; ${own} && ${bump} && git checkout -q main && ${bump}`,
    ],
    ["that is at another path at the base's commit", `${isGone} && cd .. && git mv mod moved && git commit -qm moved`],
    ["at a commit that was pushed, and not in the worktree", `${pushed} && ${deinit}`],
    ["at a commit that was pushed, and nowhere here any more", `${pushed} && ${away}`],
    ["at a commit that was pushed, and nowhere here, with filters", `${knowsFilters} && ${pushed} && ${away}`],
    ["whose url goes from where the user's repository is", `${pushed} && cd .. && ${relative} && git commit -qam x`],
  ])("%s is not told", async (_, how) => {
    const { unpushed, left } = await unpushedAfter(how);
    expect({ unpushed, left }).toEqual({ unpushed: undefined, left: [] });
  });

  test("whose remote had the commit once is not asked for again", async () => {
    const { unpushed, inner, look } = await unpushedAfter(pushed);
    expect(unpushed).toBeUndefined();
    renameSync(inner, `${inner}-gone`);
    expect((await look()).unpushed).toBeUndefined();
  });

  describe("of a submodule", () => {
    const commits = `${git} commit -q --allow-empty -m deep`;
    const pushes = "git push -q origin HEAD:refs/heads/fix";

    async function unpushedWithin(how: { readonly deep: string; readonly mod: string }) {
      const deep = join(tempFolder(), "deep");
      makeRepository(deep);
      const { world, path, inner, mod } = await withSubmodule();
      sh(inner, `${git} submodule --quiet add ${deep} deep && git commit -qm deep`);
      sh(mod, "git pull -q origin main");
      const base = sh(path, "git commit -qam mod && git rev-parse HEAD");
      sh(mod, `${git} submodule --quiet update --init`);
      sh(join(mod, "deep"), `git checkout -q --detach && ${how.deep}`);
      sh(mod, `git add deep && git commit -q --allow-empty -m deeper && ${how.mod}`);
      sh(path, "git add -A; git commit -qm bumped");
      return { world, path, inner, deep, look: () => snapshot(path, { base, docsPatterns: [] }) };
    }

    test.each([
      ["the worktree has", "true"],
      ["is in its git folder alone", "git submodule --quiet deinit -f mod"],
      ["is nowhere here any more", 'rm -rf mod "$(git rev-parse --git-dir)/modules"'],
    ])("a commit that is pushed nowhere, and %s, is told, and is not once it is pushed", async (_, then) => {
      const { path, inner, deep, look } = await unpushedWithin({ deep: commits, mod: pushes });
      const id = sh(inner, "git rev-parse fix:deep");
      sh(deep, `${git} clone -q ${join(path, "mod/deep")} ../kept`);
      sh(path, then);
      expect((await look()).unpushed).toEqual([`mod/deep at ${id.slice(0, 12)}: its remote does not have it`]);
      sh(deep, "git fetch -q ../kept HEAD:refs/heads/fix");
      expect((await look()).unpushed).toBeUndefined();
    });

    test("two that are pushed nowhere are told both", async () => {
      const { look } = await unpushedWithin({ deep: commits, mod: "true" });
      expect((await look()).unpushed).toEqual([
        expect.stringMatching(/^mod at /),
        expect.stringMatching(/^mod\/deep at /),
      ]);
    });

    test("what it links as before is not asked for", async () => {
      const { look, deep } = await unpushedWithin({ deep: "true", mod: pushes });
      renameSync(deep, `${deep}-gone`);
      expect((await look()).unpushed).toBeUndefined();
    });
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
