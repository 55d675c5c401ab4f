import { join, resolve } from "node:path";
import { exists, isSameFile, namesIn } from "../../lib/files.js";
import { git } from "../git.js";
import { commonDirOf } from "../repository.js";
import { readOr } from "../small-files.js";

interface Places {
  readonly checkout: string | null;
  /** The folder was removed, or is elsewhere now. */
  readonly isGone: boolean;
  /** More than one folder that it is checked out in, as `git worktree add --force` does it: git would bring one forward. */
  readonly several: readonly string[];
  readonly busy: string | null;
}

/** Where the branch is checked out, and whether an unfinished rebase or bisect will want it back where it was. */
export async function placesOf(repo: string, branch: string): Promise<Places> {
  // The usual case, without asking git: the repository's own checkout is on it.
  const isHere = readOr(join(repo, ".git", "HEAD")).trim() === `ref: ${branch}`;
  if (isHere && namesIn(join(repo, ".git", "worktrees")).length === 0) {
    return { checkout: repo, isGone: false, several: [], busy: await unfinished(join(repo, ".git"), branch) };
  }
  const [listing, commonDir] = await Promise.all([
    git(repo, ["worktree", "list", "--porcelain", "-z"]),
    commonDirOf(repo),
  ]);
  const entries = listing.stdout
    .toString("utf8")
    .split("\0\0")
    .map((entry) => entry.split("\0"));
  const all = entries.flatMap((lines, index) => {
    if (!lines.includes(`branch ${branch}`) || lines.includes("bare")) return [];
    const listed = lines.find((line) => line.startsWith("worktree "))?.slice("worktree ".length) ?? null;
    const checkout = index === 0 && (isHere || leadsTo(repo, listed)) ? repo : listed;
    // Without its `.git` a linked one would be a folder like any other: of another repository, perhaps.
    return checkout === null ? [] : [{ checkout, proof: index === 0 ? checkout : join(checkout, ".git") }];
  });
  const there: string[] = [];
  for (const { checkout, proof } of all) if (await exists(proof)) there.push(checkout);
  const checkout = there[0] ?? all[0]?.checkout ?? null;
  const isGone = checkout !== null && there.length === 0;
  const several = there.length > 1 ? there : [];
  return { checkout, isGone, several, busy: await unfinished(commonDir, branch) };
}

/** Of a checkout whose git folder is elsewhere (`--separate-git-dir`, a submodule) git lists that folder: no work tree. */
function leadsTo(repo: string, listed: string | null): boolean {
  const [, gitDir] = /^gitdir: (.*?)[\r\n]*$/s.exec(readOr(join(repo, ".git"))) ?? [];
  if (listed === null || gitDir === undefined) return false;
  return isSameFile(resolve(repo, gitDir), listed);
}

async function unfinished(commonDir: string, branch: string): Promise<string | null> {
  const there = namesIn(commonDir);
  const worktrees = join(commonDir, "worktrees");
  const linked = there.includes("worktrees") ? namesIn(worktrees).map((name) => join(worktrees, name)) : [];
  const begun = (names: readonly string[]) => names.some((name) => /^rebase-|^BISECT_START$/.test(name));
  const dirs = [...(begun(there) ? [commonDir] : []), ...linked.filter((dir) => begun(namesIn(dir)))];
  const short = branch.replace("refs/heads/", "");
  for (const dir of dirs) {
    for (const [file, what] of [
      ["rebase-merge/head-name", "a rebase"],
      ["rebase-apply/head-name", "a rebase"],
      ["BISECT_START", "a bisect"],
    ] as const) {
      const name = readOr(join(dir, file)).trim();
      if (name === branch || name === short) return `${what} of it is in progress`;
    }
  }
  return null;
}
