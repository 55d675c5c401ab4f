import { join } from "node:path";
import { expect, test } from "vitest";
import { pushBranch } from "../../src/git/landing/push.js";
import { openForItem } from "../../src/git/worktree/item-worktree.js";
import { commit, makeWorld, open, sh } from "./git-fixture.js";

test("P6 a rework goes on from what others made of the branch; ours is parked, and what was never pushed stays", async () => {
  const world = await makeWorld((repo) =>
    sh(repo, "git clone -q --bare . ../forge.git && git remote add origin ../forge.git"),
  );
  const { mirror, base, home, repo } = world;
  const { path, branch } = await open(world, "one");
  const ours = commit(path, "one.txt", "ours\n");
  const place = { path, branch, base, copy: [], repoPath: repo };
  await openForItem(mirror, { ...place, asItIs: true });
  expect(await pushBranch(mirror, { branch, head: ours })).toEqual({ type: "pushed" });

  const hands = join(home, "hands");
  sh(home, `git clone -q --branch ${branch} forge.git hands`);
  const rewrite = (text: string) =>
    sh(
      hands,
      `git config user.name Mo; git config user.email mo@example.org; git fetch -q; git reset -q --hard ${base}
       echo ${text} > one.txt; git add -A; git commit -q -m ${text}; git push -q --force origin HEAD:${branch}; git rev-parse HEAD`,
    );
  const theirs = rewrite("theirs");
  expect(await openForItem(mirror, place)).toMatchObject({ head: theirs, pushed: theirs, rewritten: true });
  expect(sh(mirror.path, `git for-each-ref --contains ${ours} --format='%(refname)' refs/ratchet/parked`)).not.toBe("");

  const unpushed = commit(path, "two.txt", "not pushed yet\n");
  rewrite("again");
  expect(await openForItem(mirror, place)).toMatchObject({ head: unpushed, rewritten: false });
});
