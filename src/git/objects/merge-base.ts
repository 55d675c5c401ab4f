import { git } from "../git.js";
import { hasCommit, isAncestor, type Mirror } from "../mirror/mirror-refs.js";

/** The newest commit that all of these have in their history, of those that `tip` has; null: there is none. */
export async function commonBase(mirror: Mirror, commits: readonly string[], tip: string): Promise<string | null> {
  const known: string[] = [];
  for (const commit of new Set(commits)) {
    if ((await hasCommit(mirror.path, commit)) && (await isAncestor(mirror.path, commit, tip))) known.push(commit);
  }
  if (known.length === 0) return null;
  const output = await git(mirror.path, ["merge-base", "--octopus", ...known], { okCodes: [1] });
  return output.stdout.toString("utf8").trim() || null;
}
