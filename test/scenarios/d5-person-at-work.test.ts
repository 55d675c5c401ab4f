import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { commitLanding, followTarget, proposeLanding } from "../../src/git/landing/land.js";
import { wasRewound } from "../../src/git/landing/tip.js";
import { tipOf } from "../../src/git/mirror/mirror.js";
import { catchUpTarget } from "../../src/git/users-branch/follow.js";
import { snapshot } from "../../src/git/worktree/worktree.js";
import { branchesBehind } from "../../src/run/behind.js";
import { commit, identity, makeWorld, open, put, read, sh, type World } from "../contract/git-fixture.js";
import { until } from "../contract/process-support.js";

const behindIn = async ({ repo, mirror }: World) =>
  await branchesBehind({ repoPath: repo, mirrorPath: mirror.path }, async () => ["main"]);

async function ready(world: World, issue: string, name: string): Promise<string> {
  const { path } = await open(world, issue);
  commit(path, name, `${issue}\n`);
  return (await snapshot(path, { base: world.base, docsPatterns: [] })).head;
}

function propose(world: World, issue: string, head: string) {
  return proposeLanding(world.mirror, { target: "main", head, message: { issue, title: "t", run: "r" }, identity });
}

async function land(world: World, issue: string, head: string): Promise<{ commit: string; behind: string | null }> {
  const proposal = await propose(world, issue, head);
  if (proposal.type !== "proposed") throw new Error(JSON.stringify(proposal));
  expect(await commitLanding(world.mirror, { target: "main", ...proposal })).toEqual({ type: "landed" });
  const { behind } = await followTarget(world.mirror, { target: "main", commit: proposal.commit });
  return { commit: proposal.commit, behind };
}

describe("D5 a person commits to the target during the run", () => {
  test("D5 their commit is in what lands next, and stays on their branch", async () => {
    const world = await makeWorld();
    const head = await ready(world, "one", "one.txt");
    const theirs = commit(world.repo, "mine.txt", "mine");
    const { behind } = await land(world, "one", head);
    expect(behind).toBeNull();
    expect(read(world.repo, "one.txt") + read(world.repo, "mine.txt")).toBe("one\nmine");
    sh(world.repo, `git merge-base --is-ancestor ${theirs} main`);
    expect(sh(world.repo, "git status --porcelain")).toBe("");
  });

  test("D5 a commit between proposal and landing makes the proposal stale", async () => {
    const world = await makeWorld();
    const head = await ready(world, "one", "one.txt");
    const proposal = await propose(world, "one", head);
    commit(world.repo, "mine.txt", "mine");
    if (proposal.type !== "proposed") throw new Error(proposal.type);
    expect(await commitLanding(world.mirror, { target: "main", ...proposal })).toEqual({ type: "moved" });
    expect((await land(world, "one", head)).behind).toBeNull();
    expect(read(world.repo, "mine.txt")).toBe("mine");
  });

  test("D5 a commit of theirs while the branch is behind is merged mechanically onto the line", async () => {
    const world = await makeWorld();
    const [one, two] = [await ready(world, "one", "a.txt"), await ready(world, "two", "two.txt")];
    put(world.repo, "a.txt", "their edit");
    expect((await land(world, "one", one)).behind).toContain("main is behind");
    sh(world.repo, "git stash -q");
    const theirs = commit(world.repo, "mine.txt", "mine");
    expect(await tipOf(world.mirror, "main")).toMatchObject({ type: "tip", merged: true });
    expect((await land(world, "two", two)).behind).toBeNull();
    sh(world.repo, `git merge-base --is-ancestor ${theirs} main && git stash list | grep -q stash`);
    expect(sh(world.repo, "cat a.txt two.txt mine.txt")).toBe("one\ntwo\nmine");
  });

  test("D5 where line and branch conflict, only work that has merged both can land", async () => {
    const world = await makeWorld();
    const [one, two] = [await ready(world, "one", "a.txt"), await ready(world, "two", "two.txt")];
    put(world.repo, "a.txt", "their edit");
    await land(world, "one", one);
    const theirs = sh(world.repo, "git commit -qam theirs && git rev-parse HEAD");
    expect(await tipOf(world.mirror, "main")).toMatchObject({ type: "conflict", sha: one, theirs, files: ["a.txt"] });
    expect(await propose(world, "two", two)).toEqual({ type: "conflict", tip: theirs, files: ["a.txt"] });
    const path = join(world.home, "worktrees/two");
    sh(path, `git merge -q ${theirs} && git merge -q ${one} || true; printf both > a.txt; git commit -qam both`);
    const { head } = await snapshot(path, { base: world.base, docsPatterns: [] });
    expect(await land(world, "two", head)).toEqual({ commit: head, behind: null });
    expect(read(world.repo, "a.txt")).toBe("both");
  });
});

describe("D5 a person's commit moves the branch while the checkout is brought forward", () => {
  /**
   * Once git writes `late.txt` into their checkout, and so before it moves the branch, their commit of `mine.txt` is on
   * it: the commit was begun before, and needs the index no more. `also`: what else happens in that moment.
   */
  function commitLate(world: World, also = ""): string {
    const script = join(world.home, "smudge.sh");
    const before = sh(world.repo, "git rev-parse HEAD");
    put(world.repo, "mine.txt", "mine\n");
    sh(world.repo, "git add mine.txt");
    const theirs = sh(world.repo, `git commit-tree -p ${before} -m mine $(git write-tree)`);
    const move = `git update-ref refs/heads/main ${theirs} ${before}`;
    const once = `[ "$PWD" != "${world.repo}" ] || [ -e "$0.done" ] || { : >"$0.done"; ${move}; ${also} }`;
    put(world.home, "smudge.sh", `${once}; exec cat\n`);
    put(world.repo, ".git/info/attributes", "late.txt filter=late\n");
    sh(world.repo, `git config filter.late.smudge "sh '${script}'"`);
    return theirs;
  }

  /** Also where all of it lands in files that are there already, and that others have changed since. */
  async function twoReady(world: World): Promise<readonly [string, string]> {
    const [one, two] = [await open(world, "one"), await open(world, "two")];
    put(one.path, "a.txt", "one\na\n");
    commit(one.path, "late.txt", "one\n");
    commit(two.path, "a.txt", "a\ntwo\n");
    const heads = [one, two].map(({ path }) => snapshot(path, { base: world.base, docsPatterns: [] }));
    const [first, second] = await Promise.all(heads);
    return [first?.head ?? "", second?.head ?? ""];
  }

  const looks = (world: World) => sh(world.repo, "git status --porcelain; git log -1 --format=%s; ls; cat a.txt");

  test.each([
    ["the first landing", false],
    ["a later landing", true],
  ])("D5 %s: nothing of the issue is left in it, and the next brings both", async (_, later) => {
    const world = await makeWorld();
    if (later) expect((await land(world, "zero", await ready(world, "zero", "zero.txt"))).behind).toBeNull();
    const [one, two] = await twoReady(world);
    const theirs = commitLate(world);
    put(world.repo, "src/code.ts", "theirs\n");
    put(world.repo, "docs/guide.md", "theirs\n");
    sh(world.repo, "git add docs");
    const { behind } = await land(world, "one", one);
    expect(behind).toBe("main is behind: it has commits of its own, run `git merge refs/ratchet/landed/main`");
    expect(sh(world.repo, "git rev-parse HEAD")).toBe(theirs);
    const files = `a.txt\ndocs\nmine.txt\nsrc\n${later ? "zero.txt\n" : ""}`;
    expect(looks(world)).toBe(`M  docs/guide.md\n M src/code.ts\nmine\n${files}a`);
    expect((await land(world, "two", two)).behind).toBeNull();
    expect(sh(world.repo, "git status --porcelain; cat a.txt late.txt mine.txt")).toBe(
      "M  docs/guide.md\n M src/code.ts\none\na\ntwo\none\nmine",
    );
  });

  test("D5 what they write into such a file at that moment stays, and is not staged", async () => {
    const world = await makeWorld();
    const [one] = await twoReady(world);
    commitLate(world, "echo theirs >a.txt;");
    expect((await land(world, "one", one)).behind).toContain("main is behind: ");
    expect(looks(world)).toBe(" M a.txt\nmine\na.txt\ndocs\nmine.txt\nsrc\ntheirs");
  });

  test("D5 where Ratchet is killed then, the next one takes it back", async () => {
    const world = await makeWorld();
    commitLate(world, 'kill -9 "$(cat "$(dirname "$0")/pid")";');
    const child = spawn(process.execPath, ["dist-test/git-land.mjs", world.repo, world.home, "late", "1"], {
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, LANDED_FILE: "late.txt" },
    });
    put(world.home, "pid", String(child.pid));
    expect((await once(child, "exit"))[1]).toBe("SIGKILL");
    const { path } = await open(world, "two", {
      base: sh(world.mirror.path, "git rev-parse refs/ratchet/landed/main"),
    });
    commit(path, "late.txt", "two\n");
    const { head } = await snapshot(path, { base: world.base, docsPatterns: [] });
    expect((await land(world, "two", head)).behind).toBeNull();
    expect(sh(world.repo, "git status --porcelain; cat late.txt mine.txt")).toBe("two\nmine");
  });
});

