import type { Settings } from "../core/settings.js";
import { GitError, git } from "../git/git.js";
import { readRefs } from "../git/mirror/mirror-refs.js";
import type { Repository } from "../git/repository.js";
import { UserError } from "../lib/errors.js";
import { shellWord } from "../lib/quoted.js";

/** The branch that a run lands on. Throws UserError where there is none. */
export async function targetOf(repository: Repository, { finalize }: Settings): Promise<string> {
  const target = finalize.into ?? repository.branch;
  if (target === null) {
    throw new UserError("the checkout is detached, so there is no branch to land on", {
      hint: "check out a branch, or set finalize.into in ratchet.yaml",
      code: "detached",
    });
  }
  const ref = `refs/heads/${target}`;
  if (target === repository.branch || (await readRefs(repository.root, [ref])).has(ref)) return target;
  throw new UserError(`finalize.into names ${target}, and there is no such branch`, { hint: hintFor(target) });
}

function hintFor(target: string): string {
  const [, short] = /^refs\/heads\/(.+)$/.exec(target) ?? [];
  if (short !== undefined) return `a branch's name is enough: finalize.into: ${short}`;
  return `git branch ${shellWord(target)}`;
}

/**
 * Which files of the checkout no worktree will have: those that the target's commit does not have. What git ignores may
 * be made there by `commands.setup`, unless that needs it.
 */
export async function filesNotOnTarget(
  repository: Repository,
  settings: Settings,
  { paths, forSetup = false }: { readonly paths: readonly string[]; readonly forSetup?: boolean },
): Promise<readonly string[]> {
  if (paths.length === 0 || repository.bare) return [];
  const { root } = repository;
  const commit = `refs/heads/${await targetOf(repository, settings)}`;
  const committed = await names(root, ["ls-tree", "-r", "-z", "--name-only", commit, "--", ...paths]);
  const missing = paths.filter((path) => !committed.includes(path));
  if (missing.length === 0 || forSetup || settings.commands.setup === undefined) return missing;
  const ignored = await ignoredFiles(root, missing);
  return missing.filter((path) => !ignored.includes(path));
}

/** Which of these files of a folder git leaves out; outside of a repository, and without git, none. */
export async function ignoredFiles(folder: string, paths: readonly string[]): Promise<readonly string[]> {
  try {
    return await names(folder, ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--", ...paths]);
  } catch (error) {
    if (error instanceof GitError || error instanceof UserError) return [];
    throw error;
  }
}

async function names(root: string, args: readonly string[]): Promise<string[]> {
  return (await git(root, args)).stdout.toString("utf8").split("\0");
}
