import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findCheckout, markSetUp } from "../../src/git/checkout/checkout.js";
import { openMirror } from "../../src/git/mirror/mirror.js";
import { listParked, parkWork, restoreParked } from "../../src/git/parking/park.js";
import { removeWorktree, snapshot } from "../../src/git/worktree/worktree.js";
import { commit, makeWorld, open, put, read, sh, type World } from "../contract/git-fixture.js";

/** Everything an agent can leave behind, at once. */
function makeMess(path: string): void {
  commit(path, "one.txt", "1\n");
  commit(path, "one.txt", "2\n");
  put(path, "stashed.txt", "in the stash");
  sh(path, "git stash push -q --include-untracked");
  sh(path, "git tag agent-tag && git branch agent-branch HEAD~1");
  sh(path, "GIT_SEQUENCE_EDITOR='sed -i 1s/^pick/edit/' git rebase -i HEAD~2 2>&1 || true");
  sh(path, "git update-index --skip-worktree a.txt && git update-index --assume-unchanged src/code.ts");
  put(path, "a.txt", "hidden by skip-worktree\r\n");
  put(path, "src/code.ts", "hidden by assume-unchanged");
  sh(
    path,
    "mkdir nested && cd nested && git init -q && git config user.name N && git config user.email n@x && echo n > n.txt && git add . && git commit -qm n && echo dirty >> n.txt && echo new > new.txt",
  );
  sh(path, "mkdir empty-nested && cd empty-nested && git init -q && echo x > x.txt");
  sh(
    path,
    "mkdir -p $(git rev-parse --git-path info) && echo excluded.txt >> $(git rev-parse --git-path info/exclude)",
  );
  put(path, "excluded.txt", "hidden by exclude");
  put(path, "staged.txt", "staged version");
  sh(path, "git add staged.txt");
  put(path, "staged.txt", "newer than staged");
  put(path, "we ird\n name\t.txt", "odd name");
  sh(path, "rm docs/guide.md; printf '#!/bin/sh\\n' > tool.sh; chmod 0750 tool.sh; ln -s ../outside link");
  execFileSync("sh", ["-c", "printf bytes > \"$(printf 'caf\\351')\""], { cwd: path });
  sh(
    path,
    "git config user.name Mallory && git config core.hooksPath .evil && git config core.worktree /tmp && git config core.fileMode false && git config alias.status '!false' && git remote add agent /nowhere",
  );
}

/** What a person sees in a repository: config, refs, stash, files. */
function lookAt(path: string): string {
  const commands = [
    "git config --list --local",
    "git for-each-ref",
    "git stash list",
    "git status --porcelain --ignored",
    "git reflog",
  ];
  return commands.map((command) => sh(path, command)).join("\n---\n");
}

/** Content, mode and kind of every file, nested repositories' included. */
function fingerprint(path: string): string {
  const list =
    "find . -path ./.git -prune -o -type f -printf '%m %p ' -exec sha256sum '{}' ';' -o -type l -printf '%p -> %l\\n'";
  return sh(path, `${list} | grep -v ' ./build/' | sort`);
}

async function messyWorld(): Promise<World & { path: string }> {
  const world = await makeWorld();
  const { path } = await open(world, "messy");
  makeMess(path);
  return { ...world, path };
}