describe("D5 Ratchet and its git are killed while the checkout is brought forward", () => {
  /**
   * As a power cut leaves it: `a.txt` and `early.txt` are the landed line's already, `late.txt` is not there yet, and git's
   * lock is. `also`: what a person has done before, in their checkout.
   */
  async function cutOff(later: boolean, also = "") {
    const world = await makeWorld();
    if (later) expect((await land(world, "zero", await ready(world, "zero", "zero.txt"))).behind).toBeNull();
    const { path } = await open(world, "one", { base: sh(world.repo, "git rev-parse HEAD") });
    for (const name of ["early.txt", "late.txt", "sub/new.txt"]) put(path, name, "one\ntwo\n");
    sh(path, "ln -s a.txt a-link; chmod +x src/code.ts; git rm -q docs/guide.md");
    commit(path, "a.txt", "one\n");
    const { head } = await snapshot(path, { base: world.base, docsPatterns: [] });
    const proposal = await propose(world, "one", head);
    if (proposal.type !== "proposed") throw new Error(JSON.stringify(proposal));
    expect(await commitLanding(world.mirror, { target: "main", ...proposal })).toEqual({ type: "landed" });
    put(
      world.home,
      "smudge.sh",
      `[ -e "$0.done" ] && exec cat; : >"$0.done"; kill -9 "$(cat "$(dirname "$0")/pid")" 0\n`,
    );
    put(world.repo, ".git/info/attributes", "late.txt filter=late\n");
    sh(world.repo, `git config filter.late.smudge "sh '${join(world.home, "smudge.sh")}'"`);
    sh(world.repo, also || ":");
    const child = spawn(process.execPath, ["dist-test/git-follow.mjs", world.repo, world.home], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    put(world.home, "pid", String(child.pid));
    expect((await once(child, "exit"))[1]).toBe("SIGKILL");
    return world;
  }

  const catchUp = (world: World) => catchUpTarget(world.mirror, "main");
  const whole = "a-link\na.txt\nearly.txt\nlate.txt\nsrc\nsub";

  test.each([
    ["the first landing", false, whole],
    ["a later landing", true, `${whole}\nzero.txt`],
  ])("D5 %s is brought forward by the next", async (_, later, files) => {
    const world = await cutOff(later);
    const left = sh(world.repo, "git status --porcelain; ls .git/index.lock");
    expect(left).toBe(" M a.txt\n D docs/guide.md\n?? a-link\n?? early.txt\n.git/index.lock");
    expect(await catchUp(world)).toEqual({ behind: null });
    expect(sh(world.repo, "git status --porcelain; git diff HEAD; ls; cat a.txt late.txt")).toBe(
      `${files}\none\none\ntwo`,
    );
  });

  test("D5 files that are written in half go with the others; what a person does meanwhile stays", async () => {
    const world = await cutOff(false, "echo theirs >>.gitignore; echo theirs >new.txt");
    for (const name of ["late.txt", "a.txt"]) put(world.repo, name, "on");
    put(world.repo, "sub/new.txt", "");
    expect(await catchUp(world)).toEqual({ behind: null });
    expect(sh(world.repo, "git status --porcelain; cat .gitignore new.txt a.txt late.txt")).toBe(
      " M .gitignore\n?? new.txt\nbuild/\ntheirs\ntheirs\none\none\ntwo",
    );
  });

  test("D5 where a person has written into such files since, theirs are kept and named, and the others go", async () => {
    const world = await cutOff(false);
    put(world.repo, "a.txt", "theirs\n");
    put(world.repo, "late.txt", "theirs\n");
    expect((await catchUp(world)).behind).toContain("main is behind: uncommitted changes in a.txt");
    expect(sh(world.repo, "git status --porcelain; cat a.txt late.txt")).toBe(" M a.txt\n?? late.txt\ntheirs\ntheirs");
    sh(world.repo, "git checkout -q a.txt; rm late.txt");
    expect(await catchUp(world)).toEqual({ behind: null });
    expect(sh(world.repo, "git status --porcelain; ls")).toBe(whole);
  });

  test("D5 on another branch of theirs by then, all of it is taken back, and what was deleted is there again", async () => {
    const world = await cutOff(false);
    sh(world.repo, "rm .git/index.lock; git checkout -q -b hotfix");
    expect(await catchUp(world)).toEqual({ behind: null });
    expect(sh(world.repo, "git status --porcelain; git branch --show-current; ls; cat docs/guide.md")).toBe(
      "hotfix\na.txt\ndocs\nsrc\n# Guide",
    );
  });

  test("D5 what they have of other commits by then, staged or not, is not what the merge has written", async () => {
    const world = await cutOff(true);
    sh(world.repo, "rm .git/index.lock; git reset -q --hard; git clean -fdq; git checkout -q -b older HEAD~1");
    sh(
      world.repo,
      "git checkout main -- zero.txt; echo theirs >src/code.ts; git add src; git show main:zero.txt >copy.txt",
    );
    const before = sh(world.repo, "git status --porcelain; cat zero.txt copy.txt src/code.ts");
    await catchUp(world);
    expect(sh(world.repo, "git status --porcelain; cat zero.txt copy.txt src/code.ts")).toBe(before);
  });

  test("D5 what they write a while later stays, though it is as the landed file is, or begins like that", async () => {
    const world = await cutOff(false);
    sh(world.repo, "rm .git/index.lock; sleep 2.5; : >late.txt; echo theirs >>src/code.ts");
    put(world.repo, "sub/new.txt", "one\ntwo\n");
    sh(world.repo, "git add sub");
    expect((await catchUp(world)).behind).toContain("main is behind: ");
    expect(sh(world.repo, "git status --porcelain")).toBe(" M src/code.ts\nA  sub/new.txt\n?? late.txt");
  });

  test("D5 where they have put the branch back since, that is not overruled", async () => {
    const world = await cutOff(true);
    sh(world.repo, "rm .git/index.lock; git reset -q --hard; git clean -fdq");
    const landed = sh(world.mirror.path, "git rev-parse refs/ratchet/landed/main");
    sh(world.repo, "git reset -q --hard HEAD~1");
    const { behind } = await followTarget(world.mirror, { target: "main", commit: landed });
    expect(behind).toContain("main was rewound: run `git merge refs/ratchet/landed/main`, or let the landed work go");
    expect(sh(world.repo, "git status --porcelain; git log --format=%s")).toBe("first");
  });

  test("D5 where they have let all of it go, and it is nowhere any more, the next landing is followed", async () => {
    const world = await cutOff(true);
    const two = await ready(world, "two", "two.txt");
    sh(world.repo, "rm .git/index.lock; git reset -q --hard HEAD~1; git clean -fdq");
    sh(
      world.repo,
      "git update-ref -d refs/ratchet/landed/main; git reflog expire --expire=now --all; git gc -q --prune=now",
    );
    expect((await land(world, "two", two)).behind).toBeNull();
    expect(sh(world.repo, "git status --porcelain; git ls-files '*.txt'")).toBe("a.txt\ntwo.txt");
  });

  test("D5 a file of theirs in the place of a folder keeps only what was below it from coming back", async () => {
    const world = await cutOff(false);
    sh(world.repo, "rm -rf .git/index.lock src docs; echo theirs >docs; git checkout -q -b hotfix");
    expect(await catchUp(world)).toEqual({ behind: null });
    expect(sh(world.repo, "git status --porcelain; ls src; cat docs")).toBe(
      " D docs/guide.md\n?? docs\ncode.ts\ntheirs",
    );
  });

  test("D5 its lock goes, whoever works there, unless nothing tells whose it is", async () => {
    const world = await cutOff(false);
    // As one of git's own, or one whose text did not come to the disk.
    put(world.repo, ".git/index.lock", "");
    const somebody = spawn("git", ["hash-object", "--stdin"], { cwd: world.repo });
    await once(somebody, "spawn");
    expect((await catchUp(world)).behind).toContain("index.lock is there, run `git merge");
    expect(existsSync(join(world.repo, ".git/index.lock"))).toBe(true);
    somebody.stdin.end();
    await once(somebody, "exit");
    expect(await catchUp(world)).toEqual({ behind: null });
    const other = await cutOff(false);
    const waiting = spawn("git", ["hash-object", "--stdin"], { cwd: other.repo });
    await once(waiting, "spawn");
    expect(await catchUp(other)).toEqual({ behind: null });
    waiting.stdin.end();
    expect(sh(other.repo, "ls .git | grep index")).toBe("index");
  });
});

describe("D5 git cannot go on while the checkout is brought forward", () => {
  /**
   * A required filter of `filtered` fails in their checkout from the moment in which git comes to `late.txt`; until then
   * git has written `a.txt` and `early.txt`, and deleted `docs/guide.md`.
   */
  async function goneDown(filtered: string) {
    const world = await makeWorld();
    const script = join(world.home, "smudge.sh");
    const once = '[ "$1" != late.txt ] || [ -e "$0.back" ] || : >"$0.down"; [ -e "$0.down" ] && exit 1';
    put(world.home, "smudge.sh", `[ "$PWD" = "${world.repo}" ] || exec cat; ${once}; exec cat\n`);
    put(world.repo, ".git/info/attributes", `${filtered} filter=late\n`);
    sh(world.repo, `git config filter.late.smudge "sh '${script}' %f"; git config filter.late.required true`);
    sh(world.repo, "git config filter.late.clean cat; git status");
    const { path } = await open(world, "one");
    for (const name of ["early.txt", "late.txt"]) put(path, name, "one\ntwo\n");
    sh(path, "git rm -q docs/guide.md");
    commit(path, "a.txt", "one\n");
    const { head } = await snapshot(path, { base: world.base, docsPatterns: [] });
    const { behind } = await land(world, "one", head);
    expect(behind).toMatch(/^main is behind: external filter '.*' failed 1, run `git merge/);
    const back = () => sh(world.home, "touch smudge.sh.back; rm smudge.sh.down");
    return { world, back };
  }

  const catchUp = (world: World) => catchUpTarget(world.mirror, "main");
  const looks = (world: World) => sh(world.repo, "git status --porcelain; ls");

  test("D5 what it has written is taken back at once, and git's own reason is told until it is gone", async () => {
    const { world, back } = await goneDown("late.txt");
    expect(looks(world)).toBe("a.txt\ndocs\nsrc");
    expect((await catchUp(world)).behind).toContain("external filter");
    expect(looks(world)).toBe("a.txt\ndocs\nsrc");
    back();
    expect(await catchUp(world)).toEqual({ behind: null });
    expect(looks(world)).toBe("a.txt\nearly.txt\nlate.txt\nsrc");
  });

  test("D5 what cannot be taken back either is taken back by the next that can", async () => {
    const { world, back } = await goneDown("*.txt");
    sh(world.repo, "echo theirs >new.txt; echo theirs >>.gitignore");
    expect((await catchUp(world)).behind).toContain("external filter");
    back();
    expect(await catchUp(world)).toEqual({ behind: null });
    expect(looks(world)).toBe(" M .gitignore\n?? new.txt\na.txt\nearly.txt\nlate.txt\nnew.txt\nsrc");
  });

  test("D5 what a person makes afterwards is theirs at once, though it is as the landed file is", async () => {
    const { world, back } = await goneDown("*.txt");
    put(world.repo, "late.txt", "one\ntwo\n");
    back();
    expect((await catchUp(world)).behind).toContain("untracked late.txt would be overwritten");
    expect(looks(world)).toBe("?? late.txt\na.txt\ndocs\nlate.txt\nsrc");
  });
});

describe("D5 in the very moment in which git brings the checkout forward", () => {
  /** What a person does right before git begins with it, or right after it has ended. */
  function meanwhile(world: World, { before = ":", after = ":" }: { before?: string; after?: string }) {
    const script = `#!/bin/sh
git() { ${sh("/", "command -v git")} "$@"; }
case "$*" in *"merge --ff-only"*) [ -e "$0.done" ] || {
  : >"$0.done"; (unset GIT_INDEX_FILE; ${before}); git "$@"; code=$?; (unset GIT_INDEX_FILE; ${after}); exit $code; } ;;
esac
git "$@"
`;
    put(world.home, "bin/git", script);
    chmodSync(join(world.home, "bin/git"), 0o755);
    const { PATH } = process.env;
    process.env.PATH = `${join(world.home, "bin")}:${PATH}`;
    onTestFinished(() => {
      process.env.PATH = PATH;
    });
  }

  const landings = [
    ["the first landing", false],
    ["a later landing", true],
  ] as const;

  async function readyWorld(later: boolean) {
    const world = await makeWorld();
    sh(world.repo, "git branch release");
    const one = await ready(world, "one", "one.txt");
    if (later) expect((await land(world, "zero", await ready(world, "zero", "zero.txt"))).behind).toBeNull();
    return { world, one, start: sh(world.repo, "git rev-parse main") };
  }

  test.each(landings)("D5 %s is not brought forward again where they put the branch back", async (_, later) => {
    const { world, one, start } = await readyWorld(later);
    meanwhile(world, { after: "git reset -q --soft HEAD~1" });
    expect((await land(world, "one", one)).behind).toBe(wasRewound("main"));
    expect((await catchUpTarget(world.mirror, "main")).waits).toBe(wasRewound("main"));
    expect(sh(world.repo, "git rev-parse main; git status --porcelain")).toBe(`${start}\nA  one.txt`);
  });

  test.each(landings)("D5 %s lets nobody stage or switch, who would be told", async (_, later) => {
    const { world, one } = await readyWorld(later);
    put(world.repo, "mine.txt", "mine\n");
    meanwhile(world, { before: "git add mine.txt && touch ../in; git switch -q release && touch ../in" });
    const { commit: landed, behind } = await land(world, "one", one);
    expect([behind, existsSync(join(world.home, "in"))]).toEqual([null, false]);
    expect(sh(world.repo, "git rev-parse main; git status --porcelain")).toBe(`${landed}\n?? mine.txt`);
    expect(sh(world.repo, "ls .git | grep index")).toBe("index");
  });

  test.each(landings)(
    "D5 %s: what they have staged while git reads the index is staged afterwards",
    async (_, later) => {
      const { world, one } = await readyWorld(later);
      // git asks a filter about a file that was touched, before it locks anything.
      const add = "unset GIT_INDEX_FILE; git add mine.txt && touch ../staged";
      put(world.home, "clean.sh", `[ -e "$0.done" ] || { : >"$0.done"; (${add}) >&2; }; exec cat\n`);
      put(world.repo, "mine.txt", "mine\n");
      put(world.repo, ".git/info/attributes", "a.txt filter=slow\n");
      sh(world.repo, `touch -d tomorrow a.txt; git config filter.slow.clean "sh '${join(world.home, "clean.sh")}'"`);
      expect((await land(world, "one", one)).behind).toBeNull();
      expect(existsSync(join(world.home, "clean.sh.done"))).toBe(true);
      const mine = existsSync(join(world.home, "staged")) ? "A  mine.txt" : "?? mine.txt";
      expect(sh(world.repo, "git status --porcelain")).toBe(mine);
    },
  );

  test.each(landings)("D5 %s leaves nothing of it on a branch that they switch to meanwhile", async (_, later) => {
    const { world, one } = await readyWorld(later);
    sh(world.repo, "git branch -f release");
    // The last thing that git does when it switches.
    meanwhile(world, { after: "git symbolic-ref HEAD refs/heads/release" });
    const { commit: landed, behind } = await land(world, "one", one);
    expect([behind, sh(world.repo, "git rev-parse main")]).toEqual([null, landed]);
    expect(sh(world.repo, "git branch --show-current; git status --porcelain")).toBe("release");
  });

  test.each(landings)(
    "D5 %s that moves a branch which they switch to says so, and how to put it back",
    async (...args) => {
      const { world, one } = await readyWorld(args[1]);
      meanwhile(world, { before: "git symbolic-ref HEAD refs/heads/release" });
      const { commit: landed, behind } = await land(world, "one", one);
      const back = `git reset --keep ${world.base.slice(0, 12)}`;
      expect(behind).toContain(
        `release was checked out at the same moment and was brought forward in its place, run \`${back}\` on release`,
      );
      expect(await behindIn(world)).toEqual([expect.stringContaining(back)]);
      sh(world.repo, back);
      expect(await catchUpTarget(world.mirror, "main")).toEqual({ behind: null });
      const now = "git rev-parse main release; git branch --show-current; git status --porcelain";
      expect(sh(world.repo, now)).toBe(`${landed}\n${world.base}\nrelease`);
    },
  );
});

