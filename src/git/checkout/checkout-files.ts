import { randomBytes } from "node:crypto";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { codeOf, ExternalError } from "../../lib/errors.js";
import { namesIn } from "../../lib/files.js";
import { isAnybodyIn } from "../../lib/process/table.js";
import { isGone } from "../../lib/process-identity.js";
import { git } from "../git.js";
import { resolveHead } from "../head.js";
import type { Mirror } from "../mirror/mirror-refs.js";
import { type Encoding, putText, readOr, removeIfThere, textOf } from "../small-files.js";
import { type Checkout, ownerOfIndex } from "./checkout-git.js";
import { noteLost } from "./whole.js";

/**
 * The files of a checkout's git folder that are Ratchet's to say. There are a dozen, all tiny, and they are looked at
 * before every command: reading them at once is many times faster than a dozen trips through the thread pool.
 */

/** What a checkout is: there from its beginning, in its git folder. */
export const aboutFile = "ratchet/checkout.json";

/** What was seen of a git folder while it was repaired. */
export interface Seen {
  readonly head: string;
  /** All that is in it. */
  readonly names: readonly string[];
}

/** Puts back whatever an agent changed of them, and a `.git` that leads there. */
export async function repairFiles(checkout: Checkout): Promise<Seen> {
  try {
    return await putFilesBack(checkout);
  } catch (error) {
    // A folder where a file belongs, a link to itself, no right to look: whatever it is but what the machine is short of.
    const code = codeOf(error);
    if (code === null || ["ENOSPC", "EDQUOT", "EROFS", "EIO", "EMFILE", "ENFILE"].includes(code)) throw error;
    throw damaged(checkout, error);
  }
}

export function damaged({ path, gitDir }: Pick<Checkout, "path" | "gitDir">, cause?: unknown): ExternalError {
  const way = `\`ratchet run --resume\` makes ${gitDir} anew, once nobody works in the worktree`;
  return new ExternalError("git", `the git folder of ${path} is damaged: ${way}`, cause === undefined ? {} : { cause });
}

async function putFilesBack(checkout: Checkout): Promise<Seen> {
  const { mirror, gitDir, template } = checkout;
  repairPlace(checkout);
  const names = namesIn(gitDir);
  const there = new Set([...names, ...namesIn(join(gitDir, "info")).map((name) => `info/${name}`)]);
  const put = (name: string, text: string, encoding?: Encoding) => {
    if (text !== "" || there.has(name)) putText(join(gitDir, name), text, encoding);
  };
  put("config", template.config);
  // The names of copies are bytes.
  const exclude = Buffer.from(template.exclude).toString("latin1");
  put("info/exclude", exclude + readOr(join(gitDir, "ratchet", "copies"), "latin1"), "latin1");
  put("info/attributes", template.attributes);
  put("objects/info/alternates", alternatesOf(mirror));
  for (const name of ["config.worktree", "hooks", "info/grafts", "info/sparse-checkout"]) {
    if (there.has(name)) removeIfThere(join(gitDir, name));
  }
  dropStaleLocks(checkout, there);
  dropLeftIndexes(gitDir, names);
  const head = await repairHead(checkout);
  repairLink(checkout);
  return { head, names };
}

/** A git that was killed leaves its locks, and then nobody can commit there any more; a living one works in the files. */
function dropStaleLocks({ gitDir, path, branch }: Checkout, there: ReadonlySet<string>): void {
  const locks = ["index.lock", "HEAD.lock"].filter((name) => there.has(name));
  const ofBranch = `refs/heads/${branch}.lock`;
  if (branch !== null && existsSync(join(gitDir, ofBranch))) locks.push(ofBranch);
  if (locks.length === 0 || (existsSync(path) && isAnybodyIn(realpathSync(path)))) return;
  for (const lock of locks) removeIfThere(join(gitDir, lock));
}

