import { mkdir } from "node:fs/promises";
import { dirname, isAbsolute, normalize, sep } from "node:path";
import { codeOf, UserError } from "../../lib/errors.js";
import { git } from "../git.js";
import { linkStatsOf } from "../small-files.js";
import { copyTree, type Found, kindOf, listTree, realPathOf } from "./copied-tree.js";
import { bytesOf } from "./keep-tracked.js";

/**
 * Files of the user's that worktrees need and git does not have. In a worktree git does not see them either, each by a line
 * of its own: whatever else is in the same folder is somebody's work. A folder has one line only where git does not look
 * into it in the user's repository.
 */
export interface CopyOptions {
  /** Paths of files or folders, relative to the repository's root. */
  readonly copy: readonly string[];
  readonly repoPath: string;
}

export interface Copies {
  /** What is still to be copied. What is there already (tracked, or copied before and perhaps changed) is never overwritten. */
  readonly missing: readonly string[];
  /** The lines by which git does not see them, one for each that is there or to be copied. */
  readonly ignore: string;
}

/** It is written down also that nothing was copied. */
const heading = "# worktree.copy";

/** `known`: the lines of what was copied before; null: nobody has written them down, so that whatever is there was. */
export async function planCopies(
  path: string,
  { copy, repoPath, known }: CopyOptions & { readonly known: string | null },
): Promise<Copies> {
  const had = new Set(known?.split("\n").filter((line) => line !== ""));
  const lines = new Set([heading, ...had]);
  const wanted = new Set<string>();
  for (const name of copy.map(insideName)) {
    const found = (await isInside(repoPath, name)) ? await listFiles(repoPath, name) : null;
    if (found === null) continue;
    if (!found.includes(name)) lines.delete(lineOf(name));
    for (const one of found) if (isCopied(await kindOf(repoPath, one))) wanted.add(one);
  }
  const missing = [...wanted].filter((name) => !isThere(path, name) && hasWay(path, name));
  const there = [...wanted].filter((name) => isThere(path, name) && (known === null || isAmong(had, name)));
  for (const name of [...missing, ...there]) lines.add(lineOf(name));
  return { missing, ignore: [...lines].map((line) => `${line}\n`).join("") };
}

export async function copyFiles(
  path: string,
  names: readonly string[],
  { copy, repoPath }: CopyOptions,
): Promise<void> {
  const named = copy.map(insideName);
  const trees: (readonly Found[])[] = [];
  for (const name of names) {
    await mkdir(bytesOf(path, dirname(name)), { recursive: true });
    trees.push(await listCopied(repoPath, name, named));
  }
  await copyTree(path, repoPath, trees.flat());
}

/** What is named itself is copied as what it leads to. */
async function listCopied(repoPath: string, name: string, named: readonly string[]): Promise<readonly Found[]> {
  const isLink = named.includes(name) && linkStatsOf(bytesOf(repoPath, name))?.isSymbolicLink();
  return isLink ? [{ name, kind: "target" }] : await listTree(repoPath, name);
}

/** Git compares every file that it does not have with every line. */
const mostFiles = 2000;

/**
 * What git does not have of it, by file; a folder where git itself looks at no file: an ignored one, or a repository of its
 * own. null: too much.
 */
async function listFiles(repoPath: string, name: string): Promise<readonly string[] | null> {
  if (!linkStatsOf(bytesOf(repoPath, name))?.isDirectory()) return [name];
  const args = ["status", "--porcelain", "-z", "--untracked-files=all", "--ignored=matching", "--no-renames"];
  const env = { GIT_LITERAL_PATHSPECS: "1", GIT_OPTIONAL_LOCKS: "0" };
  const { stdout } = await git(repoPath, [...args, "--", Buffer.from(name, "latin1").toString()], { env });
  const entries = stdout.toString("latin1").split("\0");
  const names = entries.flatMap((entry) => (isNew.test(entry) ? [entry.slice(3).replace(/\/$/, "")] : []));
  if (names.some((one) => one === name || name.startsWith(`${one}/`))) return [name];
  return names.length > mostFiles ? null : names;
}