describe("D5 a person switches to the branch in the very moment in which it is moved", () => {
  async function readyWorld() {
    const world = await makeWorld();
    const one = await ready(world, "one", "one.txt");
    expect((await land(world, "zero", await ready(world, "zero", "zero.txt"))).behind).toBeNull();
    sh(world.repo, "git switch -q -c side");
    return { world, one };
  }
  const looks = (world: World) => sh(world.repo, "git status --porcelain --branch; ls *.txt");
  const followed = "## main\na.txt\none.txt\nzero.txt";

  test("D5 a switch that has read where it was, and has yet to write HEAD, is waited for", async () => {
    const { world, one } = await readyWorld();
    const before = sh(world.repo, "git rev-parse main");
    // git runs this one between index and HEAD. It waits for what must not be: at most a second.
    const isThere = `[ "$(git rev-parse main)" = ${before} ] && [ $n -lt 20 ]`;
    const hook = `: >../switching; n=0; while ${isThere}; do n=$((n+1)); sleep 0.05; done`;
    put(world.repo, ".git/hooks/post-index-change", `#!/bin/sh\n${hook}\n`);
    sh(world.repo, "chmod +x .git/hooks/post-index-change");
    const person = spawn("git", ["switch", "-q", "main"], { cwd: world.repo, stdio: "ignore" });
    await expect.poll(() => existsSync(join(world.home, "switching")), { timeout: 5000 }).toBe(true);
    const { behind } = await land(world, "one", one);
    if (person.exitCode === null) await once(person, "exit");
    expect([behind, looks(world)]).toEqual([null, followed]);
  });

  /** What happens right after the branch was moved, before anybody has looked. */
  function afterwards(world: World, does: string) {
    const script = `#!/bin/sh
git() { ${sh("/", "command -v git")} "$@"; }
case "$PWD $*" in "${world.repo} "*update-ref*) [ -e "$0.done" ] || {
  : >"$0.done"; git "$@"; code=$?; ${does}; exit $code; } ;;
esac
git "$@"
`;
    put(world.home, "bin/git", script);
    chmodSync(join(world.home, "bin/git"), 0o755);
    return `${join(world.home, "bin")}:${process.env.PATH}`;
  }

  test("D5 one that nobody has seen is found by its HEAD, and brought forward", async () => {
    const { world, one } = await readyWorld();
    const { PATH } = process.env;
    process.env.PATH = afterwards(world, "git symbolic-ref HEAD refs/heads/main");
    onTestFinished(() => {
      process.env.PATH = PATH;
    });
    expect([(await land(world, "one", one)).behind, looks(world)]).toEqual([null, followed]);
    expect(existsSync(join(world.home, "bin/git.done"))).toBe(true);
  });

  test("D5 nobody can begin one, in no worktree, and where Ratchet is killed then, the next lets them", async () => {
    const { world, one } = await readyWorld();
    sh(world.repo, "git worktree add -q -b other ../other");
    const proposal = await propose(world, "one", one);
    if (proposal.type !== "proposed") throw new Error(JSON.stringify(proposal));
    expect(await commitLanding(world.mirror, { target: "main", ...proposal })).toEqual({ type: "landed" });
    const begin = "for at in . ../other; do git -C $at switch -q main 2>>../said; done";
    const PATH = afterwards(world, `${begin}; kill -9 "$(cat '${world.home}/pid')" $$`);
    const child = spawn(process.execPath, ["dist-test/git-follow.mjs", world.repo, world.home], {
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, PATH },
    });
    put(world.home, "pid", String(child.pid));
    expect((await once(child, "exit"))[1]).toBe("SIGKILL");
    expect(read(world.home, "said").match(/index\.lock': File exists/g)).toHaveLength(2);
    put(world.home, "other/theirs.txt", "theirs\n");
    await followTarget(world.mirror, { target: "main", commit: proposal.commit });
    sh(world.repo, "git switch -q main; git -C ../other add .");
    expect([sh(world.repo, "git rev-parse main"), looks(world)]).toEqual([proposal.commit, followed]);
  });

  test("D5 a lock of theirs in another worktree is waited for, then said, and never removed", async () => {
    const { world, one } = await readyWorld();
    sh(world.repo, "git worktree add -q -b other ../other");
    put(world.repo, ".git/worktrees/other/index.lock", "");
    expect((await land(world, "one", one)).behind).toMatch(
      /^main is behind: git is locked: .*other\/index.lock is there/,
    );
    sh(world.repo, "[ ! -e .git/index.lock ] && rm .git/worktrees/other/index.lock");
    expect(await catchUpTarget(world.mirror, "main")).toEqual({ behind: null });
  });
});

describe("D5 Ratchet and its git are killed when the branch has moved, before that is noted", () => {
  /** In the place of git: once the branch is at what has landed, whoever is to note that in the mirror is no more. */
  const killer = (world: World) => `#!/bin/sh
git() { ${sh("/", "command -v git")} "$@"; }
case "$PWD $*" in "${world.mirror.path} "*update-ref*)
  [ "$(git -C '${world.repo}' rev-parse main)" = "$(git rev-parse refs/ratchet/landed/main)" ] &&
    kill -9 "$(cat '${world.home}/pid')" $PPID $$ ;;
esac
git "$@"
`;

  async function killedUntold(later: boolean, checkout: string) {
    const world = await makeWorld();
    const two = await ready(world, "two", "two.txt");
    if (later) expect((await land(world, "zero", await ready(world, "zero", "zero.txt"))).behind).toBeNull();
    const before = sh(world.repo, "git rev-parse HEAD");
    const proposal = await propose(world, "one", await ready(world, "one", "one.txt"));
    if (proposal.type !== "proposed") throw new Error(JSON.stringify(proposal));
    expect(await commitLanding(world.mirror, { target: "main", ...proposal })).toEqual({ type: "landed" });
    sh(world.repo, checkout);
    put(world.home, "bin/git", killer(world));
    chmodSync(join(world.home, "bin/git"), 0o755);
    const child = spawn(process.execPath, ["dist-test/git-follow.mjs", world.repo, world.home], {
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, PATH: `${join(world.home, "bin")}:${process.env.PATH}` },
    });
    put(world.home, "pid", String(child.pid));
    expect((await once(child, "exit"))[1]).toBe("SIGKILL");
    expect(sh(world.repo, "git rev-parse main")).toBe(proposal.commit);
    sh(world.repo, "git checkout -q main");
    return { world, before, two, landed: proposal.commit };
  }

  const gaps = [
    ["the first landing", false, "true"],
    ["a later landing", true, "true"],
    ["a landing on a branch that is not checked out", true, "git checkout -q --detach"],
  ] as const;

  test.each(gaps)("D5 %s that they let go does not come back", async (_, later, checkout) => {
    const { world, before, two, landed } = await killedUntold(later, checkout);
    sh(world.repo, `git reset -q --hard ${before} && git update-ref -d refs/ratchet/landed/main`);
    expect(await behindIn(world)).toEqual([]);
    expect((await land(world, "two", two)).behind).toBeNull();
    expect(sh(world.repo, "git ls-files one.txt two.txt; git status --porcelain")).toBe("two.txt");
    expect(sh(world.mirror.path, `git rev-parse refs/ratchet/dropped/${landed}`)).toBe(landed);
  });

  test.each(gaps)("D5 %s is not brought forward again where they have put the branch back", async (...args) => {
    const [, later, checkout] = args;
    const { world, before, two, landed } = await killedUntold(later, checkout);
    // As it is for somebody who wants to commit it otherwise: what they have staged is theirs.
    sh(world.repo, `git reset -q --soft ${before}`);
    expect((await catchUpTarget(world.mirror, "main")).waits).toContain("main was rewound");
    expect(await propose(world, "two", two)).toMatchObject({ type: "waits" });
    expect(sh(world.repo, "git status --porcelain")).toContain("A  one.txt");
    // The landing that was killed is gone on with.
    sh(world.repo, "git reset -q --hard");
    expect(await behindIn(world)).toEqual([wasRewound("main")]);
    const { behind } = await followTarget(world.mirror, { target: "main", commit: landed });
    expect(behind).toBe(wasRewound("main"));
    expect(sh(world.repo, "git rev-parse main")).toBe(before);
  });

  test.each(gaps)("D5 %s is built on where they have left it", async (_, later, checkout) => {
    const { world, two } = await killedUntold(later, checkout);
    expect((await land(world, "two", two)).behind).toBeNull();
    expect(sh(world.repo, "git ls-files one.txt two.txt; git status --porcelain")).toBe("one.txt\ntwo.txt");
  });
});