/** What somebody who was killed used of them. */
function dropLeftIndexes(gitDir: string, names: readonly string[]): void {
  for (const name of names) {
    const owner = ownerOfIndex(name);
    if (owner !== null && isGone(owner)) removeIfThere(join(gitDir, name));
  }
}

/** A HEAD that names no commit is put back on the branch, at the newest commit known of it. */
async function repairHead(checkout: Checkout): Promise<string> {
  const { gitDir, branch, baseSha } = checkout;
  const found = resolveHead(gitDir);
  if (found !== null) return found;
  if (branch === null) {
    putText(join(gitDir, "HEAD"), `${baseSha}\n`);
    return baseSha;
  }
  const ref = `refs/heads/${branch}`;
  const own = resolveHead(gitDir, ref);
  const known = await newestKnown(checkout, { own, shared: resolveHead(checkout.mirror.path, ref) });
  putText(join(gitDir, ref), `${known}\n`);
  putText(join(gitDir, "HEAD"), `ref: ${ref}\n`);
  if (known !== own) noteLost(gitDir, "Its branch could not be read", known);
  return known;
}

interface Known {
  readonly own: string | null;
  /** What the mirror was given of it. */
  readonly shared: string | null;
}

/** Its own, unless the mirror has that and more: the agent's last commits were on another branch. */
async function newestKnown({ mirror, baseSha }: Checkout, { own, shared }: Known): Promise<string> {
  if (own === null || shared === null) return own ?? shared ?? baseSha;
  const args = ["merge-base", "--is-ancestor", own, shared];
  return (await git(mirror.path, args, { okCodes: [1, 128] })).code === 0 ? shared : own;
}

/**
 * What stands in the place of a worktree and is no folder, such as a link to somebody else's, is never followed: what is
 * looked at there, and put back, would be theirs. The worktree counts as removed; what was no link is kept. The folder
 * itself is Ratchet's: whatever rights an agent took from it, whoever works there next can enter it and write.
 */
export function repairPlace({ path, gitDir }: Pick<Checkout, "path" | "gitDir">): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (found.isDirectory()) {
    if ((found.mode & 0o700) !== 0o700) chmodSync(path, (found.mode & 0o7777) | 0o700);
  } else if (found.isSymbolicLink()) removeIfThere(path);
  else setAside(gitDir, path);
}

function setAside(gitDir: string, path: string): void {
  mkdirSync(join(gitDir, "replaced"), { recursive: true });
  renameSync(path, join(gitDir, "replaced", randomBytes(4).toString("hex")));
}

/** A repository that an agent made in place of the link is kept, out of the way. */
function repairLink({ path, gitDir }: Checkout): void {
  const link = join(path, ".git");
  const found = lstatSync(link, { throwIfNoEntry: false });
  if (found !== undefined && !found.isFile()) setAside(gitDir, link);
  const isWrong = found === undefined ? existsSync(path) : !isLinked({ path, gitDir });
  if (isWrong) makeLink({ path, gitDir });
}

/** Git finds the git folder from the files. */
export function isLinked({ path, gitDir }: Pick<Checkout, "path" | "gitDir">): boolean {
  return textOf(join(path, ".git")) === linkTo(gitDir);
}

/** Written in place: no temporary file may show up among the user's. */
function makeLink({ path, gitDir }: Pick<Checkout, "path" | "gitDir">): void {
  writeFileSync(join(path, ".git"), linkTo(gitDir));
}

/** What `.git` in the files says. */
function linkTo(gitDir: string): string {
  return `gitdir: ${gitDir}\n`;
}

export function alternatesOf(mirror: Mirror): string {
  return `${join(mirror.path, "objects")}\n`;
}

/** A file that only says that something is so, made without a new file: the disk is asked for nothing but its name. */
export function setMark(gitDir: string, name: string): void {
  const mark = join(gitDir, "ratchet", name);
  try {
    linkSync(join(gitDir, aboutFile), mark);
  } catch (error) {
    // No links on this disk.
    if (codeOf(error) !== "EEXIST") writeFileSync(mark, "");
  }
}
