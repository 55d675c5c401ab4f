import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../lib/errors.js";
import { exists, statsOf } from "../lib/files.js";
import { readOr, textOf } from "./small-files.js";

const commit = /^([0-9a-f]{40}|[0-9a-f]{64})$/;

export function isCommitId(text: string): boolean {
  return commit.test(text);
}

/** The commit a ref of this git folder is at, read from its files; null when it names none. */
export function resolveHead(gitDir: string, ref = "HEAD"): string | null {
  let name = ref;
  for (let depth = 0; depth < 5; depth++) {
    const text = textOf(join(gitDir, name))?.trim();
    if (text === undefined) return fromPackedRefs(gitDir, name);
    if (isCommitId(text)) return text;
    // Nor does git look among the packed ones where a file is empty: what it said was newer than those.
    if (!text.startsWith("ref: ")) return null;
    name = text.slice("ref: ".length).trim();
  }
  return null;
}

/** The same of a git folder that an agent may have broken: null, too, where its files cannot be read. */
export function readHead(gitDir: string): string | null {
  try {
    return resolveHead(gitDir);
  } catch (error) {
    if (codeOf(error) === null) throw error;
    return null;
  }
}

function fromPackedRefs(gitDir: string, ref: string): string | null {
  const lines = readOr(join(gitDir, "packed-refs")).split("\n");
  return lines.find((line) => line.endsWith(` ${ref}`))?.split(" ")[0] ?? null;
}

/**
 * The refs of these names, or below them, read from the files of a git folder: a hundred times faster than asking git.
 * Loose before packed, as git does, so a ref that is being packed is not missed. null: the folder keeps its refs otherwise.
 */
export async function readRefFiles(
  gitDir: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, string> | null> {
  const found = new Map<string, string>();
  for (const name of names) {
    const stats = statsOf(join(gitDir, name));
    if (stats !== undefined) readLoose(gitDir, { name, isFolder: stats.isDirectory() }, found);
  }
  // Each is a ref with a file of its own, so there is none below it.
  if (names.every((name) => found.has(name))) return found;
  if (await exists(join(gitDir, "reftable"))) return null;
  for (const line of readOr(join(gitDir, "packed-refs")).split("\n")) {
    const [id = "", name = ""] = line.split(" ", 2);
    const wanted = isCommitId(id) && names.some((one) => name === one || name.startsWith(`${one}/`));
    if (wanted && !found.has(name)) found.set(name, id);
  }
  return found;
}

export function entriesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    // The last ref below it was deleted meanwhile.
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return [];
    throw error;
  }
}

interface Loose {
  readonly name: string;
  readonly isFolder: boolean;
}

function readLoose(gitDir: string, { name, isFolder }: Loose, found: Map<string, string>): void {
  if (!isFolder) {
    const id = resolveHead(gitDir, name);
    if (id !== null) found.set(name, id);
    return;
  }
  for (const entry of entriesIn(join(gitDir, name))) {
    const below = `${name}/${entry.name}`;
    const isFolder =
      entry.isDirectory() || (entry.isSymbolicLink() && statsOf(join(gitDir, below))?.isDirectory() === true);
    if (!below.endsWith(".lock")) readLoose(gitDir, { name: below, isFolder }, found);
  }
}