describe("D5 a person has uncommitted changes in their checkout", () => {
  test("D5 unrelated changes, staged, unstaged and untracked, stay as they are while the branch follows", async () => {
    const world = await makeWorld();
    put(world.repo, "docs/guide.md", "staged");
    sh(world.repo, "git add docs/guide.md");
    put(world.repo, "src/code.ts", "unstaged");
    put(world.repo, "notes.txt", "untracked");
    const before = sh(world.repo, "git status --porcelain");
    expect((await land(world, "one", await ready(world, "one", "one.txt"))).behind).toBeNull();
    expect(sh(world.repo, "git status --porcelain")).toBe(before);
    expect(sh(world.repo, "cat docs/guide.md src/code.ts notes.txt one.txt")).toBe("stagedunstageduntrackedone");
  });

  test("D5 overlapping changes are not touched; the line that is said brings the branch up to date", async () => {
    const world = await makeWorld();
    put(world.repo, "a.txt", "their edit");
    const { commit: landed, behind } = await land(world, "one", await ready(world, "one", "a.txt"));
    expect(behind).toBe(
      "main is behind: uncommitted changes in a.txt are in the way, run `git merge --ff-only --no-overwrite-ignore refs/ratchet/landed/main`",
    );
    expect(read(world.repo, "a.txt")).toBe("their edit");
    expect(sh(world.repo, "git rev-parse main")).toBe(world.base);
    sh(world.repo, "git checkout -q a.txt && git merge -q --ff-only refs/ratchet/landed/main");
    expect(sh(world.repo, "git rev-parse main")).toBe(landed);
  });

  const unwanted = "echo theirs >docs/new.md; mv docs ../elsewhere; ln -s ../elsewhere docs";
  test.each([
    ["a file that they have deleted", "a.txt", "rm a.txt", "git checkout -q a.txt"],
    ["a folder in whose place they have put a link", "docs/guide.md", unwanted, "rm docs; mv ../elsewhere docs"],
    [
      "such a folder that git is told not to look at",
      "docs/guide.md",
      `${unwanted}; git update-index --assume-unchanged docs/guide.md`,
      "rm docs; mv ../elsewhere docs; git update-index --no-assume-unchanged docs/guide.md",
    ],
  ])("D5 %s stays as it is, and is named", async (_, name, does, undoes) => {
    const world = await makeWorld();
    const [one, two] = [await ready(world, "one", name), await ready(world, "two", "two.txt")];
    sh(world.repo, does);
    const looks = () => sh(world.repo, "git status --porcelain; ls -lR . ../elsewhere 2>&1 || :");
    const before = looks();
    const said = `main is behind: uncommitted changes in ${name} are in the way (deleted, or below a link), commit or undo that,`;
    expect((await land(world, "one", one)).behind).toContain(said);
    expect([(await catchUpTarget(world.mirror, "main")).behind]).toEqual([expect.stringContaining(said)]);
    expect(looks()).toBe(before);
    sh(world.repo, undoes);
    expect((await land(world, "two", two)).behind).toBeNull();
    expect(sh(world.repo, `git status --porcelain --untracked-files=no; cat ${name}`)).toBe("one");
  });

  test("D5 what they have left out of their checkout is nothing that they have deleted", async () => {
    const world = await makeWorld();
    const one = await ready(world, "one", "docs/guide.md");
    sh(world.repo, "git sparse-checkout set --no-cone /src /a.txt");
    const { commit: landed, behind } = await land(world, "one", one);
    expect(behind).toBeNull();
    expect(sh(world.repo, "git rev-parse main; git status --porcelain; ls")).toBe(`${landed}\na.txt\nsrc`);
  });

  test("D5 an untracked file in the way is not overwritten, and a later landing tries again", async () => {
    const world = await makeWorld();
    put(world.repo, "one.txt", "theirs");
    const [one, two] = [await ready(world, "one", "one.txt"), await ready(world, "two", "two.txt")];
    expect((await land(world, "one", one)).behind).toContain("untracked one.txt would be overwritten");
    expect(read(world.repo, "one.txt")).toBe("theirs");
    sh(world.repo, "rm one.txt");
    expect((await land(world, "two", two)).behind).toBeNull();
    expect(sh(world.repo, "cat one.txt two.txt")).toBe("one\ntwo");
  });

  test("D5 merge.autoStash and hooks of theirs change nothing", async () => {
    const world = await makeWorld();
    sh(world.repo, "git config merge.autoStash true && git config merge.ff false");
    for (const hook of ["post-merge", "reference-transaction", "pre-merge-commit", "post-checkout"]) {
      put(world.repo, `.git/hooks/${hook}`, `#!/bin/sh\necho ${hook} >> ${world.home}/hooked\n`);
    }
    sh(world.repo, "chmod +x .git/hooks/*");
    put(world.repo, "a.txt", "their edit");
    expect((await land(world, "one", await ready(world, "one", "a.txt"))).behind).toContain("a.txt are in the way");
    sh(world.repo, "git -c core.hooksPath=/dev/null checkout -q a.txt");
    expect((await land(world, "two", await ready(world, "two", "two.txt"))).behind).toBeNull();
    expect(sh(world.home, "ls")).not.toContain("hooked");
    expect(sh(world.repo, "git stash list")).toBe("");
  });
});

