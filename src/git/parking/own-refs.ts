import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Checkout, gitIn } from "../checkout/checkout-git.js";
import { GitError } from "../git.js";
import { readRefFiles } from "../head.js";
import { hasCommit, isAncestor } from "../mirror/mirror-refs.js";
import { readOr } from "../small-files.js";

/**
 * The refs of a checkout to what neither HEAD nor what it started with has: an agent's branches, tags, stash, and the issue's
 * own branch where HEAD was put elsewhere. A further branch at a commit that HEAD has is no work, nor is what a bisect or a rebase
 * has noted there.
 */
async function ownRefs(checkout: Checkout, head: string): Promise<readonly string[]> {
  const lines = [...checkout.template.packedRefs.split("\n"), `${head} refs/heads/${checkout.branch}`];
  const given = new Set(lines);
  const refs = (await readRefFiles(checkout.gitDir, ["refs"])) ?? new Map<string, string>();
  const others = [...refs].filter(([name, id]) => !given.has(`${id} ${name}`));
  if (others.length === 0) return [];
  const now = new Map(lines.map((line) => [line.slice(line.indexOf(" ") + 1), line.slice(0, line.indexOf(" "))]));
  const own: string[] = [];
  for (const [name, id] of others) {
    const newer = /^refs\/(heads|bisect|rewritten)\//.test(name) ? [head, now.get(name)] : [now.get(name)];
    const known = await Promise.all(newer.map((one) => isOlder(checkout, id, one)));
    if (!known.includes(true)) own.push(`${id} ${name}`);
  }
  return own;
}

/** The user's branch has gone on since the checkout was made, or HEAD has: where it was then is no work of its own. */
async function isOlder({ mirror: { path } }: Checkout, id: string, now: string | undefined): Promise<boolean> {
  if (now === undefined || !(await hasCommit(path, id)) || !(await hasCommit(path, now))) return false;
  return await isAncestor(path, id, now);
}

export async function hasOwnRefs(checkout: Checkout, head: string): Promise<boolean> {
  return (await ownRefs(checkout, head)).length > 0;
}

const pseudoRefs = [
  "ORIG_HEAD",
  "MERGE_HEAD",
  "CHERRY_PICK_HEAD",
  "REVERT_HEAD",
  "REBASE_HEAD",
  "rebase-merge/orig-head",
  "rebase-merge/onto",
  "rebase-merge/stopped-sha",
  "rebase-apply/orig-head",
];

/** Every commit that only the agent's git folder names: branches, tags, each stash, what an unfinished operation needs. */
export async function commitsToKeep(checkout: Checkout, head: string): Promise<readonly string[]> {
  const { gitDir } = checkout;
  const texts = await Promise.all(
    [...pseudoRefs, "logs/refs/stash", ...(await todoFiles(gitDir))].map((name) => readOr(join(gitDir, name))),
  );
  const named = [...(await ownRefs(checkout, head)), ...texts].flatMap(
    (text) => text.match(/\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b/g) ?? [],
  );
  const candidates = [...new Set(named)];
  if (candidates.length === 0) return [];
  const input = candidates.map((id) => `${id}^{commit}\n`).join("");
  const checked = await gitIn(checkout, ["cat-file", "--batch-check=%(objectname) %(objecttype)"], { input });
  const commits = checked.stdout
    .toString("utf8")
    .split("\n")
    .flatMap((line) => /^([0-9a-f]+) commit$/.exec(line)?.[1] ?? []);
  return [...new Set(commits)].filter((commit) => commit !== head);
}

async function todoFiles(gitDir: string): Promise<readonly string[]> {
  const folder = join(gitDir, "rebase-merge");
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => name.startsWith("git-rebase-todo") || name === "done")
    .map((name) => `rebase-merge/${name}`);
}

/** Contents that only the agent's index names: what is staged, and the sides of a conflict. */
export async function stagedBlobs(checkout: Checkout, head: string): Promise<readonly string[]> {
  try {
    const [staged, unmerged] = await Promise.all([
      gitIn(checkout, ["diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", head]),
      gitIn(checkout, ["ls-files", "-u", "-z"]),
    ]);
    const ids = [
      ...staged.stdout.toString("latin1").matchAll(/:\d+ (?!160000)\d+ [0-9a-f]+ ([0-9a-f]+) [A-Z]\d*\0/g),
      ...unmerged.stdout.toString("latin1").matchAll(/(?:^|\0)(?!160000)\d{6} ([0-9a-f]+) [1-3]\t/g),
    ].flatMap((found) => found[1] ?? []);
    return [...new Set(ids)].filter((id) => !/^0+$/.test(id)).sort();
  } catch (error) {
    // A broken index names nothing.
    if (error instanceof GitError) return [];
    throw error;
  }
}
