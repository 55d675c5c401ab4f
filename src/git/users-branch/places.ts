import { join, resolve } from "node:path";
import { exists, isMissing, isSameFile, namesIn } from "../../lib/files.js";
import { git } from "../git.js";
import { resolveHead } from "../head.js";
import { commonDirOf } from "../repository.js";
import { readOr, textOf } from "../small-files.js";

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

const applying = "rebase-apply/applying";

/** Of what makes its commits on the branch itself, and goes back to where that was if it is given up. */
async function seriesIn(dir: string): Promise<string | null> {
  if (await exists(join(dir, applying))) return "git am";
  if (await exists(join(dir, "REVERT_HEAD"))) return "a revert";
  if (await exists(join(dir, "CHERRY_PICK_HEAD"))) return "a cherry-pick";
  return (await exists(join(dir, "sequencer"))) ? "a series of cherry-picks or reverts" : null;
}

async function unfinished(commonDir: string, branch: string): Promise<string | null> {
  const begun = /^rebase-|^BISECT_START$|^sequencer$|^(?:CHERRY_PICK|REVERT)_HEAD$/;
  const dirs = gitDirsIn(commonDir).filter((dir) => namesIn(dir).some((name) => begun.test(name)));
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
    const what = headOf(dir, commonDir) === branch ? await seriesIn(dir) : null;
    if (what !== null) return `${what} is in progress on it`;
  }
  return null;
}

/**
 * Where the branch was before a series of commits was begun on it that has not come to its end, and may be given up yet.
 * Null: there is none.
 */
export async function beforeSeries(repo: string, branch: string): Promise<string | null> {
  const commonDir = await commonDirOf(repo);
  for (const dir of gitDirsIn(commonDir)) {
    const [isAm, isSeries] = [applying, "sequencer"].map((name) => !isMissing(join(dir, name)));
    if (!(isAm || isSeries) || headOf(dir, commonDir) !== branch) continue;
    return resolveHead(dir, isAm ? "ORIG_HEAD" : "sequencer/head");
  }
  return null;
}

/** Without starting git, as is usual, where it is checked out nowhere. */
export async function isCheckedOut(repo: string, branch: string): Promise<boolean> {
  const commonDir = await commonDirOf(repo);
  const heads = gitDirsIn(commonDir).map((dir) => headOf(dir, commonDir));
  // Of a bare repository it is no checkout's; and it may be kept elsewhere than in that file.
  const isLikely = heads.some((head) => head === branch || head.endsWith("/.invalid"));
  return isLikely && (await placesOf(repo, branch)).checkout !== null;
}

/** Of the repository's own checkout and of its worktrees. */
export function gitDirsIn(commonDir: string): readonly string[] {
  const worktrees = join(commonDir, "worktrees");
  return [commonDir, ...namesIn(worktrees).map((name) => join(worktrees, name))];
}

/** The branch that is checked out, which another one may be a name of. */
function headOf(dir: string, commonDir: string): string {
  let name = readOr(join(dir, "HEAD")).trim().replace("ref: ", "");
  for (let depth = 0; depth < 5; depth++) {
    const text = textOf(join(commonDir, name))?.trim() ?? "";
    if (!text.startsWith("ref: ")) break;
    name = text.slice("ref: ".length);
  }
  return name;
}
