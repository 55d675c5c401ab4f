import { cp, lstat, mkdir, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, normalize, sep } from "node:path";
import { codeOf, UserError } from "../lib/errors.js";
import { exists } from "../lib/files.js";
import { linkStatsOf } from "./small-files.js";

export interface CopyOptions {
  /** Paths of files or folders, relative to the repository's root. */
  readonly copy: readonly string[];
  readonly repoPath: string;
}

/** What is there already (tracked, or copied before and perhaps changed) is never overwritten; what the user does not have is left out. */
export async function copyIntoCheckout(
  path: string,
  { copy, repoPath }: CopyOptions,
): Promise<{ readonly copied: readonly string[]; readonly ignore: string }> {
  const names = copy.map(insideName);
  const copied: string[] = [];
  for (const name of names) {
    const to = join(path, name);
    if ((await exists(to)) || !(await isInside(repoPath, name))) continue;
    await mkdir(dirname(to), { recursive: true });
    await cp(join(repoPath, name), to, {
      recursive: true,
      dereference: true,
      filter: async (source) => await leadsInside(repoPath, source),
    });
    copied.push(name);
  }
  return { copied, ignore: names.map((name) => `/${escaped(name)}\n`).join("") };
}

/** Which of them no worktree will have, in words; null: none. */
export async function tellNotCopied({ copy, repoPath }: CopyOptions): Promise<string | null> {
  const told: string[] = [];
  for (const name of copy.map(insideName)) {
    if (await isInside(repoPath, name)) continue;
    const why = isThere(join(repoPath, name)) ? "no file or folder of the repository" : "not there";
    told.push(`${name} (${why})`);
  }
  return told.length === 0 ? null : `worktree.copy: not copied into worktrees: ${told.join(", ")}`;
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

function escaped(name: string): string {
  return name.replace(/[\\*?[\]!# ]/g, "\\$&");
}