/** Untracked, ignored, or in no commit yet. */
const isNew = /^(\?\?|!!|A.|.A) /;

/** Itself or a folder that it is in. */
function isAmong(lines: ReadonlySet<string>, name: string): boolean {
  return name.split(sep).some((_part, at, parts) => lines.has(lineOf(parts.slice(0, at + 1).join(sep))));
}

/** No link leads out of the worktree on the way there, and no file is in it. */
function hasWay(path: string, name: string): boolean {
  const folders = name.split(sep).slice(0, -1);
  return folders.every((_folder, at) => {
    const found = linkStatsOf(bytesOf(path, folders.slice(0, at + 1).join(sep)));
    return found === undefined || found.isDirectory();
  });
}

export interface NotCopied {
  readonly name: Uint8Array;
  readonly why: string;
}

/** What of them no worktree will have. */
export async function findNotCopied({ copy, repoPath }: CopyOptions): Promise<NotCopied[]> {
  const found: NotCopied[] = [];
  const named = copy.map(insideName);
  for (const name of named) {
    try {
      for (const [left, why] of await listLeftOut(repoPath, name, named)) {
        found.push({ name: Buffer.from(left, "latin1"), why });
      }
    } catch (error) {
      if (codeOf(error) !== "EACCES") throw error;
      found.push({ name: Buffer.from(name, "latin1"), why: "cannot be read" });
    }
  }
  return found;
}

async function listLeftOut(
  repoPath: string,
  name: string,
  named: readonly string[],
): Promise<(readonly [string, string])[]> {
  if (!isThere(repoPath, name)) return [[name, "not there"]];
  if (!(await isInside(repoPath, name))) return [[name, "no file or folder of the repository"]];
  const files = await listFiles(repoPath, name);
  if (files === null) return [[name, `more than ${mostFiles} files that git does not ignore`]];
  const trees: (readonly Found[])[] = [];
  for (const file of files) trees.push(await listCopied(repoPath, file, named));
  return trees.flat().flatMap(({ name: one, kind }) => (isCopied(kind) ? [] : [[one, whyLeftOut[kind]]]));
}

const whyLeftOut = {
  outside: "a link that is not relative or leads out of the repository",
  other: "no file, folder or link",
} as const;

function isCopied(kind: Found["kind"]): kind is Exclude<Found["kind"], keyof typeof whyLeftOut> {
  return !(kind in whyLeftOut);
}

/** Names are bytes from here on, kept as latin1. */
function insideName(name: string): string {
  const clean = normalize(name).replace(/\/+$/, "");
  const inside = clean !== "" && clean !== "." && !isAbsolute(name) && clean !== ".." && !clean.startsWith(`..${sep}`);
  if (inside && clean.split(sep)[0] !== ".git" && !/[\n\0]/.test(name)) {
    return Buffer.from(clean).toString("latin1");
  }
  throw new UserError(`worktree.copy: ${JSON.stringify(name)} is not a path inside the repository`, {
    hint: "Name files relative to the repository's root, such as .env",
    code: "worktree-copy",
  });
}

/** There, and reached without leaving the repository; of links, those to files. */
async function isInside(repoPath: string, name: string): Promise<boolean> {
  const [top, real] = [await realPathOf(Buffer.from(repoPath)), await realPathOf(bytesOf(repoPath, name))];
  if (real === null || !real.startsWith(`${top}/`)) return false;
  const found = linkStatsOf(Buffer.from(real, "latin1"));
  const isLink = linkStatsOf(bytesOf(repoPath, name))?.isSymbolicLink();
  return found?.isFile() || (!isLink && found?.isDirectory()) || false;
}

/** A link that leads nowhere, too. */
function isThere(root: string, name: string): boolean {
  return linkStatsOf(bytesOf(root, name)) !== undefined;
}

/** Git reads a line at a time. */
function lineOf(name: string): string {
  return `/${name.replace(/[\\*?[\]!# ]/g, "\\$&").replace(/[\r\n]/g, "[[:cntrl:]]")}`;
}
