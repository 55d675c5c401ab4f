import { existsSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commitLanding, proposeLanding } from "../../src/git/landing/land.js";
import { openLocalRemote } from "../../src/git/local-remote.js";
import { openMirror, tipOf } from "../../src/git/mirror/mirror.js";
import { snapshot } from "../../src/git/worktree/worktree.js";
import { identity, makeWorld, open, put, sh, type World } from "./git-fixture.js";

const lines = (first: string, last: string) => [first, ..."bcdefghijk", last, ""].join("\n");

async function worldWith(file: string, prepare: (repo: string) => void): Promise<World> {
  return await makeWorld((repo) => {
    put(repo, file, lines("a", "l"));
    prepare(repo);
    sh(repo, "git add -A && git commit -q -m rules");
  });
}

async function work(world: World, issue: string, file: string, text: string): Promise<string> {
  const { path } = await open(world, issue);
  put(path, file, text);
  sh(path, `git add -A && git commit -q -m ${issue}`);
  return (await snapshot(path, { base: world.base, docsPatterns: [] })).head;
}

async function propose(world: World, issue: string, head: string) {
  const message = { issue, title: issue, run: "run-1" };
  return await proposeLanding(world.mirror, { target: "main", head, message, identity });
}

/** What comes of the second of two whose first has landed. */
async function second(world: World, file: string, [one, two]: readonly [string, string]) {
  const heads = [await work(world, "one", file, one), await work(world, "two", file, two)] as const;
  const first = await propose(world, "one", heads[0]);
  if (first.type !== "proposed") throw new Error(JSON.stringify(first));
  await commitLanding(world.mirror, { target: "main", ...first });
  return await propose(world, "two", heads[1]);
}

const apart = [lines("A", "l"), lines("a", "L")] as const;
const together = [`${lines("a", "l")}one\n`, `${lines("a", "l")}two\n`] as const;

function contentOf(world: World, commit: string, file: string): string {
  return sh(world.mirror.path, `git show ${commit}:${file}`);
}

describe("what attributes say of merging", () => {
  test.each([
    ["-merge", "pkg.lock", ".gitattributes", "pkg.lock -merge\n"],
    ["binary", "pkg.lock", ".gitattributes", "*.lock binary\n"],
    ["a folder's own file", "sub/deep er/ü.lock", "sub/deep er/.gitattributes", "ü.lock -merge\n"],
    ["the user's own file", "pkg.lock", ".git/info/attributes", "pkg.lock -merge\n"],
  ])("%s: changes of both sides are a conflict, and nothing is left behind", async (_, file, rules, text) => {
    const world = await worldWith(file, (repo) => put(repo, rules, text));
    const before = leftovers();
    expect(await second(world, file, apart)).toMatchObject({ type: "conflict", files: [file] });
    expect(leftovers()).toEqual(before);
    expect(existsSync(join(world.mirror.path, "info/attributes"))).toBe(false);
  });

  test("the same files merge by lines where nothing is said of them", async () => {
    const world = await worldWith("sub/pkg.lock", (repo) => put(repo, "docs/.gitattributes", "*.lock -merge\n"));
    const proposal = await second(world, "sub/pkg.lock", apart);
    if (proposal.type !== "proposed") throw new Error(JSON.stringify(proposal));
    expect(contentOf(world, proposal.commit, "sub/pkg.lock")).toBe(lines("A", "L").trimEnd());
  });

  test.each([
    [".gitattributes", "CHANGES merge=union\n"],
    [".git/info/attributes", "# mine\nCHANGES merge=union\n"],
  ])("merge=union in %s is no conflict", async (rules, text) => {
    const world = await worldWith("CHANGES", (repo) => put(repo, rules, text));
    const proposal = await second(world, "CHANGES", together);
    if (proposal.type !== "proposed") throw new Error(JSON.stringify(proposal));
    expect(contentOf(world, proposal.commit, "CHANGES")).toBe(`${lines("a", "l")}one\ntwo`);
    expect(sh(world.mirror.path, `git log -1 --format=%an:%s ${proposal.commit}`)).toBe("Ada:Merge two: two");
  });

  test("a driver of the user's own settings merges, whatever it says meanwhile", async () => {
    const world = await worldWith("CHANGES", (repo) => {
      put(repo, ".gitattributes", "CHANGES merge=mine\n");
      sh(repo, `git config merge.mine.driver 'echo busy; cat %B >>%A'`);
    });
    const proposal = await second(world, "CHANGES", together);
    if (proposal.type !== "proposed") throw new Error(JSON.stringify(proposal));
    expect(contentOf(world, proposal.commit, "CHANGES")).toBe(`${together[0]}${together[1]}`.trimEnd());
  });

  test("a driver that needs files of the repository is a conflict, one that nobody has defined merges by lines", async () => {
    const world = await worldWith("CHANGES", (repo) => {
      put(repo, ".gitattributes", "CHANGES merge=mine\n");
      sh(repo, "git config merge.mine.driver './merge.sh %A %B'");
    });
    expect(await second(world, "CHANGES", apart)).toMatchObject({ type: "conflict", files: ["CHANGES"] });
    sh(world.repo, "git config --unset merge.mine.driver");
    await openMirror({ repoPath: world.repo, mirrorPath: world.mirror.path });
    const head = sh(world.mirror.path, "git rev-parse refs/heads/ratchet/two");
    expect(await propose(world, "two", head)).toMatchObject({ type: "proposed", merged: true });
  });

  test("they hold for the user's branch beside the landed line, too, and from packed commits", async () => {
    const world = await worldWith("pkg.lock", (repo) => {
      put(repo, "sub/x", "x\n");
      put(repo, ".gitattributes", "pkg.lock -merge\n");
    });
    sh(world.mirror.path, "git repack -adq");
    const head = await work(world, "one", "pkg.lock", lines("A", "l"));
    const first = await propose(world, "one", head);
    if (first.type !== "proposed") throw new Error(JSON.stringify(first));
    await commitLanding(world.mirror, { target: "main", ...first });
    put(world.repo, "pkg.lock", lines("a", "L"));
    sh(world.repo, "git commit -qam mine");
    expect(await tipOf(world.mirror, "main")).toMatchObject({ type: "conflict", files: ["pkg.lock"] });
  });

  test("a repository on this machine that is merged in keeps to them as well", async () => {
    const world = await worldWith("pkg.lock", (repo) => put(repo, ".gitattributes", "pkg.lock -merge\n"));
    sh(world.repo, "git checkout -q -b side");
    put(world.repo, "pkg.lock", lines("A", "l"));
    sh(world.repo, "git commit -qam side && git checkout -q main");
    put(world.repo, "pkg.lock", lines("a", "L"));
    sh(world.repo, "git commit -qam mine");
    const remote = join(world.home, "remote.git");
    sh(world.home, `git clone -q --bare repo ${remote}`);
    const [base = "", side = ""] = sh(remote, "git rev-parse main side").split("\n");
    expect(await openLocalRemote(remote).canMerge(base, side)).toBe(false);
    expect(await openLocalRemote(world.repo).canMerge(base, side)).toBe(false);
  });
});

function leftovers(): readonly string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith("ratchet-merge-"));
}