test.each(["-s ours", "--squash"])("D5 mergeOptions %s of their branch change nothing", async (options) => {
  const world = await makeWorld();
  sh(world.repo, `git config branch.main.mergeOptions '${options}'`);
  for (const id of ["one", "two"]) {
    const { commit, behind } = await land(world, id, await ready(world, id, `${id}.txt`));
    expect([behind, sh(world.repo, "git rev-parse main; git status --porcelain")]).toEqual([null, commit]);
    // Step by step, too: what is linked to it is looked at first.
    sh(world.repo, "mkdir -p .git/worktrees");
  }
});

describe("D5 where the target is checked out", () => {
  test("D5 nowhere (a detached checkout): the branch moves, the checkout does not", async () => {
    const world = await makeWorld();
    sh(world.repo, "git checkout -q --detach");
    const { commit: landed, behind } = await land(world, "one", await ready(world, "one", "one.txt"));
    expect(behind).toBeNull();
    expect(sh(world.repo, "git rev-parse main HEAD")).toBe(`${landed}\n${world.base}`);
    expect(sh(world.repo, "git status --porcelain")).toBe("");
  });

  test("D5 in two worktrees of theirs: it is behind, and follows when it is checked out in one", async () => {
    const world = await makeWorld();
    const second = join(world.home, "second");
    sh(world.repo, `git worktree add -q --force ${second} main`);
    const { commit: landed, behind } = await land(world, "one", await ready(world, "one", "one.txt"));
    expect(behind).toMatch(
      /^main is behind: it is checked out in two worktrees \(.*repo, .*second\), check out another/,
    );
    expect(sh(second, "git status --porcelain; git log --format=%s")).toBe("first");
    sh(second, "git checkout -q --detach");
    expect(await catchUpTarget(world.mirror, "main")).toEqual({ behind: null });
    expect(sh(world.repo, "git status --porcelain; git rev-parse HEAD")).toBe(landed);
  });

  test.each([
    ["is checked out", ":"],
    ["is checked out by its other name", "git checkout -q trunk"],
    ["is checked out in another worktree", "git checkout -q -b elsewhere && git worktree add -q ../other main"],
    ["is checked out nowhere", "git checkout -q -b elsewhere"],
  ])("D5 as a symbolic ref to a branch that %s: that one follows, and it stays one", async (_, does) => {
    const world = await makeWorld();
    const head = await ready(world, "one", "one.txt");
    sh(world.repo, `git branch trunk && git symbolic-ref refs/heads/main refs/heads/trunk && ${does}`);
    const { commit: landed, behind } = await land(world, "one", head);
    expect(behind).toBeNull();
    expect(sh(world.repo, "git symbolic-ref refs/heads/main; git rev-parse trunk")).toBe(`refs/heads/trunk\n${landed}`);
    expect(
      sh(world.repo, "git worktree list --porcelain | sed -n 's/^worktree //p' | xargs -I{} git -C {} status -s"),
    ).toBe("");
  });

  test("D5 as a symbolic ref to a branch that cannot follow: it is behind by the same rules as any other", async () => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    commit(path, "a.txt", "one\n");
    const { head } = await snapshot(path, { base: world.base, docsPatterns: [] });
    sh(world.repo, "git branch trunk && git symbolic-ref refs/heads/main refs/heads/trunk && echo mine >a.txt");
    expect((await land(world, "one", head)).behind).toBe(
      "main is behind: uncommitted changes in a.txt are in the way, run `git merge --ff-only --no-overwrite-ignore refs/ratchet/landed/main`",
    );
  });

  test("D5 as a symbolic ref to what is no branch: it is left, and that is said", async () => {
    const world = await makeWorld();
    const head = await ready(world, "one", "one.txt");
    sh(world.repo, "git update-ref refs/mine/x main && git symbolic-ref refs/heads/main refs/mine/x");
    expect((await land(world, "one", head)).behind).toMatch(
      /^main is behind: it is a symbolic ref to refs\/mine\/x, run `git /,
    );
    expect(sh(world.repo, "git rev-parse refs/mine/x")).toBe(world.base);
  });

  test("D5 in another worktree of theirs: it follows there", async () => {
    const world = await makeWorld();
    const other = join(world.home, "other place");
    sh(world.repo, `git checkout -q -b elsewhere && git worktree add -q '${other}' main`);
    expect((await land(world, "one", await ready(world, "one", "one.txt"))).behind).toBeNull();
    expect(read(other, "one.txt")).toBe("one\n");
    expect(sh(other, "git status --porcelain") + sh(world.repo, "git status --porcelain")).toBe("");
  });

  test.each([
    ["is gone", "rm -rf"],
    ["has lost its .git", "mv -t .. "],
  ])("D5 in a worktree of theirs that %s: it is behind, and moves when git has forgotten that place", async (_, rm) => {
    const world = await makeWorld();
    const other = join(world.repo, "build", "other");
    sh(world.repo, `git checkout -q -b elsewhere && git worktree add -q '${other}' main && ${rm} '${other}/.git'`);
    if (rm === "rm -rf") sh(world.repo, `rm -rf '${other}'`);
    const { commit: landed, behind } = await land(world, "one", await ready(world, "one", "one.txt"));
    expect(behind).toBe(
      `main is behind: ${other}, where it is checked out, is gone, run \`git worktree prune\` (if it was moved, \`git worktree repair\` there)`,
    );
    expect((await catchUpTarget(world.mirror, "main")).behind).toBe(behind);
    expect(sh(world.repo, "git rev-parse main elsewhere")).toBe(`${world.base}\n${world.base}`);
    sh(world.repo, "git worktree prune");
    expect((await catchUpTarget(world.mirror, "main")).behind).toBeNull();
    expect(sh(world.repo, "git rev-parse main")).toBe(landed);
  });

  test("D5 in the middle of a rebase of it: the branch is left where the rebase expects it", async () => {
    const world = await makeWorld();
    const head = await ready(world, "one", "one.txt");
    commit(world.repo, "mine.txt", "1");
    commit(world.repo, "mine.txt", "2");
    sh(world.repo, "GIT_SEQUENCE_EDITOR='sed -i s/^pick/edit/' git rebase -q -i HEAD~1 || true");
    const { behind } = await land(world, "one", head);
    expect(behind).toContain("a rebase of it is in progress");
    sh(world.repo, "git rebase --continue && git merge -q --ff-only refs/ratchet/landed/main");
    expect(sh(world.repo, "cat one.txt mine.txt")).toBe("one\n2");
  });

  test.each([
    [
      "git am",
      `git checkout -q -b side; for n in 1 2; do echo $n >am$n.txt; git add -A; git commit -qm am$n; done; git format-patch -q -2 -o ../patches;
       git checkout -q main; sed -i 's/^+2$/ no patch/' ../patches/0002*; git am -q ../patches/*.patch`,
      "git am is in progress on it",
      "git am --abort",
    ],
    [
      "a series of reverts",
      `for n in 1 2; do echo $n >r.txt; git add -A; git commit -qm r$n; done; echo 3 >r.txt; git commit -qam r3; git revert --no-edit HEAD HEAD~2`,
      "a revert is in progress on it",
      "git revert --abort",
    ],
  ])("D5 in the middle of %s: the branch is left, and giving it up goes back", async (_, begin, said, abort) => {
    const world = await makeWorld();
    const head = await ready(world, "one", "one.txt");
    sh(world.repo, `(${begin}) >/dev/null 2>&1 || true`);
    const { behind } = await land(world, "one", head);
    expect(behind).toContain(said);
    const before = sh(world.repo, "git rev-parse -q --verify ORIG_HEAD || cat .git/sequencer/head");
    sh(world.repo, abort);
    expect(sh(world.repo, "git rev-parse HEAD; git status --porcelain")).toBe(before);
  });

  test("D5 while a switch to it is under way nothing moves it under their feet", async () => {
    const world = await makeWorld();
    sh(world.repo, "git checkout -q -b side");
    const head = await ready(world, "one", "one.txt");
    const old = sh(world.repo, "git rev-parse main");
    // As git does it: the lock, the files of what was read before, HEAD last.
    put(world.repo, ".git/index.lock", "");
    const landing = land(world, "one", head);
    await until(
      "it has landed",
      () => sh(world.mirror.path, "git rev-parse -q --verify refs/ratchet/landed/main || true") !== "",
    );
    expect(sh(world.repo, "git rev-parse main")).toBe(old);
    sh(world.repo, "rm .git/index.lock; git symbolic-ref HEAD refs/heads/main");
    expect((await landing).behind).toBeNull();
    expect(sh(world.repo, "cat one.txt; git status --porcelain")).toBe("one");
  });

  const patches = "git format-patch -q -o ../p main..x && git am -q ../p/*";
  test.each([
    ["git am", `${patches} || :`, "git am", "git am --abort"],
    ["several cherry-picks", "git cherry-pick main..x || :", "a cherry-pick", "git cherry-pick --abort"],
    [
      "several cherry-picks, the conflict added",
      "git cherry-pick main..x || git add .",
      "a cherry-pick",
      "git cherry-pick --abort",
    ],
    ["a revert", "git revert --no-commit HEAD", "a revert", "git revert --abort"],
  ])("D5 in the middle of %s: they can give it up, and nothing of it has landed", async (_, does, what, abort) => {
    const world = await makeWorld();
    const [one, two] = [await ready(world, "one", "one.txt"), await ready(world, "two", "two.txt")];
    sh(
      world.repo,
      "git switch -q -c x; echo x >x.txt; git add .; git commit -qm x1; echo x >a.txt; git commit -qam x2",
    );
    sh(world.repo, "git switch -q main; echo b >a.txt; git commit -qam b");
    const before = sh(world.repo, "git rev-parse HEAD");
    sh(world.repo, does);
    expect((await land(world, "one", one)).behind).toMatch(
      `main is behind: ${what} is in progress on it, once that has ended, run \`git merge`,
    );
    expect(sh(world.mirror.path, "git ls-tree --name-only refs/ratchet/landed/main")).not.toContain("x.txt");
    sh(world.repo, abort);
    expect(sh(world.repo, "git rev-parse HEAD; git status --porcelain")).toBe(before);
    expect((await land(world, "two", two)).behind).toBeNull();
    expect(sh(world.repo, "ls; cat a.txt")).toBe("a.txt\ndocs\none.txt\nsrc\ntwo.txt\nb");
  });

  test("D5 a series of theirs that has come to its end lands with what is next", async () => {
    const world = await makeWorld();
    const [one, two] = [await ready(world, "one", "one.txt"), await ready(world, "two", "two.txt")];
    sh(
      world.repo,
      "git switch -q -c x; echo x >x.txt; git add .; git commit -qm x1; echo x >a.txt; git commit -qam x2",
    );
    sh(world.repo, "git switch -q main; echo b >a.txt; git commit -qam b; git cherry-pick main..x || :");
    expect((await land(world, "one", one)).behind).toContain("is in progress on it");
    sh(world.repo, "echo both >a.txt; git add .; git -c core.editor=true cherry-pick --continue");
    expect((await land(world, "two", two)).behind).toBeNull();
    expect(sh(world.repo, "git status --porcelain; ls; cat a.txt")).toBe(
      "a.txt\ndocs\none.txt\nsrc\ntwo.txt\nx.txt\nboth",
    );
  });

  test("D5 a lock of theirs is waited for, then said, and never removed", async () => {
    const world = await makeWorld();
    const head = await ready(world, "one", "one.txt");
    put(world.repo, ".git/index.lock", "");
    const { behind } = await land(world, "one", head);
    expect(behind).toContain("main is behind: git is locked:");
    expect(behind).toContain("index.lock");
    sh(world.repo, "test -f .git/index.lock && rm .git/index.lock && git merge -q --ff-only refs/ratchet/landed/main");
  });
});

