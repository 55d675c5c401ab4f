import { randomBytes } from "node:crypto";
import { lstat, mkdir, readFile, rm, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { codeOf, Refusal } from "../../lib/errors.js";
import { exists } from "../../lib/files.js";
import { safeName } from "../../lib/home.js";
import { findWholeCheckout, hasCheckout, openCheckout } from "../checkout/checkout.js";
import { repairFiles } from "../checkout/checkout-files.js";
import { type Checkout, signOf } from "../checkout/checkout-git.js";
import { removeCheckout } from "../checkout/checkout-removal.js";
import { git, gitText } from "../git.js";
import { isLanded } from "../landing/tip.js";
import { baseRef, type Mirror, readRefs, updateRefs } from "../mirror/mirror-refs.js";
import { forgetAlignment } from "../worktree/status.js";
import { unpackFiles } from "./archive.js";
import { numbersOf, type Parked, parkCheckout, parkedRefs, settledRefs, unmarkParked } from "./parking.js";

export interface Restored {
  readonly ref: string;
  readonly sha: string;
  readonly path: string;
  readonly branch: string;
  readonly baseSha: string;
  readonly head: string;
  /** What was in the worktree before, parked in its turn. */
  readonly parked: string | null;
  readonly aside: string | null;
}

export interface RestoreOptions {
  readonly issue: string;
  /** Which one; the newest where it is left out. */
  readonly n?: number;
  readonly path: string;
}

/**
 * Brings parked work back, as it was; the ref stays. Whatever is in the worktree now is parked first. Killed anywhere, the
 * next worktree has what was there before or what is restored: one that is half restored does not count.
 */
export async function restoreParked(mirror: Mirror, { issue, n, path }: RestoreOptions): Promise<Restored> {
  const name = safeName(issue);
  const number = n ?? Math.max(0, ...(await numbersOf(mirror, name)));
  const ref = `${parkedRefs}/${name}/${number}`;
  const sha = (await readRefs(mirror.path, [ref])).get(ref);
  if (sha === undefined) {
    throw new Refusal(n === undefined ? `nothing of ${issue} is parked` : `${issue} has no parked work number ${n}`, {
      hint: "ratchet worktree list shows what is parked.",
      code: "not-found",
    });
  }
  const parked = await makeRoom(mirror, path);
  const { branch, baseSha, head } = await readMeta(mirror, sha);
  const fill = (checkout: Checkout) => putBack(checkout, sha);
  const { aside } = await openCheckout(mirror, { path, branch, commit: head, base: baseSha, isNew: true, fill });
  await updateRefs(mirror.path, [
    { ref: `${settledRefs}/${name}/${number}`, to: sha },
    { ref: `refs/heads/${branch}`, to: head },
    { ref: baseRef(branch), to: baseSha },
  ]);
  return { ref, sha, path, branch, baseSha, head, parked, aside };
}

/** Among these refs the newest parked work that was neither restored yet nor left over from a landing; null when there is none. */
export function newestParked(refs: ReadonlyMap<string, string>, name: string): number | null {
  const parked = [...refs.keys()].filter((ref) => ref.startsWith(`${parkedRefs}/${name}/`));
  const numbers = parked.map((ref) => Number(ref.slice(ref.lastIndexOf("/") + 1)));
  return numbers.sort((a, b) => b - a).find((n) => !refs.has(`${settledRefs}/${name}/${n}`)) ?? null;
}

/**
 * What was put aside last, where that was more than commits and the branch is still where it was then: an older version
 * was killed before it deleted that. Where there is no worktree, the branch is not to be gone on with.
 */
export async function findHalfParked(mirror: Mirror, name: string): Promise<Parked | null> {
  const own = `refs/heads/ratchet/${name}`;
  const refs = await readRefs(mirror.path, [own, `${parkedRefs}/${name}`, `${settledRefs}/${name}`]);
  const n = refs.has(own) ? newestParked(refs, name) : null;
  const ref = `${parkedRefs}/${name}/${n}`;
  const sha = refs.get(ref);
  if (sha === undefined) return null;
  const { head, commitsOnly } = await readMeta(mirror, sha);
  return head === refs.get(own) && !commitsOnly ? { ref, sha } : null;
}

/** Does what was left to do of that. */
export async function finishParking(
  mirror: Mirror,
  { path, issue }: { readonly path: string; readonly issue: string },
): Promise<Parked | null> {
  const name = safeName(issue);
  const parked = await findHalfParked(mirror, name);
  if (parked === null || (await hasCheckout(mirror, path))) return null;
  await updateRefs(mirror.path, [{ ref: `refs/heads/ratchet/${name}`, to: null }]);
  return parked;
}

async function makeRoom(mirror: Mirror, path: string): Promise<string | null> {
  if (!(await hasCheckout(mirror, path))) return null;
  const checkout = await findWholeCheckout(mirror, path);
  const gone = checkout.branch === null ? [] : [{ ref: `refs/heads/${checkout.branch}`, to: null }];
  const parked = (await exists(path)) ? await parkCheckout(checkout, { also: () => gone }) : null;
  await removeCheckout(checkout);
  return parked?.ref ?? null;
}

interface Meta {
  readonly branch: string;
  readonly baseSha: string;
  readonly head: string;
  /** There was nothing but commits. */
  readonly commitsOnly: boolean;
}

/**
 * The work of an issue was landed from its branch, not from what is parked of it: parked commits that have landed with it
 * are nobody's any more. Whatever else is parked stays.
 */
export async function dropLanded(
  mirror: Mirror,
  { issue, target }: { readonly issue: string; readonly target: string },
): Promise<void> {
  const refs = await readRefs(mirror.path, [`${parkedRefs}/${safeName(issue)}`]);
  for (const [ref, sha] of refs) {
    const { head, commitsOnly } = await readMeta(mirror, sha);
    if (!commitsOnly || !(await isLanded(mirror, target, head))) continue;
    const both = [ref, ref.replace(parkedRefs, settledRefs)];
    await updateRefs(
      mirror.path,
      both.map((one) => ({ ref: one, to: null })),
    );
  }
  await unmarkParked(mirror);
}

async function readMeta(mirror: Mirror, sha: string): Promise<Meta> {
  const meta: unknown = JSON.parse(await gitText(mirror.path, ["cat-file", "blob", `${sha}^2:meta.json`]));
  if (typeof meta !== "object" || meta === null || !("branch" in meta && "baseSha" in meta && "head" in meta)) {
    throw new Refusal(`${sha} does not look like parked work`, { code: "not-found" });
  }
  const commitsOnly = "commitsOnly" in meta && meta.commitsOnly === true;
  return { branch: String(meta.branch), baseSha: String(meta.baseSha), head: String(meta.head), commitsOnly };
}

async function putBack(checkout: Checkout, sha: string): Promise<void> {
  const { mirror, gitDir, path } = checkout;
  const folder = join(gitDir, "ratchet", `restore-${randomBytes(4).toString("hex")}`);
  await mkdir(folder, { recursive: true });
  try {
    for (const name of ["deleted", "files.tar", "gitdir.tar"]) {
      await git(mirror.path, ["cat-file", "blob", `${sha}^2:${name}`], { stdoutFile: join(folder, name) });
    }
    await removePaths(path, await readFile(join(folder, "deleted")));
    await unpackFiles(join(folder, "files.tar"), path, signOf(gitDir));
    await unpackFiles(join(folder, "gitdir.tar"), gitDir, signOf(gitDir));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  await forgetAlignment(checkout);
  await repairFiles(checkout);
}

/** Folders that become empty go too, as they do when git removes a file: something else may take their name. */
async function removePaths(root: string, list: Buffer): Promise<void> {
  for (let at = 0; at < list.length; ) {
    const end = list.indexOf(0, at);
    const name = list.subarray(at, end);
    at = end + 1;
    await removeFile(bytesPath(root, name));
    await removeEmptyFolders(root, name);
  }
}

async function removeFile(path: Buffer): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT" && codeOf(error) !== "ENOTDIR") throw error;
  }
}

function bytesPath(root: string, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), name]);
}

async function removeEmptyFolders(root: string, name: Buffer): Promise<void> {
  for (let cut = name.lastIndexOf(0x2f); cut > 0; cut = name.lastIndexOf(0x2f, cut - 1)) {
    const folder = bytesPath(root, name.subarray(0, cut));
    try {
      if (!(await lstat(folder)).isDirectory()) return;
      await rmdir(folder);
    } catch (error) {
      if (["ENOTEMPTY", "EEXIST", "ENOENT", "ENOTDIR"].includes(codeOf(error) ?? "")) return;
      throw error;
    }
  }
}
