import { cp, lstat, mkdir, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, normalize, sep } from "node:path";
import { codeOf, UserError } from "../../lib/errors.js";
import { git } from "../git.js";
import { linkStatsOf } from "../small-files.js";

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
    for (const one of found) wanted.add(one);
  }
  const missing = [...wanted].filter((name) => !isThere(join(path, name)) && hasWay(path, name));
  const there = [...wanted].filter((name) => isThere(join(path, name)) && (known === null || isAmong(had, name)));
  for (const name of [...missing, ...there]) lines.add(lineOf(name));
  return { missing, ignore: [...lines].map((line) => `${line}\n`).join("") };
}

export async function copyFiles(path: string, names: readonly string[], repoPath: string): Promise<void> {
  for (const name of names) {
    const to = join(path, name);
    await mkdir(dirname(to), { recursive: true });
    await cp(join(repoPath, name), to, {
      recursive: true,
      dereference: true,
      filter: async (source) => await leadsInside(repoPath, source),
    });
  }
}

/** Git compares every file that it does not have with every line. */
const mostFiles = 2000;

/**
 * What git does not have of it, by file; a folder where git itself looks at no file: an ignored one, or a repository of its
 * own. null: too much.
 */
async function listFiles(repoPath: string, name: string): Promise<readonly string[] | null> {
  if (!linkStatsOf(join(repoPath, name))?.isDirectory()) return [name];
  const args = ["status", "--porcelain", "-z", "--untracked-files=all", "--ignored=matching", "--no-renames"];
  const env = { GIT_LITERAL_PATHSPECS: "1", GIT_OPTIONAL_LOCKS: "0" };
  const { stdout } = await git(repoPath, [...args, "--", name], { env });
  const entries = stdout.toString("utf8").split("\0");
  const names = entries.flatMap((entry) => (isNew.test(entry) ? [entry.slice(3).replace(/\/$/, "")] : []));
  if (names.some((one) => one === name || name.startsWith(`${one}/`))) return [name];
  if (names.length > mostFiles) return null;
  const inside = await Promise.all(names.map((one) => isInside(repoPath, one)));
  // A line cannot say a name of several lines.
  return names.filter((one, at) => inside[at] && !/[\r\n]/.test(one));
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
    const found = linkStatsOf(join(path, ...folders.slice(0, at + 1)));
    return found === undefined || found.isDirectory();
  });
}

/** Which of them no worktree will have, in words; null: none. */
export async function tellNotCopied({ copy, repoPath }: CopyOptions): Promise<string | null> {
  const told: string[] = [];
  for (const name of copy.map(insideName)) {
    const why = await whyNot(repoPath, name);
    if (why !== null) told.push(`${name} (${why})`);
  }
  return told.length === 0 ? null : `worktree.copy: not copied into worktrees: ${told.join(", ")}`;
}

async function whyNot(repoPath: string, name: string): Promise<string | null> {
  if (!isThere(join(repoPath, name))) return "not there";
  if (!(await isInside(repoPath, name))) return "no file or folder of the repository";
  return (await listFiles(repoPath, name)) === null ? `more than ${mostFiles} files that git does not ignore` : null;
}

function insideName(name: string): string {
  const clean = normalize(name).replace(/\/+$/, "");
  const inside = clean !== "" && clean !== "." && !isAbsolute(name) && clean !== ".." && !clean.startsWith(`..${sep}`);
  if (inside && clean.split(sep)[0] !== ".git" && !/[\n\0]/.test(name)) return clean;
  throw new UserError(`worktree.copy: ${JSON.stringify(name)} is not a path inside the repository`, {
    hint: "Name files relative to the repository's root, such as .env",
    code: "worktree-copy",
  });
}

/** There, and reached without leaving the repository. */
async function isInside(repoPath: string, name: string): Promise<boolean> {
  const path = join(repoPath, name);
  return isThere(path) && (await leadsInside(repoPath, path));
}

/** A link that leads nowhere, too. */
function isThere(path: string): boolean {
  return linkStatsOf(path) !== undefined;
}

/** Sockets and the like are left out; so is a link that leads out of the repository, to a folder, or nowhere. Others are copied as what they lead to. */
async function leadsInside(repoPath: string, source: string): Promise<boolean> {
  const found = await lstat(source);
  if (!found.isFile() && !found.isDirectory() && !found.isSymbolicLink()) return false;
  try {
    const [root, real] = await Promise.all([realpath(repoPath), realpath(source)]);
    return real.startsWith(root + sep) && !(found.isSymbolicLink() && (await lstat(real)).isDirectory());
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ELOOP") return false;
    throw error;
  }
}

function lineOf(name: string): string {
  return `/${name.replace(/[\\*?[\]!# ]/g, "\\$&")}`;
}