describe("D5 the whole repository is moved elsewhere", () => {
  const away = (world: World) => sh(world.home, `mv '${world.repo}' '${world.repo}-moved'`);
  const back = (world: World) => sh(world.home, `mv '${world.repo}-moved' '${world.repo}'`);

  test.each(["", "/.git"])(
    "D5 before anything has landed, its folder%s: landing waits, and says what for",
    async (part) => {
      const world = await makeWorld();
      const one = await ready(world, "one", "one.txt");
      const path = `${world.repo}${part}`;
      sh(world.home, `mv '${path}' moved`);
      expect(await propose(world, "one", one)).toEqual({
        type: "waits",
        reason: `${path} is gone: move it back, or stop and start in its new place`,
      });
      sh(world.home, `mv moved '${path}'`);
      expect((await land(world, "one", one)).behind).toBeNull();
    },
  );

  test("D5 afterwards: what lands has landed, and the branch is behind", async () => {
    const world = await makeWorld();
    const [one, two] = [await ready(world, "one", "one.txt"), await ready(world, "two", "two.txt")];
    await land(world, "one", one);
    const proposal = await propose(world, "two", two);
    away(world);
    if (proposal.type !== "proposed") throw new Error(proposal.type);
    expect(await commitLanding(world.mirror, { target: "main", ...proposal })).toEqual({ type: "landed" });
    const { behind } = await followTarget(world.mirror, { target: "main", commit: proposal.commit });
    expect(behind).toMatch(/^main is behind: the landed commit could not be brought over \(.*repo is not there\)/);
    back(world);
    expect((await catchUpTarget(world.mirror, "main")).behind).toBeNull();
    expect(sh(world.repo, "git rev-parse main")).toBe(proposal.commit);
  });
});

