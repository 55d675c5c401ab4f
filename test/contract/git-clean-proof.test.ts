import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isProvenClean } from "../../src/git/worktree/clean-proof.js";
import { discardChanges, snapshot } from "../../src/git/worktree/worktree.js";
import { makeWorld, open, sh } from "./git-fixture.js";

/** A worktree whose files are old enough to prove something, looked at once. */
async function cleanWorktree() {
  const world = await makeWorld();
  const { path, head } = await open(world, "one");
  await until(() => Date.now() - newestChange(path) > 100);
  await snapshot(path, { base: world.base, docsPatterns: [] });
  return { path, head, file: sh(path, "git ls-files | head -1") };
}

function newestChange(path: string): number {
  const names = sh(path, "find . -print").split("\n");
  return Math.max(...names.map((name) => statSync(join(path, name)).ctimeMs));
}

async function until(holds: () => boolean): Promise<void> {
  const giveUpAt = Date.now() + 10_000;
  while (!holds() && Date.now() < giveUpAt) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(holds()).toBe(true);
}

test("a worktree that nobody touched since git found it clean is still clean, at that commit alone", async () => {
  const { path, head } = await cleanWorktree();
  expect(isProvenClean(path, head)).toBe(true);
  expect(isProvenClean(path, "0".repeat(40))).toBe(false);
  expect(await discardChanges(path)).toEqual([]);
});

test("a file changed to the same size and time is found and put back", async () => {
  const { path, head, file } = await cleanWorktree();
  const before = readFileSync(join(path, file), "utf8");
  sh(
    path,
    `cp -p ${file} ../kept && tr a-z b-za <${file} >../other && cat ../other >${file} && touch -r ../kept ${file}`,
  );
  expect(isProvenClean(path, head)).toBe(false);
  expect(await discardChanges(path)).toEqual([file]);
  expect(readFileSync(join(path, file), "utf8")).toBe(before);
});

test("a new file in a folder is found and removed", async () => {
  const { path, head } = await cleanWorktree();
  sh(path, "mkdir deep && echo x >deep/new.txt");
  expect(isProvenClean(path, head)).toBe(false);
  expect(await discardChanges(path)).toEqual(["deep/new.txt"]);
});
