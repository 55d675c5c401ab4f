import { git } from "./git.js";
import type { Mirror } from "./mirror-refs.js";

export interface Range {
  readonly base: string;
  readonly head: string;
}

const plain = ["--no-ext-diff", "--no-textconv", "--no-color", "--find-renames"];

/** The patch from base to head; beyond `maxBytes` it is cut after a whole line, and says so. */
export async function diff(
  mirror: Mirror,
  { base, head, maxBytes }: Range & { readonly maxBytes?: number },
): Promise<{ readonly text: string; readonly truncated: boolean }> {
  const options = maxBytes === undefined ? {} : { maxBytes };
  const output = await git(mirror.path, ["diff", ...plain, base, head, "--"], options);
  const text = output.stdout.toString("utf8");
  if (!output.truncated) return { text, truncated: false };
  return { text: text.slice(0, text.lastIndexOf("\n") + 1), truncated: true };
}

export interface FileStat {
  readonly path: string;
  /** null: a binary file. */
  readonly added: number | null;
  readonly removed: number | null;
}

export async function diffStat(mirror: Mirror, { base, head }: Range): Promise<readonly FileStat[]> {
  const args = ["diff", "--no-ext-diff", "--no-textconv", "--no-renames", "--numstat", "-z", base, head, "--"];
  const output = await git(mirror.path, args);
  const entries = output.stdout.toString("utf8").split("\0").filter(Boolean);
  return entries.map((entry) => {
    const [added = "", removed = "", ...path] = entry.split("\t");
    return { path: path.join("\t"), added: count(added), removed: count(removed) };
  });
}

function count(text: string): number | null {
  return text === "-" ? null : Number(text);
}

export async function changedPaths(mirror: Mirror, { base, head }: Range): Promise<readonly string[]> {
  const output = await git(mirror.path, ["diff-tree", "-r", "-z", "--name-only", "--no-renames", base, head, "--"]);
  return output.stdout.toString("utf8").split("\0").filter(Boolean);
}