describe("D5 after a landing that the target has followed", () => {
  const edit = "echo theirs >two.txt";
  test.each([
    ["nothing", "true", null, "landed"],
    ["unrelated changes", "echo theirs >a.txt && git add a.txt", null, "landed"],
    ["an untracked file in the way", edit, "untracked two.txt would be overwritten", "before"],
    [
      "a merge that was begun",
      `git checkout -q -b x && ${edit} && git add . && git commit -qm x && git checkout -q main &&
      git merge -q --no-ff --no-commit x`,
      "a merge is in progress there",
      "before",
    ],
    ["another branch checked out", "git checkout -q -b elsewhere", null, "landed"],
    [
      "a rebase",
      `git commit -q --allow-empty -m mine && git -c sequence.editor='sed -i s/^pick/edit/' rebase -q -i HEAD~1 ||
      true`,
      "a rebase of it is in progress",
      "before",
    ],
    ["the branch deleted", "git checkout -q --detach && git branch -q -D main", "the branch is gone", "gone"],
    ["the branch deleted that is checked out", "git update-ref -d refs/heads/main", "the branch is gone", "gone"],
    ["refs packed", "git pack-refs --all", null, "landed"],
  ])("D5 a person left %s", async (_, left, said, main) => {
    const world = await makeWorld();
    const [one, two] = [await ready(world, "one", "one.txt"), await ready(world, "two", "two.txt")];
    expect((await land(world, "one", one)).behind).toBeNull();
    sh(world.repo, left);
    const mainNow = () => sh(world.repo, "git rev-parse -q --verify refs/heads/main || echo gone");
    const before = mainNow();
    const files = sh(world.repo, "git stash list; git diff; git diff --cached; git rev-parse -q --verify HEAD || true");
    const { commit: landed, behind } = await land(world, "two", two);
    if (said === null) expect(behind).toBeNull();
    else expect(behind).toContain(said);
    expect(mainNow()).toBe({ landed, before, gone: "gone" }[main]);
    if (main !== "landed") {
      expect(
        sh(world.repo, "git stash list; git diff; git diff --cached; git rev-parse -q --verify HEAD || true"),
      ).toBe(files);
    }
    const followed = sh(world.mirror.path, "git rev-parse refs/ratchet/followed/main");
    expect(followed === landed).toBe(main === "landed");
    expect(sh(world.repo, "git rev-parse refs/ratchet/landed/main")).toBe(landed);
  });
});