describe("D4 a messy agent", () => {
  test("D4 the user's repository sees nothing of it", async () => {
    const world = await makeWorld();
    const before = lookAt(world.repo);
    const { path, branch } = await open(world, "messy");
    makeMess(path);
    await snapshot(path, { base: world.base, docsPatterns: [] });
    await removeWorktree(world.mirror, { path, branch, issue: "messy", landed: null });
    await openMirror({ repoPath: world.repo, mirrorPath: world.mirror.path });
    expect(lookAt(world.repo)).toBe(before);
  });

  test("D4 an issue beside it and the next one see nothing of it", async () => {
    const world = await makeWorld();
    const [messy, beside] = [await open(world, "messy"), await open(world, "beside")];
    const before = lookAt(beside.path);
    makeMess(messy.path);
    expect(lookAt(beside.path)).toBe(before);
    sh(
      messy.path,
      "git gc -q --prune=now && git update-ref -d refs/heads/main && git reflog expire --all --expire=now && git prune --expire=now",
    );
    const head = commit(beside.path, "b.txt", "b");
    sh(beside.path, "git fsck --connectivity-only");
    const next = await open(world, "next");
    expect(lookAt(next.path)).toBe(before.replaceAll("beside", "next"));
    expect((await snapshot(beside.path, { base: world.base, docsPatterns: [] })).head).toBe(head);
  });

  test("D4 the snapshot sees every hidden change and the unfinished rebase", async () => {
    const world = await messyWorld();
    const seen = await snapshot(world.path, { base: world.base, docsPatterns: [] });
    expect([...seen.dirty].sort()).toEqual(
      [
        "(a rebase is in progress)",
        "a.txt",
        "src/code.ts",
        "docs/guide.md",
        "excluded.txt",
        "staged.txt",
        "we ird\n name\t.txt",
        "tool.sh",
        "link",
        Buffer.from("caf\xe9", "latin1").toString("utf8"),
        "nested/ (a repository of its own)",
        "empty-nested/ (a repository of its own)",
      ].sort(),
    );
    expect(seen.filesTree).not.toBe(seen.tree);
  });

  test("D4 parked work comes back byte for byte: files, nested repositories, stash, branches, the rebase", async () => {
    const world = await messyWorld();
    const { path, mirror } = world;
    const before = fingerprint(path);
    const nested = lookAt(join(path, "nested"));
    const head = sh(path, "git --work-tree=. rev-parse HEAD");
    const parked = await parkWork(mirror, { path, issue: "messy" });
    expect(parked?.ref).toBe("refs/ratchet/parked/messy/1");
    await removeWorktree(mirror, { path, branch: "ratchet/messy", issue: "messy", landed: null });
    expect(existsSync(path)).toBe(false);
    sh(mirror.path, "git gc -q --prune=now");
    expect((await listParked(mirror)).map(({ name, n }) => `${name} ${n}`)).toEqual(["messy 1", "messy 2"]);

    const restored = await restoreParked(mirror, { issue: "messy", path });
    expect(restored).toMatchObject({ head, branch: "ratchet/messy", baseSha: world.base });
    expect(fingerprint(path)).toBe(before);
    expect(lookAt(join(path, "nested"))).toBe(nested);
    expect(sh(path, "git show 'stash@{0}^3:stashed.txt'")).toBe("in the stash");
    expect(sh(path, "git show :staged.txt")).toBe("staged version");
    expect(sh(path, "git ls-files -v a.txt src/code.ts")).toBe("S a.txt\nh src/code.ts");
    expect(sh(path, "git rev-parse agent-branch agent-tag | wc -l").trim()).toBe("2");
    expect(sh(path, "git config user.name")).toBe("Ada");
    sh(
      path,
      "git update-index --no-skip-worktree a.txt --no-assume-unchanged src/code.ts && git checkout -q -- . && git rm -q --cached staged.txt",
    );
    sh(path, "git rebase --continue");
    expect(sh(path, "git rev-parse --abbrev-ref HEAD && cat one.txt")).toBe("ratchet/messy\n2");
  });

  test("D4 a conflicted merge is parked and restored with its conflict", async () => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    commit(path, "a.txt", "ours\n");
    sh(path, `git checkout -q -b side ${world.base}`);
    commit(path, "a.txt", "theirs\n");
    sh(path, "git checkout -q ratchet/one && git merge -q side || true");
    const before = sh(path, "git status --porcelain && cat a.txt && git ls-files -u");
    await parkWork(world.mirror, { path, issue: "one" });
    sh(path, "git merge --abort");
    await restoreParked(world.mirror, { issue: "one", n: 1, path });
    expect(sh(path, "git status --porcelain && cat a.txt && git ls-files -u")).toBe(before);
    sh(path, "echo both > a.txt && git commit -qam merged");
    expect(sh(path, "git log -1 --format=%p").split(" ")).toHaveLength(2);
  });

  test("D4 restoring over other work parks that first", async () => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    put(path, "first.txt", "1");
    await parkWork(world.mirror, { path, issue: "one" });
    sh(path, "rm first.txt");
    put(path, "second.txt", "2");
    const restored = await restoreParked(world.mirror, { issue: "one", n: 1, path });
    expect(restored.parked).toBe("refs/ratchet/parked/one/2");
    expect(sh(path, "ls *.txt")).toBe("a.txt\nfirst.txt");
    expect(sh(world.mirror.path, "git show refs/ratchet/parked/one/2:second.txt")).toBe("2");
  });

  test("D4 a folder that became a file, and a file that became a folder, come back as such", async () => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    sh(path, "rm -r src && echo file > src && rm a.txt && mkdir a.txt && echo in > a.txt/in && git init -q docs");
    const before = fingerprint(path);
    await removeWorktree(world.mirror, { path, branch: "ratchet/one", issue: "one", landed: null });
    await restoreParked(world.mirror, { issue: "one", path });
    expect(fingerprint(path)).toBe(before);
    expect(existsSync(join(path, "docs/.git/HEAD"))).toBe(true);
  });

  test("D4 a clean worktree at its base has nothing to park", async () => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    put(path, "build/out", "ignored");
    expect(await parkWork(world.mirror, { path, issue: "one" })).toBeNull();
  });
});

