import { execFile, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { git } from "../../src/git/git.js";
import { commitLanding, followTarget, isLanded, proposeLanding } from "../../src/git/landing/land.js";
import { type Mirror, openMirror, tipOf } from "../../src/git/mirror/mirror.js";
import { isMirrorWhole, whyDamaged } from "../../src/git/mirror/mirror-health.js";
import { inspectRepository, readIdentity } from "../../src/git/repository.js";
import { changedPaths, diff, diffStat } from "../../src/git/worktree/diff.js";
import { openWorktree, removeWorktree, snapshot } from "../../src/git/worktree/worktree.js";
import { commit, identity, makeRepository, makeWorld, open, put, read, sh, tempFolder } from "./git-fixture.js";

/** The person's own settings of git, until the test has ended. */
function withOwnSettings(text: string): void {
  const folder = tempFolder();
  put(folder, "settings", text);
  const before = process.env.GIT_CONFIG_GLOBAL;
  process.env.GIT_CONFIG_GLOBAL = join(folder, "settings");
  onTestFinished(() => {
    if (before === undefined) delete process.env.GIT_CONFIG_GLOBAL;
    else process.env.GIT_CONFIG_GLOBAL = before;
  });
}

describe("the mirror", () => {
  test("takes over remotes, identity, LFS settings, line ends and excludes; not hooks, aliases or tokens", async () => {
    const world = await makeWorld((repo) => {
      sh(
        repo,
        "git remote add origin ../upstream.git && git remote add 'my.fork' git@example.org:x/y.git && git config lfs.url https://lfs.example.org",
      );
      sh(
        repo,
        "git config filter.lfs.clean 'git-lfs clean -- %f' && git config core.autocrlf input && git config alias.x '!rm -rf /' && git config core.hooksPath .husky",
      );
      sh(
        repo,
        "git config core.excludesFile '' && git config commit.gpgSign false && git config http.extraheader 'AUTHORIZATION: token' && echo scratch.txt >> .git/info/exclude && git tag v1",
      );
    });
    const { path } = await open(world, "one");
    const config = sh(path, "git config --list --local");
    expect(config).toContain(`remote.origin.url=${join(world.home, "upstream.git")}`);
    expect(config).toContain("remote.my.fork.url=git@example.org:x/y.git");
    expect(config).toContain("lfs.url=https://lfs.example.org");
    expect(config).toContain("filter.lfs.clean=git-lfs clean -- %f");
    expect(config).toContain("core.autocrlf=input");
    expect(config.split("\n")).toEqual(expect.arrayContaining(["core.excludesfile=", "commit.gpgsign=false"]));
    expect(config).toContain("user.email=ada@example.org");
    expect(config).not.toMatch(/alias|hookspath|extraheader/i);
    put(path, "scratch.txt", "x");
    expect(sh(path, "git status --porcelain && git describe --tags")).toBe("v1");
  });

  test("takes over how files are written and read from the user's own settings, for those who cannot see them", async () => {
    const own = tempFolder();
    put(own, "git/config", '[core]\n\tautocrlf = true\n[filter "up"]\n\tclean = tr a-z A-Z\n[alias]\n\tx = !false\n');
    put(own, "git/attributes", "*.up filter=up\n");
    put(own, "git/ignore", "scratch.txt\n");
    const before = process.env.XDG_CONFIG_HOME;
    process.env.XDG_CONFIG_HOME = own;
    onTestFinished(() => {
      if (before === undefined) delete process.env.XDG_CONFIG_HOME;
      else process.env.XDG_CONFIG_HOME = before;
    });
    const { path } = await open(await makeWorld(), "one");
    expect(read(path, "a.txt")).toBe("a\r\n");
    put(path, "scratch.txt", "x");
    put(path, "b.up", "b\r\n");
    const inOther = { XDG_CONFIG_HOME: "/nowhere", HOME: "/nowhere" };
    expect(sh(path, "git status --porcelain; git add -A; git show :b.up; git config --list", inOther)).toMatch(
      /^\?\? b\.up\nB\n(?!.*alias)/s,
    );
  });

  test("follows the user's refs at each start, new, moved and deleted ones", async () => {
    const world = await makeWorld((repo) => sh(repo, "git branch old"));
    sh(world.repo, "git branch -D old -q && git branch new");
    const head = commit(world.repo, "b.txt", "b");
    await openMirror({ repoPath: world.repo, mirrorPath: world.mirror.path });
    const { path } = await open(world, "one", { base: head });
    expect(sh(path, "git for-each-ref --format='%(refname)' refs/heads")).toBe(
      "refs/heads/main\nrefs/heads/new\nrefs/heads/ratchet/one",
    );
  });

  test("what a process that died left of one being made goes at the next start, a living one's stays", async () => {
    const world = await makeWorld();
    const folder = dirname(world.mirror.path);
    const half = (pid: number) => `.${basename(world.mirror.path)}.new-${pid}-0a1b2c3d`;
    const { pid: dead = 0 } = spawnSync("true");
    for (const pid of [dead, process.pid]) mkdirSync(join(folder, half(pid), "objects"), { recursive: true });
    await openMirror({ repoPath: world.repo, mirrorPath: world.mirror.path });
    expect([dead, process.pid].map((pid) => existsSync(join(folder, half(pid))))).toEqual([false, true]);
  });

  test("opens the same from four processes at once", async () => {
    const home = tempFolder();
    makeRepository(join(home, "repo"));
    const base = sh(join(home, "repo"), "git rev-parse HEAD");
    const child = (name: string) =>
      promisify(execFile)(process.execPath, ["dist-test/git-worktrees.mjs", join(home, "repo"), home, name, "1", "2"], {
        env: { ...process.env, BASE: base },
      });
    const done = await Promise.all(["a", "b", "c", "d"].map(child));
    expect(done.map(({ stdout }) => stdout.trim())).toEqual(["2", "2", "2", "2"]);
    expect(sh(home, "ls -A | grep mirror")).toBe("mirror.git");
  });

  test("what else is in its place is put aside, a lost one gets its landed line back from the user", async () => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    commit(path, "one.txt", "1");
    const { head } = await snapshot(path, { base: world.base, docsPatterns: [] });
    put(world.repo, "one.txt", "in the way");
    const message = { issue: "one", title: "t", run: "r" };
    const proposal = await proposeLanding(world.mirror, { target: "main", head, message, identity });
    if (proposal.type !== "proposed") throw new Error(proposal.type);
    await commitLanding(world.mirror, { target: "main", ...proposal });
    await followTarget(world.mirror, { target: "main", commit: head });
    sh(world.home, "rm -rf mirror.git; echo theirs >mirror.git");
    const again = await openMirror({ repoPath: world.repo, mirrorPath: world.mirror.path });
    expect(await isLanded(again, "main", head)).toBe(true);
    expect(await tipOf(again, "main")).toMatchObject({ sha: head });
    expect(sh(world.home, "cat mirror.git.broken-*")).toBe("theirs");
  });

  const damages = [
    ["all objects", "rm -rf objects/*"],
    ["the folder of its objects", "rm -rf objects"],
    ["its packs", "rm -rf objects/pack/*"],
    ["one pack, but not its index", "rm -rf objects/pack/*.pack"],
    ["its loose objects", "rm -rf objects/??"],
    ["the content of its loose objects", 'for f in objects/??/*; do rm "$f"; echo garbage >"$f"; done'],
    ["the content of its packs", 'for f in objects/pack/*.pack; do rm "$f"; echo garbage >"$f"; done'],
    ["its HEAD", "rm HEAD"],
    ["its refs", "rm -rf refs/* packed-refs"],
    ["the folder of its refs", "rm -rf refs packed-refs"],
    ["what Ratchet knows of it", "rm -rf ratchet"],
    ["what its landed line is at", ": >refs/ratchet/landed/main"],
    ["what a branch of a worktree is at", ": >refs/heads/ratchet/two"],
    ["folders, which are files", "rm -rf ratchet/begun pool && touch ratchet/begun pool"],
    ["the folder of what Ratchet knows of it, which is a file", "rm -rf ratchet && touch ratchet"],
    ["files, which are folders", "rm -f HEAD config packed-refs && mkdir HEAD config packed-refs"],
    ["the folder of its refs, which is a file", "rm -rf refs packed-refs && touch refs"],
    ["its settings, as doctor has found", "echo '[[[' >config; echo config >ratchet/damaged"],
  ] as const;
  test.each(damages)("one that has lost %s is mended in place, with all that is still somewhere", async (_, how) => {
    const world = await makeWorld((repo) => sh(repo, "git gc -q"));
    const one = await open(world, "one");
    const landed = commit(one.path, "one.txt", "1");
    await snapshot(one.path, { base: world.base, docsPatterns: [] });
    const message = { issue: "one", title: "t", run: "r" };
    const proposal = await proposeLanding(world.mirror, { target: "main", head: landed, message, identity });
    if (proposal.type !== "proposed") throw new Error(proposal.type);
    await commitLanding(world.mirror, { target: "main", ...proposal });
    await followTarget(world.mirror, { target: "main", commit: landed });
    const { path } = await open(world, "two");
    const shared = commit(path, "two.txt", "2");
    await snapshot(path, { base: world.base, docsPatterns: [] });
    const head = commit(path, "three.txt", "3");
    put(path, "loose.txt", "loose");
    sh(world.mirror.path, how);
    const told: string[] = [];
    const again = () =>
      openMirror({ repoPath: world.repo, mirrorPath: world.mirror.path, tell: (text) => void told.push(text) });
    await Promise.all([again(), again()]);
    expect(told).toEqual([`${world.mirror.path} was damaged and is mended from your repository and the worktrees`]);
    sh(world.mirror.path, "git rev-list --objects --all --quiet && git fsck --connectivity-only");
    expect(await tipOf(world.mirror, "main")).toMatchObject({ type: "tip", sha: landed });
    const opened = await open(world, "two");
    expect(opened).toMatchObject({ from: "worktree", head, baseSha: world.base });
    expect(sh(path, "git status --porcelain; git log --format=%H")).toBe(
      `?? loose.txt\n${head}\n${shared}\n${world.base}`,
    );
    await again();
    expect(told).toHaveLength(1);
  });

  test("settings with which git does nothing are no damage of it", async () => {
    const { mirror } = await makeWorld();
    withOwnSettings("[core\n");
    await expect(whyDamaged(mirror.path)).rejects.toThrow("bad config line 1");
    expect(isMirrorWhole(mirror.path)).toBe(true);
  });

  test.skipIf(process.getuid?.() !== 0)("that it belongs to another user is no damage of it", async () => {
    const { mirror } = await makeWorld();
    sh(mirror.path, "chown -R 12345 .");
    await expect(whyDamaged(mirror.path)).rejects.toThrow("dubious ownership");
    expect(isMirrorWhole(mirror.path)).toBe(true);
  });

  test("nothing of it goes where it is the user's repository that is damaged", async () => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    const head = commit(path, "one.txt", "1");
    await snapshot(path, { base: world.base, docsPatterns: [] });
    sh(world.repo, `rm -f .git/objects/${world.base.slice(0, 2)}/${world.base.slice(2)}`);
    sh(world.mirror.path, "rm -rf objects/* HEAD");
    await expect(openMirror({ repoPath: world.repo, mirrorPath: world.mirror.path })).rejects.toThrow(
      /fsck|clone failed/,
    );
    expect(sh(world.mirror.path, "git rev-parse refs/heads/ratchet/one")).toBe(head);
  });

  test("what is nowhere any more is named, and everything else goes on", async () => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    commit(path, "one.txt", "1");
    const { parked } = await removeWorktree(world.mirror, { path, branch: "ratchet/one", issue: "one", landed: null });
    sh(world.mirror.path, "rm -rf objects/*");
    const told: string[] = [];
    await openMirror({ repoPath: world.repo, mirrorPath: world.mirror.path, tell: (text) => void told.push(text) });
    expect(told).toEqual([expect.stringContaining(`; lost: ${parked?.ref}`)]);
    expect(await open(world, "two")).toMatchObject({ from: "new", head: world.base });
  });

  test.each([
    ["the folder of its refs", "rm -rf refs packed-refs"],
    ["Ratchet's own refs", "rm -rf refs/ratchet packed-refs"],
    ["what the one ref of it is at", ": >refs/ratchet/parked/one/1"],
  ])("parked work is found again in a mirror that has lost %s", async (_, how) => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    commit(path, "one.txt", "1");
    const { parked } = await removeWorktree(world.mirror, { path, branch: "ratchet/one", issue: "one", landed: null });
    sh(world.mirror.path, how);
    const told: string[] = [];
    await openMirror({ repoPath: world.repo, mirrorPath: world.mirror.path, tell: (text) => void told.push(text) });
    expect(told).toEqual([expect.not.stringContaining("lost")]);
    expect(sh(world.mirror.path, "git for-each-ref '--format=%(objectname) %(refname)' refs/ratchet/parked")).toBe(
      `${parked?.sha} ${parked?.ref}`,
    );
  });

  /** Two issues are parked, with a large file each; the mirror has one pack of its own. */
  const makeParked = async () => {
    const world = await makeWorld();
    const parked: string[] = [];
    for (const issue of ["one", "two"]) {
      const { path } = await open(world, issue);
      commit(path, "large.bin", randomBytes(5000).toString("latin1"));
      const place = { path, branch: `ratchet/${issue}`, issue, landed: null };
      parked.push((await removeWorktree(world.mirror, place)).parked?.ref ?? "");
    }
    commit(world.repo, "theirs.bin", randomBytes(5000).toString("latin1"));
    await openMirror({ repoPath: world.repo, mirrorPath: world.mirror.path });
    sh(world.mirror.path, "git repack -a -d -q && chmod u+w objects/pack/*");
    const told: string[] = [];
    const again = () =>
      openMirror({ repoPath: world.repo, mirrorPath: world.mirror.path, tell: (text) => void told.push(text) });
    return { ...world, parked, told, again };
  };
  /** As a disk does it: in the middle of an object, which is found no more. */
  const spoil = (file: string) =>
    `at=$(git show-index <$(ls objects/pack/*.idx) | grep $(git rev-parse ${file}) | cut -d' ' -f1)
     printf SPOILT | dd of=$(ls objects/pack/*.pack) bs=1 seek=$((at + 2000)) conv=notrunc 2>/dev/null
     if git cat-file -p ${file} >/dev/null 2>&1; then exit 1; fi`;

  const leftIn = (mirror: Mirror) =>
    sh(mirror.path, "git fsck --full >/dev/null 2>&1; git for-each-ref --format='%(refname)' refs/ratchet/parked");

  test.each([
    ["whose index is gone", "rm objects/pack/*.idx"],
    ["whose index is something else", "echo garbage >$(ls objects/pack/*.idx)"],
    ["in which what the user has cannot be read", spoil("refs/user/heads/main:theirs.bin")],
  ])("of a pack %s all is taken over", async (_, how) => {
    const { mirror, parked, told, again } = await makeParked();
    sh(mirror.path, how);
    await git(mirror.path, ["cat-file", "-p", "refs/user/heads/main:theirs.bin"]).catch(() => null);
    await again();
    expect(told).toEqual([`${mirror.path} was damaged and is mended from your repository and the worktrees`]);
    expect(leftIn(mirror)).toBe(parked.join("\n"));
    expect(existsSync(join(mirror.path, "ratchet/broken-objects"))).toBe(false);
  });

  test("of a pack in which one object cannot be read the rest is taken over, and what is lost is named", async () => {
    const { mirror, parked, told, again } = await makeParked();
    sh(mirror.path, spoil("refs/ratchet/parked/one/1:large.bin"));
    const failed = git(mirror.path, ["cat-file", "-p", "refs/ratchet/parked/one/1:large.bin"]);
    await expect(failed).rejects.toThrow(`${mirror.path} is damaged, and will be mended when it is opened next: git`);
    await again();
    expect(told).toEqual([expect.stringContaining(`; lost: ${parked[0]}`)]);
    expect(leftIn(mirror)).toBe(parked[1]);
    expect(sh(mirror.path, "ls ratchet/broken-objects/pack/*.pack")).not.toBe("");
    await again();
    expect(told).toHaveLength(1);
  });

  test("where the user's repository cannot read the same file, either, that is said", async () => {
    const { repo, home } = await makeWorld();
    commit(repo, "theirs.bin", randomBytes(5000).toString("latin1"));
    sh(repo, "git repack -a -d -q");
    const told: string[] = [];
    const again = () =>
      openMirror({ repoPath: repo, mirrorPath: join(home, "second.git"), tell: (text) => void told.push(text) });
    const mirror = await again();
    sh(join(repo, ".git"), `chmod u+w objects/pack/*; ${spoil("main:theirs.bin")}`);
    const failed = git(mirror.path, ["cat-file", "-p", "refs/user/heads/main:theirs.bin"]);
    const advice = "run `git fsck` there";
    await expect(failed).rejects.toThrow(`${mirror.path} is damaged, in a file of your repository: ${advice}: git`);
    await again();
    const pack = sh(repo, "ls $PWD/.git/objects/pack/*.pack");
    expect(told).toEqual([expect.stringContaining(`, but for ${pack}, which is your repository's: ${advice}`)]);
    await again();
    expect(told).toHaveLength(1);
  });

  test("a pack that cannot be read, without an index, does not stop anybody", async () => {
    const { mirror, parked, told, again } = await makeParked();
    sh(mirror.path, `${spoil("refs/ratchet/parked/one/1:large.bin")}; rm objects/pack/*.idx`);
    await again();
    expect(told).toEqual([expect.stringContaining(`; lost: ${parked[0]}`)]);
    leftIn(mirror);
  });

  test("a ref of parked work that cannot be read is named, and everything else goes on", async () => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    commit(path, "one.txt", "1");
    const { parked } = await removeWorktree(world.mirror, { path, branch: "ratchet/one", issue: "one", landed: null });
    sh(world.mirror.path, `git update-ref refs/ratchet/parked/other/1 ${parked?.sha}`);
    put(world.mirror.path, parked?.ref ?? "", "");
    const told: string[] = [];
    await openMirror({ repoPath: world.repo, mirrorPath: world.mirror.path, tell: (text) => void told.push(text) });
    expect(told).toEqual([expect.stringContaining(`; lost: ${parked?.ref}`)]);
    expect(read(world.mirror.path, "ratchet/lost")).toBe(`unreadable ${parked?.ref}\n`);
  });

  test.each([
    ["garbage in it", "echo garbage >>packed-refs"],
    ["its end cut off", "printf '%s refs/ratchet/base/x' $(git rev-parse refs/user/heads/main) >>packed-refs"],
  ])("of packed refs with %s those that can be read are used", async (_, how) => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    commit(path, "one.txt", "1");
    const { parked } = await removeWorktree(world.mirror, { path, branch: "ratchet/one", issue: "one", landed: null });
    sh(world.mirror.path, `git pack-refs --all; ${how}`);
    const broken = read(world.mirror.path, "packed-refs");
    const told: string[] = [];
    await openMirror({ repoPath: world.repo, mirrorPath: world.mirror.path, tell: (text) => void told.push(text) });
    const kept = "packed-refs.broken-1";
    expect(told).toEqual([
      expect.stringContaining(`; lost: lines of packed-refs that cannot be read, which is kept as ${kept}`),
    ]);
    expect(read(world.mirror.path, kept)).toBe(broken);
    expect(sh(world.mirror.path, `git rev-parse ${parked?.ref}`)).toBe(parked?.sha);
  });

  test("a config somebody wrote into the mirror is put right", async () => {
    const world = await makeWorld();
    sh(
      world.mirror.path,
      "git config core.bare false && git config user.name Mallory && mkdir -p hooks && printf '#!/bin/sh\\nexit 1' > hooks/reference-transaction && chmod +x hooks/reference-transaction",
    );
    await openMirror({ repoPath: world.repo, mirrorPath: world.mirror.path });
    expect(sh(world.mirror.path, "git config core.bare && git config user.name")).toBe("true\nAda");
    expect(existsSync(join(world.mirror.path, "hooks"))).toBe(false);
  });
});

