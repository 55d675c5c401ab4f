import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { gitDirFor } from "../../src/git/checkout/checkout.js";
import { openLandingWorktree } from "../../src/git/landing/land.js";
import { keepIndex } from "../../src/git/worktree/kept-index.js";
import { discardChanges } from "../../src/git/worktree/worktree.js";
import { makeWorld, open, sh } from "./git-fixture.js";

const entries = "git ls-files --stage -v";

/** A worktree whose agent has left its index so, kept; then somebody looks at it. */
async function lookedAt({ agent = "true", reader }: { readonly agent?: string; readonly reader: string }) {
  const world = await makeWorld();
  const { path, head } = await open(world, "one");
  sh(path, agent);
  const before = sh(path, entries);
  keepIndex(gitDirFor(world.mirror, path), head);
  sh(path, reader);
  const told: string[] = [];
  const found = await discardChanges(path, head, (paths) => void told.push(...paths));
  expect(sh(path, entries)).toBe(before);
  expect(told).toEqual(found);
  expect(await discardChanges(path, head)).toEqual([]);
  return found;
}

describe("D4 the agent's index is as it was before somebody looked", () => {
  test.each<[string, string, string[]]>([
    ["takes a file out", "git rm -q --cached a.txt", ["index (a.txt)"]],
    [
      "stages a change and restores the file",
      "cp a.txt ../aside; echo x >a.txt; git add a.txt; mv ../aside a.txt",
      ["index (a.txt)"],
    ],
    ["stages another mode", "git update-index --chmod=+x a.txt", ["index (a.txt)"]],
    ["hides a file", "git update-index --skip-worktree a.txt", ["index (a.txt)"]],
    ["assumes a file unchanged", "git update-index --assume-unchanged a.txt", ["index (a.txt)"]],
    ["announces a file and removes it", "echo x >n; git add -N n; rm n", ["index (n)"]],
    ["removes the index", 'rm "$(git rev-parse --git-path index)"', ["index (it is gone)"]],
    ["puts a folder there", 'i=$(git rev-parse --git-path index); rm "$i"; mkdir "$i"', ["index (it is gone)"]],
    ["spoils the index", 'echo x >"$(git rev-parse --git-path index)"', ["index (it cannot be read)"]],
    ["changes a file, and stages it", "echo x >a.txt; git add a.txt", ["a.txt"]],
    ["has git look at the files again", "touch a.txt; git status", []],
    ["writes the same in another format", "git update-index --index-version 4; git status", []],
    ["moves a file away and back", "git mv a.txt b.txt; git mv b.txt a.txt", []],
  ])("one that %s", async (_, reader, found) => {
    expect(await lookedAt({ reader })).toEqual(found);
  });

  test("what the agent had staged or hidden stays so", async () => {
    const agent = "git update-index --skip-worktree a.txt; git rm -q --cached src/code.ts";
    expect(await lookedAt({ agent, reader: "git status" })).toEqual([]);
    expect(await lookedAt({ agent, reader: "git reset -q" })).toEqual(["index (src/code.ts)"]);
    expect(await lookedAt({ agent, reader: "echo x >a.txt" })).toEqual(["a.txt"]);
  });

  test("that of another commit is forgotten where merges are gated one after the other", async () => {
    const { home, repo, mirror, base } = await makeWorld((path) => sh(path, "git rm -q a.txt; git commit -qm x"));
    const [path, other] = [join(home, "landing"), sh(repo, "git rev-parse HEAD~1")];
    await openLandingWorktree(mirror, { path, commit: other });
    keepIndex(gitDirFor(mirror, path), other);
    await openLandingWorktree(mirror, { path, commit: base });
    expect(await discardChanges(path, base)).toEqual([]);
    expect(sh(path, "git status --short")).toBe("");
  });

  test("one that is of another commit is not put back beside the files of this one", async () => {
    const world = await makeWorld();
    const { path, head } = await open(world, "one");
    const before = sh(path, entries);
    sh(path, "git rm -q a.txt && git commit -qm x");
    keepIndex(gitDirFor(world.mirror, path), head);
    expect(await discardChanges(path, head)).toHaveLength(2);
    expect(sh(path, entries)).toBe(before);
  });
});