describe("D4 an agent that breaks its git folder", () => {
  test("D4 a deleted .git is put back", async () => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    const head = commit(path, "b.txt", "b");
    sh(path, "rm .git");
    expect(await snapshot(path, { base: world.base, docsPatterns: [] })).toMatchObject({ head, dirtyCount: 0 });
    expect(sh(path, "git rev-parse HEAD")).toBe(head);
  });

  test("D4 a repository made in its place is kept apart, and its files count as uncommitted", async () => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    sh(
      path,
      "rm .git && git init -q && echo b > b.txt && git add -A && git -c user.name=x -c user.email=x@y commit -qm own",
    );
    expect(await snapshot(path, { base: world.base, docsPatterns: [] })).toMatchObject({
      head: world.base,
      dirty: ["b.txt"],
      commits: 0,
    });
    const parked = await parkWork(world.mirror, { path, issue: "one" });
    expect(
      sh(world.mirror.path, `git cat-file blob ${parked?.sha}^2:gitdir.tar | tar -t | grep replaced/.*/HEAD$`),
    ).toContain("HEAD");
  });

  test("D4 an orphan branch, a deleted branch or a broken index does not lose the commits", async () => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    const head = commit(path, "b.txt", "b");
    await snapshot(path, { base: world.base, docsPatterns: [] });
    sh(
      path,
      "git update-ref -d HEAD && git checkout -q --orphan empty && printf junk > $(git rev-parse --git-path index)",
    );
    expect(await snapshot(path, { base: world.base, docsPatterns: [] })).toMatchObject({
      head,
      dirtyCount: 0,
      commits: 1,
    });
    expect(sh(path, "git rev-parse --abbrev-ref HEAD")).toBe("ratchet/one");
  });

  const objectOf = (what: string) => `$(git rev-parse ${what} | sed 's|^..|$(git rev-parse --git-dir)/objects/&/|')`;
  const broken = [
    ["its objects", 'rm -rf "$(git rev-parse --git-dir)/objects"'],
    ["a tree", `eval rm -f "${objectOf("HEAD^{tree}")}"`],
    ["a file's content", `eval rm -f "${objectOf("HEAD:c.txt")}"`],
    ["its objects and refs", 'cd "$(git rev-parse --git-dir)" && rm -rf objects && echo ref: refs/heads/x >HEAD'],
  ] as const;

  async function brokenWorld(how: string) {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    const known = commit(path, "b.txt", "b");
    markSetUp(await findCheckout(path));
    await snapshot(path, { base: world.base, docsPatterns: [] });
    const lost = commit(path, "c.txt", "c");
    put(path, "loose.txt", "loose");
    const before = fingerprint(path);
    sh(path, how);
    return { world, path, known, lost, before };
  }

  test.each(broken)(
    "D4 one that deletes %s is told so, and goes on from what is whole with its files",
    async (_, how) => {
      const { world, path, known, lost, before } = await brokenWorld(how);
      const users = lookAt(world.repo);
      const look = () => snapshot(path, { base: world.base, docsPatterns: [] });
      await expect(look()).rejects.toThrow(`is damaged: objects of commit ${lost.slice(0, 12)} are missing`);
      const told = `Commit ${lost.slice(0, 12)} was lost, its objects were deleted: it goes on from ${known.slice(0, 12)}`;
      const asked = { from: "worktree", head: known, fresh: false, lost: expect.stringContaining(told) };
      for (const times of [1, 2]) expect([times, await open(world, "one")]).toMatchObject([times, asked]);
      expect(fingerprint(path)).toBe(before);
      expect(await look()).toMatchObject({ head: known, dirty: ["c.txt", "loose.txt"], commits: 1 });
      const head = commit(path, "d.txt", "d");
      sh(path, "git fsck --connectivity-only");
      expect(await look()).toMatchObject({ head, dirtyCount: 0, commits: 2 });
      expect(await open(world, "one")).not.toHaveProperty("lost");
      sh(world.mirror.path, "git fsck --connectivity-only");
      expect(lookAt(world.repo)).toBe(users);
    },
  );

  test.each(broken)("D4 where one has deleted %s, what is left is parked and comes back", async (_, how) => {
    const { world, path, known, before } = await brokenWorld(how);
    const { parked } = await removeWorktree(world.mirror, { path, branch: "ratchet/one", issue: "one", landed: null });
    expect([parked?.ref, existsSync(path)]).toEqual(["refs/ratchet/parked/one/1", false]);
    expect(await restoreParked(world.mirror, { issue: "one", path })).toMatchObject({ head: known });
    expect(fingerprint(path)).toBe(before);
    sh(path, how.replace("c.txt", "b.txt"));
    expect(await restoreParked(world.mirror, { issue: "one", path })).toMatchObject({
      parked: "refs/ratchet/parked/one/2",
    });
    expect(fingerprint(path)).toBe(before);
  });

  /** In its git folder. `keeps`: the last commit can still be found. */
  const unusable = [
    ["refs that are gone", "rm -rf refs", false],
    ["a file in the place of its branches", "rm -rf refs/heads && touch refs/heads", false],
    ["a nonsensical shallow", "echo x >shallow", true],
    ["nonsensical packed refs", "echo garbage >packed-refs", true],
    ["a folder as HEAD", "rm HEAD && mkdir HEAD", false],
    ["a file in the place of its objects", "rm -rf objects && touch objects", false],
    ["a folder as configuration", "rm config && mkdir config", true],
    ["a link to itself", "rm -rf info && ln -s info info", true],
  ] as const;

  async function unusableWorld(how: string) {
    const made = await brokenWorld("true");
    sh(made.path, `cd "$(git rev-parse --git-dir)" && ${how}`);
    return made;
  }

  test.each(unusable)("D4 one that leaves %s has its git folder made anew, with its files", async (_, how, keeps) => {
    const { world, path, known, lost, before } = await unusableWorld(how);
    const users = lookAt(world.repo);
    const head = keeps ? lost : known;
    const told = `Its git folder was damaged and is made anew: it goes on from ${head.slice(0, 12)} with the files`;
    const asked = { from: "worktree", head, fresh: false, lost: expect.stringContaining(told) };
    for (const times of [1, 2]) expect([times, await open(world, "one")]).toMatchObject([times, asked]);
    expect(fingerprint(path)).toBe(before);
    const look = () => snapshot(path, { base: world.base, docsPatterns: [] });
    expect(await look()).toMatchObject({ head, dirty: keeps ? ["loose.txt"] : ["c.txt", "loose.txt"] });
    const next = commit(path, "d.txt", "d");
    sh(path, "git fsck --connectivity-only");
    expect(await look()).toMatchObject({ head: next, dirtyCount: 0 });
    sh(world.mirror.path, "git fsck --connectivity-only");
    expect(lookAt(world.repo)).toBe(users);
  });

  test.each(unusable)("D4 where one has left %s, its files are parked and come back", async (_, how) => {
    const { world, path, before } = await unusableWorld(how);
    const { parked } = await removeWorktree(world.mirror, { path, branch: "ratchet/one", issue: "one", landed: null });
    expect([parked?.ref, existsSync(path)]).toEqual(["refs/ratchet/parked/one/1", false]);
    await restoreParked(world.mirror, { issue: "one", path });
    expect(fingerprint(path)).toBe(before);
  });

  test.each([
    ["an empty index", ": >index"],
    ["a nonsensical index", "echo garbage >index"],
    ["a folder as index", "rm index && mkdir -p index/x"],
    ["a link to itself as index", "rm index && ln -s index index"],
  ])("D4 one that leaves %s loses nothing else: commits, branches, tags, stash and files stay", async (_, how) => {
    const {
      world,
      path,
      lost: head,
    } = await brokenWorld(
      "git add -A && git stash -q && git branch side stash && git tag -am t mine stash && echo loose >loose.txt",
    );
    const [refs, before] = [sh(path, "git for-each-ref"), fingerprint(path)];
    const breakIndex = () => sh(path, `cd "$(git rev-parse --git-dir)" && ${how}`);
    const kept = () => [sh(path, "git for-each-ref"), fingerprint(path), sh(path, "git status --porcelain")];
    breakIndex();
    const told = `Its index could not be read and is made anew: it goes on from ${head.slice(0, 12)} with the files`;
    expect(await open(world, "one")).toMatchObject({ from: "worktree", head, lost: expect.stringContaining(told) });
    expect(kept()).toEqual([refs, before, "?? loose.txt"]);
    breakIndex();
    const { parked } = await removeWorktree(world.mirror, { path, branch: "ratchet/one", issue: "one", landed: null });
    expect([parked?.ref, existsSync(path)]).toEqual(["refs/ratchet/parked/one/1", false]);
    await restoreParked(world.mirror, { issue: "one", path });
    expect(kept()).toEqual([refs, before, "?? loose.txt"]);
  });

  test.each([
    ["its branch", ": >refs/heads/ratchet/one"],
    ["its branch and HEAD", ": >refs/heads/ratchet/one; : >HEAD"],
    [
      "a branch of its own that it was on",
      "git update-ref refs/heads/ratchet/one HEAD~2; echo ref: refs/heads/x >HEAD; : >refs/heads/x",
    ],
  ])("D4 with an empty file as %s it goes on from what the mirror knows, and says so", async (_, how) => {
    const { world, path, lost: head, before } = await brokenWorld("true");
    await snapshot(path, { base: world.base, docsPatterns: [] });
    sh(path, `cd "$(git rev-parse --git-dir)"; ${how}`);
    const told = `Its branch could not be read: it goes on from ${head.slice(0, 12)} with the files`;
    expect(await open(world, "one")).toMatchObject({ from: "worktree", head, lost: expect.stringContaining(told) });
    expect(sh(world.mirror.path, "git rev-parse ratchet/one")).toBe(head);
    expect(sh(path, "git rev-parse HEAD ratchet/one && git status --porcelain")).toBe(`${head}\n${head}\n?? loose.txt`);
    expect(fingerprint(path)).toBe(before);
  });

  test("D4 with an empty HEAD it goes on from its own branch, which the mirror need not know yet", async () => {
    const {
      world,
      path,
      lost: head,
    } = await brokenWorld('git commit -q --amend -m other; : >"$(git rev-parse --git-dir)/HEAD"');
    const amended = sh(path, 'cat "$(sed "s/gitdir: //" .git)/refs/heads/ratchet/one"');
    expect(amended).not.toBe(head);
    const opened = await open(world, "one");
    expect([opened.head, opened.lost]).toEqual([amended, undefined]);
  });

  /** `$d` is its git folder, `$w` its worktree. `keeps`: the last commit can still be found. */
  const deleted = [
    ["nothing", "rm -rf $d", false],
    ["an empty folder", "rm -rf $d/*", false],
    ["nothing, nor in that of its .git,", "rm -rf $d $w/.git", false],
    ["an empty folder, and a repository in that of its .git,", "rm -rf $d/* $w/.git; git -C $w init -q", false],
    ["a link that leads nowhere", "rm -rf $d; ln -s /nonexist $d", false],
    ["a link to somebody else's", "rm -rf $d; ln -s $PWD $d", false],
    ["a file", "rm -rf $d; touch $d", false],
    ["one that does not say what it is", "echo garbage >$d/ratchet/checkout.json", true],
    ["one that says it with a folder", "rm $d/ratchet/checkout.json; mkdir $d/ratchet/checkout.json", true],
    ["one that began nowhere", 'echo \'{"branch":"ratchet/one","baseSha":"x"}\' >$d/ratchet/checkout.json', true],
  ] as const;

  async function deletedWorld(how: string) {
    const made = await brokenWorld("true");
    const bystander = join(made.world.home, "bystander");
    sh(made.world.home, `w='${made.path}'; d=$(git -C $w rev-parse --git-dir); mkdir bystander; cd bystander; ${how}`);
    return { ...made, bystander };
  }

  test.each(deleted)("D4 with %s in the place of its git folder it goes on with its files", async (_, how, keeps) => {
    const { world, path, known, lost, before, bystander } = await deletedWorld(how);
    const head = keeps ? lost : known;
    const told = `Its git folder was damaged and is made anew: it goes on from ${head.slice(0, 12)} with the files`;
    const opened = await open(world, "one");
    expect(opened).toMatchObject({ from: "worktree", head, lost: expect.stringContaining(told) });
    expect([opened.aside, fingerprint(path)]).toEqual([undefined, before]);
    const next = commit(path, "d.txt", "d");
    sh(path, "git fsck --connectivity-only");
    const look = () => snapshot(path, { base: world.base, docsPatterns: [] });
    expect(await look()).toMatchObject({ head: next, dirtyCount: 0 });
    expect(readdirSync(bystander)).toEqual([]);
  });

  test.each(deleted)("D4 with %s in the place of its git folder its files are parked and come back", async (_, how) => {
    const { world, path, before } = await deletedWorld(how);
    const { parked } = await removeWorktree(world.mirror, { path, branch: "ratchet/one", issue: "one", landed: null });
    expect([parked?.ref, existsSync(path)]).toEqual(["refs/ratchet/parked/one/1", false]);
    await restoreParked(world.mirror, { issue: "one", path });
    expect(fingerprint(path)).toBe(before);
  });

  test("D4 files in the place of a worktree of which nothing is known are nobody's, and are put aside", async () => {
    const world = await makeWorld();
    const path = join(world.home, "worktrees", "one");
    for (const name of ["a.txt", "theirs.txt"]) put(path, name, "theirs");
    const { aside = [], from } = await open(world, "one");
    expect([from, aside.map((folder) => readdirSync(folder))]).toEqual(["new", [["a.txt", "theirs.txt"]]]);
    expect(sh(path, "git status --porcelain; cat a.txt")).toBe("a");
  });

  test("D4 one that puts its neighbour's git folder in the place of its own has nothing of theirs", async () => {
    const { world, path, known, before } = await brokenWorld("true");
    const { path: other } = await open(world, "two");
    const theirs = commit(other, "theirs.txt", "theirs");
    await snapshot(other, { base: world.base, docsPatterns: [] });
    sh(path, `d=$(git rev-parse --git-dir); rm -rf $d; cp -r $(git -C '${other}' rev-parse --git-dir) $d`);
    const own = commit(path, "more.txt", "more");
    await expect(snapshot(path, { base: world.base, docsPatterns: [] })).rejects.toThrow("is damaged");
    sh(path, "rm more.txt");
    const opened = await open(world, "one");
    expect(opened).toMatchObject({ from: "worktree", head: known, lost: expect.stringContaining("is made anew") });
    expect(fingerprint(path)).toBe(before);
    expect(sh(world.mirror.path, "git rev-parse ratchet/one ratchet/two")).toBe(`${known}\n${theirs}`);
    expect(own).not.toBe(known);
  });

  test("D4 one that deletes the mirror with it goes on with its files, too", async () => {
    const { world, path, before } = await brokenWorld("true");
    sh(world.home, "rm -rf mirror.git");
    await openMirror({ repoPath: world.repo, mirrorPath: world.mirror.path });
    const opened = await open(world, "one");
    expect(opened).toMatchObject({ from: "worktree", head: world.base, lost: expect.stringContaining("is made anew") });
    expect([opened.aside, fingerprint(path)]).toEqual([undefined, before]);
  });

  test("D4 a damaged git folder is not made anew while somebody works in the worktree", async () => {
    const { world, path } = await unusableWorld("rm HEAD && mkdir HEAD");
    const somebody = spawn("sleep", ["60"], { cwd: path });
    await once(somebody, "spawn");
    const gitDir = join(world.mirror.path, "checkouts", readdirSync(join(world.mirror.path, "checkouts"))[0] ?? "");
    await expect(open(world, "one")).rejects.toThrow(
      `is damaged: \`ratchet run --resume\` makes ${gitDir} anew, once nobody works in the worktree`,
    );
    somebody.kill("SIGKILL");
    await once(somebody, "exit");
    expect(await open(world, "one")).toMatchObject({ from: "worktree" });
  });

  test("D4 commits made on a branch of its own count, and land in the issue's branch", async () => {
    const world = await makeWorld();
    const { path } = await open(world, "one");
    sh(path, "git checkout -q -b feature");
    const head = commit(path, "b.txt", "b");
    expect(await snapshot(path, { base: world.base, docsPatterns: [] })).toMatchObject({
      head,
      commits: 1,
      dirtyCount: 0,
    });
    expect(sh(world.mirror.path, "git rev-parse ratchet/one")).toBe(head);
    expect(read(path, "b.txt")).toBe("b");
  });
});