describe("every kind of source works end to end", () => {
  const sources: [string, (home: string) => string][] = [
    ["a shallow clone", (home) => cloned(home, "--depth 1 --no-local")],
    ["a clone with alternates", (home) => cloned(home, "--shared")],
    [
      "a linked worktree",
      (home) => {
        sh(join(home, "first"), `git worktree add -q -b main2 ../repo && cd ../repo && git branch -q -m main2 work`);
        return "work";
      },
    ],
    [
      "a repository with a submodule",
      (home) => {
        cloned(home, "");
        sh(
          join(home, "repo"),
          "git -c protocol.file.allow=always submodule --quiet add ../first sub && git -c user.name=x -c user.email=x@y commit -qm sub",
        );
        return "main";
      },
    ],
    [
      "a repository with sparse checkout and a path with spaces",
      (home) => {
        cloned(home, "");
        sh(join(home, "repo"), "git sparse-checkout set docs");
        return "main";
      },
    ],
    [
      "a SHA-256 repository",
      (home) => {
        sh(
          home,
          "git init -q -b main --object-format=sha256 repo && cd repo && echo a > a.txt && git add . && git -c user.name=x -c user.email=x@y commit -qm a",
        );
        return "main";
      },
    ],
  ];
  function cloned(home: string, flags: string): string {
    sh(home, `git clone -q ${flags} "file://$PWD/first" repo 2>/dev/null || git clone -q ${flags} first repo`);
    return "main";
  }

  test.each(sources)("%s", async (_name, make) => {
    const home = join(tempFolder(), "with space");
    makeRepository(join(home, "first"));
    commit(join(home, "first"), "a.txt", "second\n");
    const target = make(home);
    const repo = join(home, "repo");
    const mirror = await openMirror({ repoPath: repo, mirrorPath: join(home, "mirror.git") });
    const tip = await tipOf(mirror, target);
    if (tip.type !== "tip") throw new Error(tip.type);
    const path = join(home, "worktrees/one");
    const opened = await openWorktree(mirror, { path, branch: "ratchet/one", base: tip.sha, copy: [], repoPath: repo });
    commit(path, "one.txt", "1\n");
    const { head, dirtyCount } = await snapshot(path, { base: opened.baseSha, docsPatterns: [] });
    expect(dirtyCount).toBe(0);
    const proposal = await proposeLanding(mirror, {
      target,
      head,
      message: { issue: "one", title: "t", run: "r" },
      identity,
    });
    if (proposal.type !== "proposed") throw new Error(proposal.type);
    expect(await commitLanding(mirror, { target, ...proposal })).toEqual({ type: "landed" });
    expect(await followTarget(mirror, { target, commit: proposal.commit })).toEqual({ behind: null });
    expect(sh(repo, `git rev-parse ${target} && git status --porcelain`)).toBe(head);
  });
});

