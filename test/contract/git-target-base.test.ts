import { renameSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { commitLanding, proposeLanding } from "../../src/git/landing/land.js";
import { snapshot } from "../../src/git/worktree/worktree.js";
import { rounds } from "../rounds.js";
import { commit, makeWorld, open, sh, type World } from "./git-fixture.js";

const docsPatterns = ["**/*.md"];
const identity = { name: "Ada", email: "ada@example.org" };

async function see({ base, repo: repoPath }: World, path: string, reviewBase?: string) {
  const preferred = reviewBase === undefined ? {} : { reviewBase };
  return await snapshot(path, { base, repoPath, ...preferred, docsPatterns, target: "main", followsTarget: true });
}

async function land({ mirror }: World, head: string): Promise<string> {
  const message = { issue: "x", title: "X", run: "r" };
  const proposal = await proposeLanding(mirror, { target: "main", head, message, identity });
  if (proposal.type !== "proposed") throw new Error(proposal.type);
  await commitLanding(mirror, { target: "main", ...proposal });
  return proposal.commit;
}

/** An issue at work, and what another has landed meanwhile. */
async function movedWorld() {
  const world = await makeWorld();
  const { path } = await open(world, "one");
  const { path: other } = await open(world, "two");
  commit(other, "other.txt", "other");
  const landed = await land(world, (await see(world, other)).head);
  return { world, path, landed };
}

describe("the newest commit of the target that HEAD has", () => {
  test("is the base, wherever the target is by now", async () => {
    const { world, path } = await movedWorld();
    expect(await see(world, path)).toMatchObject({ targetBase: world.base, commits: 0 });
    commit(path, "b.txt", "b");
    commit(path, "b.txt", "c");
    expect(await see(world, path)).toMatchObject({ targetBase: world.base, commits: 2 });
    commit(world.repo, "person.txt", "p");
    expect(await see(world, path)).toMatchObject({ targetBase: world.base, commits: 2 });
  });

  test.each([
    ["merged", "git merge -q -s ours -m merged", 2],
    ["rebased onto", "git rebase -q", 1],
    ["taken to begin anew from", "git branch old; f() { git reset -q --hard $1; git cherry-pick old; }; f", 1],
  ])("is what was %s", async (_, how, commits) => {
    const { world, path, landed } = await movedWorld();
    commit(path, "guide.md", "b");
    sh(path, `${how} ${landed}`);
    expect(await see(world, path)).toMatchObject({ targetBase: landed, commits, docsOnly: true, containsBase: true });
    sh(path, `git reset -q --hard ${world.base}`);
    commit(path, "b.txt", "b");
    expect(await see(world, path)).toMatchObject({ targetBase: world.base, commits: 1 });
  });

  test("is known while the user's repository is being moved, and where it is then", async () => {
    const { world, path, landed } = await movedWorld();
    const moved = `${world.repo}-moved`;
    renameSync(world.repo, moved);
    commit(path, "b.txt", "b");
    expect(await see(world, path)).toMatchObject({ targetBase: world.base, commits: 1 });
    sh(path, `git merge -q -m merged ${landed}`);
    expect(await see(world, path)).toMatchObject({ targetBase: landed, commits: 2 });
    const theirs = commit(moved, "person.txt", "p");
    sh(path, `git fetch -q ${moved} main && git merge -q -m theirs FETCH_HEAD`);
    expect(await see({ ...world, repo: moved }, path, theirs)).toMatchObject({ targetBase: theirs });
  });

  test("is a commit of the user's that nothing has landed on, too", async () => {
    const { world, path } = await movedWorld();
    commit(path, "b.txt", "b");
    const theirs = commit(world.repo, "person.txt", "p");
    sh(path, `git fetch -q ${world.repo} main && git merge -q -m merged FETCH_HEAD`);
    expect(await see(world, path)).toMatchObject({ targetBase: theirs, commits: 2 });
    const landed = sh(world.mirror.path, "git rev-parse refs/ratchet/landed/main");
    sh(path, `git merge -q -m both ${landed}`);
    expect((await see(world, path, theirs)).targetBase).toBe(theirs);
    expect((await see(world, path, landed)).targetBase).toBe(landed);
  });

  test.each([
    ["reset to", "git reset -q --hard"],
    ["fast-forwarded to", "git reset -q --hard HEAD~1; git merge -q --ff-only"],
  ])("leaves nothing of its own where HEAD was %s it", async (_, how) => {
    const { world, path, landed } = await movedWorld();
    commit(path, "b.txt", "b");
    sh(path, `${how} ${landed}`);
    expect(await see(world, path)).toMatchObject({ head: landed, targetBase: landed, commits: 0 });
  });

  test("is not told of work that somebody else has landed: it is the issue's all the same", async () => {
    const { world, path } = await movedWorld();
    const head = commit(path, "b.txt", "b");
    sh(world.repo, `git fetch -q ${path} HEAD && git merge -q FETCH_HEAD`);
    const seen = await see(world, path);
    expect([seen.head, seen.targetBase, seen.commits]).toEqual([head, undefined, 1]);
    commit(path, "b.txt", "more");
    expect(await see(world, path)).toMatchObject({ targetBase: head, commits: 1 });
  });

  test("is what git says, whatever lands, is merged or put back meanwhile", async () => {
    const world = await makeWorld();
    const works = await Promise.all(["a", "b", "c"].map(async (name) => ({ name, ...(await open(world, name)) })));
    let seed = 7;
    const pick = (below: number) => {
      seed = (seed * 1103515245 + 12345) % 2 ** 31;
      return seed % below;
    };
    for (let round = 0; round < rounds(15, 200); round++) {
      const work = works[pick(works.length)];
      if (work === undefined) continue;
      const { path, name } = work;
      const tip =
        sh(world.mirror.path, "git rev-parse -q --verify refs/ratchet/landed/main || echo").trim() || world.base;
      const does = pick(5);
      if (does === 0) sh(path, `git merge -q -m merged ${tip}`);
      else if (does === 1) sh(path, `git reset -q --hard ${tip}`);
      else if (does === 2) sh(path, `git rebase -q ${tip}`);
      if (does !== 1) commit(path, `${name}.txt`, `${round}`);
      const { head, targetBase, commits } = await see(world, path);
      const newest = sh(path, `git merge-base ${head} ${tip}`);
      const own = sh(path, `git rev-list --count ${newest}..${head}`);
      // What it made itself and has landed is its own.
      if (targetBase === undefined) expect([round, newest]).toEqual([round, head]);
      else expect([round, targetBase, commits]).toEqual([round, newest, Number(own)]);
      if (pick(3) > 0) continue;
      await land(world, head);
      // The next issue begins from there.
      const begun = sh(world.mirror.path, "git rev-parse refs/ratchet/landed/main");
      sh(path, `git checkout -q --detach ${begun}`);
    }
  });
});