describe("D5 a target that was put back before a landed commit", () => {
  test("D5 is not followed: landing waits until the landed work is there again", async () => {
    const world = await makeWorld();
    const [one, two] = [await ready(world, "one", "one.txt"), await ready(world, "two", "two.txt")];
    await land(world, "one", one);
    sh(world.repo, `git reset -q --hard ${world.base}`);
    expect(await propose(world, "two", two)).toMatchObject({
      type: "waits",
      reason: expect.stringMatching(/^main was rewound/),
    });
    expect(sh(world.repo, "git rev-parse main")).toBe(world.base);
    sh(world.repo, "git merge -q --ff-only refs/ratchet/landed/main");
    expect((await land(world, "two", two)).behind).toBeNull();
  });

  test("D5 is not followed either when it was put back between proposal and landing", async () => {
    const world = await makeWorld();
    const [one, two] = [await ready(world, "one", "one.txt"), await ready(world, "two", "two.txt")];
    await land(world, "one", one);
    const proposal = await propose(world, "two", two);
    if (proposal.type !== "proposed") throw new Error(proposal.type);
    sh(world.repo, `git reset -q --hard ${world.base}`);
    for (const insists of [false, true])
      expect(await commitLanding(world.mirror, { target: "main", ...proposal, insists })).toEqual({ type: "moved" });
    expect(await propose(world, "two", two)).toMatchObject({ type: "waits" });
    expect(sh(world.repo, "git rev-parse main")).toBe(world.base);
  });

  test("D5 deleting the user's copy of the line lets the landed work go", async () => {
    const world = await makeWorld();
    const [one, two] = [await ready(world, "one", "one.txt"), await ready(world, "two", "two.txt")];
    await land(world, "one", one);
    sh(world.repo, `git reset -q --hard ${world.base} && git update-ref -d refs/ratchet/landed/main`);
    expect((await land(world, "two", two)).behind).toBeNull();
    expect(sh(world.repo, "git ls-files one.txt two.txt")).toBe("two.txt");
    expect(sh(world.mirror.path, `git rev-parse refs/ratchet/dropped/${one}`)).toBe(one);
  });

  test("D5 landed work that is let go does not come back with work that was built on it", async () => {
    const world = await makeWorld();
    await land(world, "one", await ready(world, "one", "one.txt"));
    const { path } = await open(world, "two", { base: sh(world.repo, "git rev-parse HEAD") });
    const two = commit(path, "two.txt", "two\n");
    await snapshot(path, { base: world.base, docsPatterns: [] });
    const one = sh(world.repo, "git rev-parse HEAD");
    sh(world.repo, `git reset -q --hard ${world.base} && git update-ref -d refs/ratchet/landed/main`);
    expect(await propose(world, "two", two)).toMatchObject({
      type: "waits",
      reason: expect.stringContaining(`main no longer has ${one.slice(0, 12)}, which this was built on: run`),
    });
    sh(world.repo, `git merge -q -s ours -m without ${one.slice(0, 12)}`);
    expect((await land(world, "two", two)).behind).toBeNull();
    expect(sh(world.repo, "git ls-files one.txt two.txt")).toBe("two.txt");
  });

  test("D5 landed work that was let go can land again", async () => {
    const world = await makeWorld();
    const one = await ready(world, "one", "one.txt");
    await land(world, "one", one);
    sh(world.repo, `git reset -q --hard ${world.base} && git update-ref -d refs/ratchet/landed/main`);
    expect((await land(world, "one", one)).behind).toBeNull();
    expect(sh(world.repo, "git ls-files one.txt")).toBe("one.txt");
  });

  test("D5 dropping a commit of one's own that nothing has landed on is no rewind", async () => {
    const world = await makeWorld();
    commit(world.repo, "mine.txt", "mine");
    expect(await tipOf(world.mirror, "main")).toMatchObject({ type: "tip" });
    sh(world.repo, `git reset -q --hard ${world.base}`);
    expect(await tipOf(world.mirror, "main")).toEqual({ type: "tip", sha: world.base, merged: false });
  });
});

describe("D5 a commit of theirs that a person drops again", () => {
  /** One has landed and main has followed; then they committed `mine.txt`. */
  async function worldWithMine() {
    const world = await makeWorld();
    const { commit: landed } = await land(world, "one", await ready(world, "one", "one.txt"));
    const mine = commit(world.repo, "mine.txt", "mine");
    const drop = () => sh(world.repo, `git reset -q --hard ${landed}`);
    return { world, landed, mine, drop };
  }

  /** An issue that is begun from where main is. */
  async function begun(world: World, issue: string): Promise<string> {
    const tip = await tipOf(world.mirror, "main");
    const { path } = await open(world, issue, { base: tip.sha ?? "" });
    commit(path, `${issue}.txt`, `${issue}\n`);
    return (await snapshot(path, { base: tip.sha ?? "", docsPatterns: [] })).head;
  }

  test("D5 is a rewind where something has landed on it: landing waits", async () => {
    const { world, mine, drop } = await worldWithMine();
    const [two, three] = [await ready(world, "two", "two.txt"), await ready(world, "three", "three.txt")];
    const { commit: landed } = await land(world, "two", two);
    sh(world.repo, `git merge-base --is-ancestor ${mine} ${landed}`);
    drop();
    expect(await propose(world, "three", three)).toMatchObject({
      type: "waits",
      reason: expect.stringMatching(/^main was rewound/),
    });
  });

  test("D5 does not come back with work that was begun without it", async () => {
    const { world, landed, drop } = await worldWithMine();
    const two = await ready(world, "two", "two.txt");
    const proposal = await propose(world, "two", two);
    drop();
    if (proposal.type !== "proposed") throw new Error(proposal.type);
    for (const insists of [false, true])
      expect(await commitLanding(world.mirror, { target: "main", ...proposal, insists })).toEqual({ type: "moved" });
    expect(sh(world.mirror.path, "git rev-parse refs/ratchet/landed/main")).toBe(landed);
    expect((await land(world, "two", two)).behind).toBeNull();
    expect(sh(world.repo, "git ls-files one.txt two.txt mine.txt")).toBe("one.txt\ntwo.txt");
  });

  test("D5 keeps work that was begun from it from landing until they say what becomes of it", async () => {
    const { world, mine, drop } = await worldWithMine();
    const two = await begun(world, "two");
    drop();
    const [short, three] = [mine.slice(0, 12), await begun(world, "three")];
    const reason = `main no longer has ${short}, which this was built on: run \`git merge ${short}\` to have it again, or \`git merge -s ours ${short}\` to have this without it`;
    for (const times of [1, 2])
      expect([times, await propose(world, "two", two)]).toEqual([times, { type: "waits", reason }]);
    expect((await land(world, "three", three)).behind).toBeNull();
    expect(await propose(world, "two", two)).toEqual({ type: "waits", reason });
    sh(world.repo, `git merge -q -s ours --no-edit ${short}`);
    expect((await land(world, "two", two)).behind).toBeNull();
    expect(sh(world.repo, "git ls-files one.txt two.txt three.txt mine.txt")).toBe("one.txt\nthree.txt\ntwo.txt");
  });

  test("D5 which they amend while it is being fetched is read again", async () => {
    const { world } = await worldWithMine();
    const two = await ready(world, "two", "two.txt");
    const bin = join(world.home, "amending");
    const git = sh(world.repo, "command -v git");
    put(
      world.home,
      "amending/git",
      [
        "#!/bin/sh",
        `case " $* " in *" fetch "*) if rm ${bin}/armed 2>/dev/null; then (unset GIT_DIR; cd ${world.repo}; echo other > mine.txt; ${git} commit -qa --amend -m Other); fi;; esac`,
        `exec ${git} "$@"`,
      ].join("\n"),
    );
    put(world.home, "amending/armed", "");
    chmodSync(join(bin, "git"), 0o755);
    const path = process.env.PATH;
    onTestFinished(() => {
      process.env.PATH = path;
    });
    process.env.PATH = `${bin}:${path}`;
    expect((await land(world, "two", two)).behind).toBeNull();
    expect(existsSync(join(bin, "armed"))).toBe(false);
    expect(sh(world.repo, "cat mine.txt two.txt")).toContain("other");
  });

  test("D5 holds nothing up where only its words were changed", async () => {
    const { world } = await worldWithMine();
    const two = await begun(world, "two");
    sh(world.repo, "git commit -q --amend -m 'In other words'");
    expect((await land(world, "two", two)).behind).toBeNull();
    expect(sh(world.repo, "git ls-files one.txt two.txt mine.txt")).toBe("mine.txt\none.txt\ntwo.txt");
  });

  test("D5 comes back when they bring it back, also before the first landing", async () => {
    const world = await makeWorld();
    const mine = commit(world.repo, "mine.txt", "mine");
    const one = await begun(world, "one");
    sh(world.repo, `git reset -q --hard ${world.base}`);
    expect(await propose(world, "one", one)).toMatchObject({ type: "waits" });
    sh(world.repo, `git merge -q ${mine}`);
    expect((await land(world, "one", one)).behind).toBeNull();
    expect(sh(world.repo, "git ls-files one.txt mine.txt")).toBe("mine.txt\none.txt");
  });
});
