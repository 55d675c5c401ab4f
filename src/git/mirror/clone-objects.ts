import { randomBytes } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { GitError, git } from "../git.js";

/** The name of the branch that a mirror is on: nobody has one of that name. */
export const noBranch = "ref: refs/heads/ratchet/none\n";

/** Has a bare repository beside `path`, with all objects of the one at `repoPath` and no ref, for as long as it is used. */
export async function withObjectsOf<T>(
  { repoPath, path }: { readonly repoPath: string; readonly path: string },
  use: (aside: string, mark: string) => Promise<T>,
): Promise<T> {
  const mark = `${process.pid}-${randomBytes(4).toString("hex")}`;
  const aside = join(dirname(path), `.${basename(path)}.new-${mark}`);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  try {
    await cloneObjects(repoPath, aside);
    return await use(aside, mark);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

/** A clone that takes objects only. Hard links where possible; a repository being packed at this moment is read the slow way. */
async function cloneObjects(repoPath: string, path: string): Promise<void> {
  const clone = (how: string) =>
    git(dirname(path), ["clone", "--quiet", "--bare", "--no-tags", "--template=", how, repoPath, path]);
  try {
    await clone("--local");
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    await rm(path, { recursive: true, force: true });
    await clone("--no-local");
  }
  await rm(join(path, "packed-refs"), { force: true });
  await rm(join(path, "refs", "heads"), { recursive: true, force: true });
  await mkdir(join(path, "refs", "heads"));
  await writeFile(join(path, "HEAD"), noBranch);
}
