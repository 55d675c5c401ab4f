import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "../../lib/errors.js";
import type { Checkout } from "../checkout/checkout-git.js";
import { git } from "../git.js";
import { entriesIn } from "../head.js";
import { bareLinks, changedLinks, linksOf } from "../objects/links.js";
import { linkStatsOf } from "../small-files.js";

/**
 * Repositories inside the worktree that its commit has only as links: submodules, and those that became links without
 * being one. The commit holds nothing but an id, so what it names may be in the worktree, or in its git folder, alone.
 */
export async function linkedRepositories(checkout: Checkout, head: string): Promise<readonly Buffer[]> {
  const links = (await linksOf(checkout, head)).map(({ path }) => path);
  const there = await Promise.all(links.map((link) => isThere(gitOf(checkout, link))));
  return links.filter((_, index) => there[index]);
}

/** Has one of them commits that nobody else has? A submodule's are elsewhere once a branch of its remote has them. */
export async function hasLooseRepositories(checkout: Checkout, head: string): Promise<boolean> {
  const { baseSha, gitDir } = checkout;
  const there = await linkedRepositories(checkout, head);
  const bare = await bareLinks(checkout, { head, changed: await changedLinks(checkout, { base: baseSha, head }) });
  if (there.some((path) => bare.some((link) => link.equals(path)))) return true;
  const inFiles = there.map((path) => gitOf(checkout, path).toString("utf8")).filter(isFolder);
  const folders = [...inFiles, ...gitFoldersBelow(join(gitDir, "modules"))];
  if (folders.length === 0) return false;
  const begun = (await linksOf(checkout, baseSha)).map(({ id }) => id);
  for (const folder of folders) if (await hasOwnCommits(checkout, folder, begun)) return true;
  return false;
}

/** `begun`: what the issue began with is not its work, even where the remote gave it by no branch. */
async function hasOwnCommits(checkout: Checkout, folder: string, begun: readonly string[]): Promise<boolean> {
  const work = ["HEAD", "--branches", "--glob=refs/stash*"];
  return await hasCommits(checkout, folder, ["--ignore-missing", ...work, "--not", "--remotes", ...begun]);
}

async function hasCommits({ gitDir }: Checkout, folder: string, range: readonly string[]): Promise<boolean> {
  // Git goes into the work tree that the folder names, which may have been removed with the submodule.
  const env = { GIT_DIR: folder, GIT_WORK_TREE: gitDir, GIT_NO_REPLACE_OBJECTS: "1" };
  const output = await git(gitDir, ["rev-list", "--max-count=1", ...range, "--"], { env, okCodes: [128] });
  // Of one that git cannot read nobody knows.
  return output.code !== 0 || output.stdout.length > 0;
}

/** A submodule's name may have slashes, and it may have submodules in its turn. */
function gitFoldersBelow(folder: string): readonly string[] {
  const names = foldersIn(folder);
  if (names.includes("objects")) return [folder, ...gitFoldersBelow(join(folder, "modules"))];
  return names.flatMap((name) => gitFoldersBelow(join(folder, name)));
}

function foldersIn(folder: string): readonly string[] {
  return entriesIn(folder)
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}

function gitOf({ path }: Checkout, link: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${path}/`), link, Buffer.from("/.git")]);
}

function isFolder(path: string): boolean {
  return linkStatsOf(path)?.isDirectory() === true;
}

export async function isThere(path: Buffer): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return false;
    throw error;
  }
}
