import { readFileSync } from "node:fs";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import { codeOf } from "../lib/errors.js";
import { isMissing } from "../lib/files.js";
import { gitText } from "./git.js";

/**
 * The tree of a commit of a bare repository. New commits are files of their own until git packs them, and reading one
 * costs a fraction of starting git; whatever is not plainly such a file is left to git.
 */
export async function treeOf(repository: string, commit: string): Promise<string> {
  return looseTree(repository, commit) ?? (await gitText(repository, ["rev-parse", "--verify", `${commit}^{tree}`]));
}

/** null: it is no commit that has a file of its own there. */
export function looseTree(repository: string, commit: string): string | null {
  if (!/^[0-9a-f]{40,64}$/.test(commit)) return null;
  const path = join(repository, "objects", commit.slice(0, 2), commit.slice(2));
  if (isMissing(path)) return null;
  try {
    const file = readFileSync(path);
    return /^commit \d+\0tree ([0-9a-f]{40,64})\n/.exec(inflateSync(file).toString("latin1"))?.[1] ?? null;
  } catch (error) {
    // Packed, or damaged: git knows what to say.
    if (codeOf(error) === "ENOENT" || codeOf(error)?.startsWith("Z_")) return null;
    throw error;
  }
}
