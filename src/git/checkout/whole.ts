import { join } from "node:path";
import { ExternalError } from "../../lib/errors.js";
import { type GitOutput, git } from "../git.js";
import { resolveHead } from "../head.js";
import { putText, readOr, removeIfThere } from "../small-files.js";
import { dropOperations, forgetAlignment } from "../worktree/status.js";
import { adoptIndex, type Checkout, gitEnvironmentIn, ownIndex } from "./checkout-git.js";

/**
 * An agent may delete objects of its git folder. What a commit needs and is no longer there, nobody can look at, land or
 * park: the checkout then goes on from the newest commit that is whole, usually what the mirror was given after the turn
 * before. The files stay as they are, so that what was lost is the commit alone.
 */
async function isWhole(checkout: Checkout, head: string): Promise<boolean> {
  if (head === checkout.baseSha) return true;
  const args = ["--objects", "--exclude-promisor-objects", "--quiet", head, "--not", checkout.baseSha];
  return (await ask(checkout, ["rev-list", ...args])).code === 0;
}

/** Why nothing can be said of the checkout; null: for another reason than what is missing. */
export async function whyBroken(checkout: Checkout, head: string): Promise<ExternalError | null> {
  if (await isWhole(checkout, head)) return null;
  const what = `objects of commit ${head.slice(0, 12)} are missing from ${checkout.gitDir}`;
  return new ExternalError("git", `the git folder of ${checkout.path} is damaged: ${what}`);
}

/** The commit it is at, and stays at where that is whole. */
export async function mendCheckout(checkout: Checkout, head: string): Promise<string> {
  const { gitDir, branch } = checkout;
  if (branch === null || (await isWhole(checkout, head))) return head;
  const commit = await newestWhole(checkout, head);
  if ((await ask(checkout, ["cat-file", "-e", `${commit}^{tree}`])).code !== 0) return head;
  await goOnFrom(checkout, commit);
  noteLost(gitDir, `Commit ${head.slice(0, 12)} was lost, its objects were deleted`, commit);
  return commit;
}

/** At this commit, with nothing staged and nothing begun; the files stay as they are. */
export async function goOnFrom(checkout: Checkout, commit: string): Promise<void> {
  const { gitDir, branch } = checkout;
  if (branch !== null) putText(join(gitDir, `refs/heads/${branch}`), `${commit}\n`);
  putText(join(gitDir, "HEAD"), branch === null ? `${commit}\n` : `ref: refs/heads/${branch}\n`);
  await dropOperations(checkout);
  // What these name may be an object that is gone.
  const stale = ["index", "logs/HEAD", `logs/refs/heads/${branch}`].map((name) => join(gitDir, name));
  for (const file of [...stale, ownIndex(checkout)]) removeIfThere(file);
  await forgetAlignment(checkout);
  await ask(checkout, ["read-tree", commit], { own: true });
  await adoptIndex(checkout);
}

export function noteLost(gitDir: string, what: string, commit: string): void {
  putText(lostFile(gitDir), `${what}: it goes on from ${commit.slice(0, 12)} with the files that are there`);
}

/** What was lost in it since somebody last worked there. */
export function readLost(gitDir: string): string | null {
  return readOr(lostFile(gitDir)) || null;
}

export function forgetLost(gitDir: string): void {
  removeIfThere(lostFile(gitDir));
}

function lostFile(gitDir: string): string {
  return join(gitDir, "ratchet", "lost");
}

const stepsAtMost = 50;

async function newestWhole(checkout: Checkout, head: string): Promise<string> {
  const known = resolveHead(checkout.mirror.path, `refs/heads/${checkout.branch}`);
  for (const start of [head, ...(known === null ? [] : [known])]) {
    const range = ["rev-list", `--max-count=${stepsAtMost}`, start, "--not", checkout.baseSha];
    // Up to the first that cannot be read.
    const commits = (await ask(checkout, range)).stdout.toString().split("\n").filter(Boolean);
    for (const commit of commits) if (await isWhole(checkout, commit)) return commit;
  }
  return checkout.baseSha;
}

/** Also where the files are gone. */
async function ask(checkout: Checkout, args: readonly string[], { own = false } = {}): Promise<GitOutput> {
  return await git(checkout.gitDir, args, { env: gitEnvironmentIn(checkout, { own }), okCodes: [1, 128] });
}
