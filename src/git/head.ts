import { join } from "node:path";
import { exists, namesIn, statsOf } from "../lib/files.js";
import { readOr, textOf } from "./small-files.js";

const commit = /^([0-9a-f]{40}|[0-9a-f]{64})$/;

/** The commit a ref of this git folder is at, read from its files; null when it names none. */
export function resolveHead(gitDir: string, ref = "HEAD"): string | null {
  let name = ref;
  for (let depth = 0; depth < 5; depth++) {
    const text = (textOf(join(gitDir, name)) ?? "").trim();
    if (commit.test(text)) return text;
    if (!text.startsWith("ref: ")) return text === "" ? fromPackedRefs(gitDir, name) : null;
    name = text.slice("ref: ".length).trim();
  }
  return null;
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
  for (const name of names) readLoose(gitDir, name, found);
  // Each is a ref with a file of its own, so there is none below it.
  if (names.every((name) => found.has(name))) return found;
  if (await exists(join(gitDir, "reftable"))) return null;
  for (const line of readOr(join(gitDir, "packed-refs")).split("\n")) {
    const [id = "", name = ""] = line.split(" ", 2);
    const wanted = commit.test(id) && names.some((one) => name === one || name.startsWith(`${one}/`));
    if (wanted && !found.has(name)) found.set(name, id);
  }
  return found;
}

function readLoose(gitDir: string, name: string, found: Map<string, string>): void {
  const stats = statsOf(join(gitDir, name));
  if (stats === undefined) return;
  if (!stats.isDirectory()) {
    const id = resolveHead(gitDir, name);
    if (id !== null) found.set(name, id);
    return;
  }
  const below = namesIn(join(gitDir, name)).filter((entry) => !entry.endsWith(".lock"));
  for (const one of below) readLoose(gitDir, `${name}/${one}`, found);
}
