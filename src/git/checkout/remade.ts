import { chmodSync, copyFileSync, existsSync, lstatSync, realpathSync, renameSync } from "node:fs";
import { join } from "node:path";
import { ExternalError } from "../../lib/errors.js";
import { namesIn } from "../../lib/files.js";
import { isAnybodyIn } from "../../lib/process/table.js";
import { GitError, git, gitScript, runTool } from "../git.js";
import { readHead, resolveHead } from "../head.js";
import { removeTree } from "../remove-tree.js";
import { linkStatsOf, putText } from "../small-files.js";
import { aboutFile, damaged, repairFiles, type Seen, setMark } from "./checkout-files.js";
import { type Checkout, gitEnvironmentIn, passingIndex, signOf } from "./checkout-git.js";
import { makeSkeleton, skeletonOf } from "./checkout-skeleton.js";
import { readTemplate } from "./checkout-template.js";
import { isHollow, unmarkHollow } from "./reclaim.js";
import { goOnFrom, mendCheckout, noteLost } from "./whole.js";

/**
 * The git folder of a checkout is Ratchet's to make, and everything in it an agent's to break. Where git cannot work with
 * it, whatever the reason but its index, it is made anew, at the newest commit that is known of the issue; its objects and all files of
 * the worktree stay. Each step can be repeated: one that was killed half way has left a folder that git cannot work with.
 */
export async function repairWhole(checkout: Checkout): Promise<Seen> {
  const seen = (await repairIfUsable(checkout)) ?? (await renewIndex(checkout)) ?? (await remake(checkout));
  return { ...seen, head: await mendCheckout(checkout, seen.head) };
}

/** null: it is not. `index`: in the place of the one that is there. */
async function repairIfUsable(checkout: Checkout, index?: string): Promise<Seen | null> {
  if (isHollow(checkout.gitDir)) return null;
  const seen = await repairFiles(checkout).catch((error: unknown) => {
    if (error instanceof ExternalError) return null;
    throw error;
  });
  // In one for judging nobody works, and it is opened for every merge.
  const isKnown = seen === null || checkout.branch === null;
  return isKnown || (await isUsable(checkout, checkout.branch, index)) ? seen : null;
}

/** What a commit takes: to read commits, all refs and the index, and to lock a ref beside the branch. */
const probeScript = {
  name: "update-ref",
  text: `
set -e
git rev-list -1 "$1"
git for-each-ref '--format=%(refname)'
git ls-files
printf 'start\\nupdate refs/heads/%s-probe %s\\nprepare\\nabort\\n' "$2" "$1" | git update-ref --stdin
`,
};

async function isUsable(checkout: Checkout, branch: string, index?: string): Promise<boolean> {
  try {
    const [args, env] = [[checkout.baseSha, branch], gitEnvironmentIn(checkout, index === undefined ? {} : { index })];
    await gitScript(checkout.gitDir, probeScript, { args, env, lockWaitMs: 0 });
    return true;
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    return error.retryable;
  }
}

/** An index is only a cache: where nothing else is broken it alone is made anew, and branches, tags and the stash stay. null: more is. */
async function renewIndex(checkout: Checkout): Promise<Seen | null> {
  const { gitDir } = checkout;
  const [index, aside] = [join(gitDir, "index"), passingIndex(checkout)];
  const seen = await repairIfUsable(checkout, aside);
  if (seen === null) return null;
  refuseWhileInUse(checkout);
  const env = gitEnvironmentIn(checkout, { index: aside });
  if ((await git(gitDir, ["read-tree", seen.head], { env, okCodes: [128] })).code !== 0) return null;
  if (linkStatsOf(index)?.isDirectory()) await removeTree(index);
  renameSync(aside, index);
  noteLost(gitDir, "Its index could not be read and is made anew", seen.head);
  return seen;
}

/** Those of Ratchet's own, what agents have committed, in submodules too, and what was put out of the way. */
const kept = ["ratchet", "objects", "modules", "replaced"];

async function remake(checkout: Checkout): Promise<Seen> {
  const { gitDir } = checkout;
  refuseWhileInUse(checkout);
  const had = readHead(gitDir);
  chmodSync(gitDir, 0o700);
  const isKept = (name: string) => kept.includes(name) && lstatSync(join(gitDir, name)).isDirectory();
  const gone = [...namesIn(gitDir).filter((name) => !isKept(name)), "objects/info"];
  await removeTree(...gone.map((name) => join(gitDir, name)));
  await fill(checkout);
  const commit = await newestOf(checkout, had);
  await goOnFrom(checkout, commit);
  noteLost(gitDir, "Its git folder was damaged and is made anew", commit);
  const { names } = await repairFiles(checkout);
  unmarkHollow(gitDir);
  return { head: commit, names };
}

function refuseWhileInUse(checkout: Checkout): void {
  const { path } = checkout;
  if (existsSync(path) && isAnybodyIn(realpathSync(path))) throw damaged(checkout);
}

async function fill({ mirror, path, gitDir, branch, baseSha }: Checkout): Promise<void> {
  const template = readTemplate(mirror);
  await makeSkeleton(mirror, template);
  const copied = await runTool("cp", ["-R", `${skeletonOf(mirror, template)}/.`, gitDir], {
    cwd: "/",
    env: signOf(gitDir),
  });
  if (copied.code !== 0) throw new ExternalError("cp", copied.stderr.trim().slice(0, 300));
  const shallow = join(mirror.path, "shallow");
  if (existsSync(shallow)) copyFileSync(shallow, join(gitDir, "shallow"));
  putText(join(gitDir, aboutFile), JSON.stringify({ path, branch, baseSha }));
  setMark(gitDir, "ready");
}

/** What it was at, where that is all that the mirror knows of the branch, or more. */
async function newestOf({ mirror, gitDir, branch, baseSha }: Checkout, had: string | null): Promise<string> {
  const known = (branch === null ? null : resolveHead(mirror.path, `refs/heads/${branch}`)) ?? baseSha;
  if (had === null || branch === null) return known;
  const env = { GIT_ALTERNATE_OBJECT_DIRECTORIES: join(gitDir, "objects") };
  const compared = await git(mirror.path, ["merge-base", "--is-ancestor", known, had], { env, okCodes: [1, 128] });
  return compared.code === 0 ? had : known;
}
