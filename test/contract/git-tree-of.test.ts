import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { treeOf } from "../../src/git/objects/tree-of.js";

test("the tree of a commit is the one git says, new or packed; what is no commit has none", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ratchet-tree-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const feed = (input: string, ...args: string[]) =>
    execFileSync("git", ["-C", folder, ...args], { input, encoding: "utf8" }).trim();
  const git = (...args: string[]) => feed("", ...args);
  git("init", "--quiet", "--bare");
  const blob = feed("x\n", "hash-object", "-w", "--stdin");
  const tree = feed(`100644 blob ${blob}\tfile\n`, "mktree");
  const commit = git("-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", tree, "-m", "one");
  git("update-ref", "refs/heads/main", commit);

  expect(await treeOf(folder, commit)).toBe(tree);
  await expect(treeOf(folder, blob)).rejects.toThrow();
  git("repack", "-adq");
  expect(await treeOf(folder, commit)).toBe(tree);
  expect(git("count-objects")).toMatch(/^0 objects/);
});
