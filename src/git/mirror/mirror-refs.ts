import { join } from "node:path";
import { GitError, git, startsManyCommands } from "../git.js";
import { isCommitId, readRefFiles } from "../head.js";
import { isKnownInside } from "../objects/ancestry.js";
import { LooseObjects } from "../objects/loose-objects.js";
import { RefProcess } from "../ref-process.js";
import { commonDirOf } from "../repository.js";
import { textOf } from "../small-files.js";

/**
 * The private bare mirror of the user's repository. Nothing of an agent's reaches it but objects: every checkout has a
 * git folder of its own below `checkouts/`, which borrows the mirror's objects, so no agent shares a config, a hook, a
 * stash, an index or a ref with the mirror, with another issue or with the user. The user's refs are kept below
 * `refs/user/`, ours below `refs/ratchet/` and `refs/heads/ratchet/`.
 */
export interface Mirror {
  readonly path: string;
  readonly repoPath: string;
}

export const quietFetch = [
  "--quiet",
  "--no-tags",
  "--no-write-fetch-head",
  "--no-auto-maintenance",
  "--no-recurse-submodules",
];

/** Two fetches at once can lose a ref to each other; the next try finds it up to date. */
export async function fetchFromUser(
  mirror: Mirror,
  refs: readonly string[],
  flags: readonly string[] = [],
): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await git(mirror.path, ["fetch", ...quietFetch, "--update-shallow", ...flags, mirror.repoPath, ...refs]);
      return;
    } catch (error) {
      const raced =
        error instanceof GitError &&
        !error.retryable &&
        /cannot lock ref|unable to update local ref/.test(error.stderr);
      if (!raced || tries >= 20) throw error;
    }
  }
}

/** Brings refs of the mirror into the user's repository: no hooks, no FETCH_HEAD, no tags. */
export async function fetchIntoUser(mirror: Mirror, refs: readonly string[], lockWaitMs?: number): Promise<void> {
  const options = lockWaitMs === undefined ? {} : { lockWaitMs };
  await git(mirror.repoPath, ["fetch", ...quietFetch, "--refmap=", "--update-shallow", mirror.path, ...refs], options);
}

/** The commits that these refs, and those below them, are at; what is not there is left out. */
export async function readRefs(cwd: string, refs: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const files = await readRefFiles(await commonDirOf(cwd), refs);
  if (files !== null) return files;
  const output = await git(cwd, ["for-each-ref", "--format=%(objectname) %(refname)", ...refs]);
  const lines = output.stdout.toString("utf8").split("\n").filter(Boolean);
  return new Map(
    lines.map((line): [string, string] => {
      const cut = line.indexOf(" ");
      return [line.slice(cut + 1), line.slice(0, cut)];
    }),
  );
}

/** Where this one is, which is usually there and has a file of its own: that is read before anything is asked. */
export async function readRef(cwd: string, ref: string): Promise<string | null> {
  const text = textOf(join(await commonDirOf(cwd), ref))?.trim();
  return text !== undefined && isCommitId(text) ? text : ((await readRefs(cwd, [ref])).get(ref) ?? null);
}

/** Where the work of a branch began. */
export function baseRef(branch: string): string {
  return `refs/ratchet/base/${branch}`;
}

export interface RefChange {
  readonly ref: string;
  /** null deletes. */
  readonly to: string | null;
  /** What it must be at; null: it must not exist; left out: whatever it is. */
  readonly from?: string | null;
}

/** All of them or none. false: a ref was not where it had to be. */
export async function updateRefs(cwd: string, changes: readonly RefChange[]): Promise<boolean> {
  if (changes.length === 0) return true;
  const input = changes.map(instruction).join("");
  if (await changeByProcess(cwd, input)) return true;
  try {
    await git(cwd, ["update-ref", "--no-deref", "-z", "--stdin"], { input });
    return true;
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    if (/but expected|reference already exists|unable to resolve reference|reference is missing/.test(error.stderr))
      return false;
    throw error;
  }
}

const processes = new Map<string, RefProcess>();

/** false: git has to be started for it. */
async function changeByProcess(repository: string, input: string): Promise<boolean> {
  if (!startsManyCommands()) return false;
  const running = processes.get(repository);
  const changing = running === undefined || running.ended ? new RefProcess(repository) : running;
  if (processes.size === 0) process.once("beforeExit", closeAll);
  processes.set(repository, changing);
  return await changing.change(input);
}

/** Nothing of ours is there any more when we are gone. */
function closeAll(): void {
  for (const one of processes.values()) one.closeAndWait();
  processes.clear();
}

function instruction({ ref, to, from }: RefChange): string {
  if (to === null) return `delete ${ref}\0${from ?? ""}\0`;
  return from === null ? `create ${ref}\0${to}\0` : `update ${ref}\0${to}\0${from ?? ""}\0`;
}

export async function isAncestor(cwd: string, ancestor: string, descendant: string): Promise<boolean> {
  if (isKnownInside(ancestor, descendant)) return true;
  const output = await git(cwd, ["merge-base", "--is-ancestor", ancestor, descendant], { okCodes: [1] });
  return output.code === 0;
}

export async function hasCommit(cwd: string, commit: string): Promise<boolean> {
  if (new LooseObjects([cwd]).hasCommit(commit)) return true;
  const output = await git(cwd, ["cat-file", "-e", `${commit}^{commit}`], { okCodes: [1, 128] });
  return output.code === 0;
}
