import { join } from "node:path";
import { resolveHead } from "../git/head.js";
import { isAncestor, readRefs } from "../git/mirror-refs.js";

const landed = "refs/ratchet/landed/";

/**
 * The branches of the user's repository that do not have what has landed for them, and what to run. `likely` are the
 * targets of runs: where their refs are equal files, git is not even started.
 */
export async function branchesBehind(repoPath: string, likely: readonly string[]): Promise<string[]> {
  const equal = await Promise.all(likely.map((target) => isEqual(join(repoPath, ".git"), target)));
  if (likely.length > 0 && equal.every(Boolean)) return [];
  const lines = await readRefs(repoPath, [landed.slice(0, -1)]);
  const said = await Promise.all(
    [...lines].map(async ([ref, tip]) => {
      const target = ref.slice(landed.length);
      const user = (await readRefs(repoPath, [`refs/heads/${target}`])).get(`refs/heads/${target}`);
      if (user === undefined || user === tip || (await isAncestor(repoPath, tip, user))) return null;
      const how = (await isAncestor(repoPath, user, tip)) ? "git merge --ff-only" : "git merge";
      return `${target} is behind: run \`${how} ${ref}\``;
    }),
  );
  return said.filter((line) => line !== null);
}

async function isEqual(gitDir: string, target: string): Promise<boolean> {
  const [line, branch] = await Promise.all([
    resolveHead(gitDir, `${landed}${target}`),
    resolveHead(gitDir, `refs/heads/${target}`),
  ]);
  return branch !== null && (line === null || line === branch);
}
