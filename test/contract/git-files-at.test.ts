import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findCheckout } from "../../src/git/checkout/checkout.js";
import { readChain } from "../../src/git/objects/loose-history.js";
import { lookAtFiles } from "../../src/git/worktree/clean-proof.js";
import { filesAreAt } from "../../src/git/worktree/files-at.js";
import { rounds } from "../rounds.js";
import { commit, makeWorld, open, sh, type World } from "./git-fixture.js";

async function look(path: string, head = sh(path, "git rev-parse HEAD")): Promise<boolean> {
  const checkout = await findCheckout(path);
  const found = lookAtFiles(path);
  expect(found).not.toBeNull();
  return found !== null && filesAreAt(checkout, head, found);
}

async function worktree(prepare?: (repo: string) => void): Promise<{ world: World; path: string }> {
  const world = await makeWorld(prepare);
  return { world, path: (await open(world, "one")).path };
}

describe("files at a commit, without git", () => {
  test("are proven for a fresh worktree, and after commits that add, change, move and delete", async () => {
    const { path } = await worktree();
    expect(await look(path)).toBe(true);
    commit(path, "src/deep/new.ts", "new\n");
    expect(await look(path)).toBe(true);
    sh(path, "git mv a.txt b.txt && ln -s b.txt link && chmod +x src/code.ts && git rm -q docs/guide.md && git add -A");
    sh(path, "git commit -qm more");
    expect(await look(path)).toBe(true);
    expect(await look(path, sh(path, "git rev-parse HEAD~1"))).toBe(false);
  });

  test("are proven when everything old is packed", async () => {
    const { path } = await worktree((repo) => sh(repo, "git repack -adq && git prune-packed"));
    commit(path, "src/code.ts", "changed\n");
    expect(await look(path)).toBe(true);
  });

  test.each([
    ["a change", "echo more >>a.txt"],
    ["a change of the same size with the old times", "cp -p a.txt ../old && echo b >a.txt && touch -r ../old a.txt"],
    ["a mode", "chmod +x a.txt"],
    ["a deleted file", "rm docs/guide.md"],
    ["a new file", "echo x >new"],
    ["an ignored file, which may be anything", "mkdir build && echo x >build/out"],
    ["a file in place of a link", "rm a.txt && ln -s a a.txt"],
    ["a repository of its own", "git init -q inner"],
    ["attributes", "echo '* text' >.gitattributes && git add -A && git commit -qm attributes"],
    [
      "a link to another repository",
      "git init -q l && cd l && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && cd .. && git add l && git commit -qm l",
    ],
  ])("are not proven with %s", async (_what, change) => {
    const { path } = await worktree();
    sh(path, `git config user.name a && git config user.email a@b && ${change}`);
    expect(await look(path)).toBe(false);
  });

  test("are not proven where git converts line ends", async () => {
    const { path } = await worktree((repo) => sh(repo, "git config core.autocrlf input"));
    expect(await look(path)).toBe(false);
  });

  test("an object whose file holds something else is not believed", async () => {
    const { path } = await worktree();
    const head = commit(path, "a.txt", "second\n");
    const { gitDir } = await findCheckout(path);
    const [other, objects] = [sh(path, "git rev-parse HEAD~1"), `${gitDir}/objects`];
    const from = sh(path, `git cat-file commit ${other} >/dev/null; echo ${other.slice(0, 2)}/${other.slice(2)}`);
    const place = `${objects}/${head.slice(0, 2)}/${head.slice(2)}`;
    sh(path, `chmod u+w ${place} && cat ../../mirror.git/objects/${from} >${place}`);
    expect(await look(path, head)).toBe(false);
  });
});

const step = fc.oneof(
  fc.record({
    file: fc.constantFrom("a.txt", "src/code.ts", "x/y", "x/y/z", "n\u00e9w"),
    text: fc.constantFrom("1\n", "22\n", ""),
  }),
  fc.constantFrom("rm -rf x", "rm -f a.txt", "chmod +x src/code.ts", "git commit -q --allow-empty -m none", "mv src y"),
);

function act(path: string, one: string | { file: string; text: string }): void {
  const command =
    typeof one === "string"
      ? one
      : `d=$(dirname "$F"); [ -d "$d" ] || rm -rf "$d"; mkdir -p "$d"; rm -rf "$F"; printf "$T" >"$F"`;
  sh(path, `${command} || true`, typeof one === "string" ? {} : { F: one.file, T: one.text });
}

test("whatever was done: proven only if git finds nothing, and the commits are those of git's log", async () => {
  const { world, path } = await worktree();
  const person = "git config user.name a && git config user.email a@b";
  sh(path, person);
  let turn = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 6 }), fc.boolean(), async (steps, commits) => {
      turn += 1;
      sh(path, `git checkout -q -f -B try${turn} ${world.base} && git clean -ffdxq`);
      for (const one of steps) {
        act(path, one);
        if (commits) sh(path, "git add -A && git commit -qm step --allow-empty");
      }
      const status = sh(path, "git status --porcelain --ignored");
      if (await look(path)) expect(status).toBe("");
      else expect(status === "" && commits).toBe(false);
      const checkout = await findCheckout(path);
      const head = sh(path, "git rev-parse HEAD");
      const chain = readChain(checkout, { base: world.base, head });
      const log = sh(
        path,
        `git -c core.quotePath=false log --format=%H --raw --no-renames --name-only ${world.base}..HEAD`,
      );
      const own = chain?.filter(({ boundary }) => !boundary) ?? [];
      expect(own.flatMap(({ id, paths }) => [id, ...[...paths].sort()])).toEqual(sortedLog(log));
    }),
    { numRuns: rounds(12, 150) },
  );
});

/** A commit's id, then its paths in order. */
function sortedLog(log: string): string[] {
  const groups: string[][] = [];
  for (const line of log.split("\n").filter(Boolean)) {
    if (/^[0-9a-f]{40}$/.test(line)) groups.push([line]);
    else groups.at(-1)?.push(line);
  }
  return groups.flatMap(([id = "", ...paths]) => [id, ...paths.sort()]);
}