describe("looking at a repository", () => {
  test("root, branch and head, from a folder inside it, whatever GIT_DIR says", async () => {
    const world = await makeWorld();
    process.env.GIT_DIR = "/nowhere";
    process.env.GIT_INDEX_FILE = "/nowhere/index";
    try {
      expect(await inspectRepository(join(world.repo, "src"))).toEqual({
        root: world.repo,
        gitDir: join(world.repo, ".git"),
        branch: "main",
        head: world.base,
        bare: false,
      });
    } finally {
      delete process.env.GIT_DIR;
      delete process.env.GIT_INDEX_FILE;
    }
  });

  test("detached, without a commit, bare, and none at all", async () => {
    const home = tempFolder();
    await expect(inspectRepository(home)).rejects.toMatchObject({
      name: "UserError",
      code: "no-repository",
      hint: expect.stringContaining("git init"),
    });
    sh(home, "git init -q -b main empty && git init -q --bare bare.git");
    expect(await inspectRepository(join(home, "empty"))).toMatchObject({ branch: "main", head: null, bare: false });
    expect(await inspectRepository(join(home, "bare.git"))).toMatchObject({ bare: true, root: join(home, "bare.git") });
    sh(home, "mkdir -p around/inner && git init -q --bare around/.bare && echo 'gitdir: ./.bare' >around/.git");
    for (const name of ["around", "around/inner"]) {
      expect(await inspectRepository(join(home, name))).toMatchObject({ bare: true, root: join(home, "around") });
    }
    const within = await inspectRepository(join(home, "around/.bare/refs"));
    expect(within).toMatchObject({ bare: true, root: join(home, "around/.bare") });
    makeRepository(join(home, "repo"));
    sh(join(home, "repo"), "git checkout -q --detach");
    expect(await inspectRepository(join(home, "repo"))).toMatchObject({ branch: null });
  });

  test("whether git works with a repository without a checkout is for the settings of whoever stands in it to say", async () => {
    const home = tempFolder();
    sh(home, "git init -q --bare bare.git");
    makeRepository(join(home, "repo"));
    withOwnSettings("[safe]\n\tbareRepository = explicit\n");
    await expect(inspectRepository(join(home, "bare.git"))).rejects.toMatchObject({
      name: "UserError",
      hint: expect.stringContaining("safe.bareRepository"),
    });
    await expect(inspectRepository(join(home, "repo", ".git"))).rejects.toThrow("is inside a .git folder");
    expect(await inspectRepository(join(home, "repo"))).toMatchObject({ branch: "main" });
  });

  test("a branch is called by its name although a tag has the same, and a folder by one with a line end", async () => {
    const odd = join(tempFolder(), "one\ntwo");
    makeRepository(odd);
    sh(odd, "git checkout -q -b 1.x && git tag 1.x");
    expect(await inspectRepository(odd)).toMatchObject({ root: odd, branch: "1.x", bare: false });
  });

  test("a user without an identity commits as Ratchet", async () => {
    const world = await makeWorld();
    expect(await readIdentity(world.repo)).toEqual({ name: "Ada", email: "ada@example.org" });
    sh(world.repo, "git config --unset user.name");
    process.env.GIT_CONFIG_GLOBAL = "/dev/null";
    try {
      expect(await readIdentity(world.repo)).toEqual({ name: "Ratchet", email: "ratchet@localhost" });
    } finally {
      delete process.env.GIT_CONFIG_GLOBAL;
    }
  });
});

test("a diff is cut after a whole line and says so; stat and paths take odd names", async () => {
  const world = await makeWorld();
  const { path } = await open(world, "one");
  const head = commit(path, "tab\tand\nline.txt", "x\n".repeat(1000));
  await snapshot(path, { base: world.base, docsPatterns: [] });
  const range = { base: world.base, head };
  const whole = await diff(world.mirror, range);
  const cut = await diff(world.mirror, { ...range, maxBytes: 500 });
  expect(whole.truncated).toBe(false);
  expect(cut.truncated).toBe(true);
  expect(whole.text.startsWith(cut.text)).toBe(true);
  expect(cut.text.length).toBeGreaterThan(400);
  expect(cut.text.endsWith("\n")).toBe(true);
  expect(await changedPaths(world.mirror, range)).toEqual([Buffer.from("tab\tand\nline.txt")]);
  expect(await diffStat(world.mirror, range)).toEqual([{ path: "tab\tand\nline.txt", added: 1000, removed: 0 }]);
  expect(read(path, "a.txt")).toBe("a\n");
});
