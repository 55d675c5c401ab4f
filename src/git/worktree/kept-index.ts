import { copyFileSync, lstatSync, readFileSync, renameSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { type Checkout, gitIn } from "../checkout/checkout-git.js";
import { GitError } from "../git.js";
import { resolveHead } from "../head.js";
import { parseIndex } from "../objects/index-file.js";
import { hashOf } from "../objects/loose-objects.js";
import { removeIfThere } from "../small-files.js";

/**
 * The agent's index as it was before somebody looked at the worktree who may only look. What is staged shows in no file:
 * whoever unstages one has it deleted by the agent's next commit. Its entries count (mode, id, stage, flags, path), not
 * what git has noted of the files meanwhile, as a mere `git status` does. The bytes are compared first, so git is hardly ever asked.
 */
export function keepIndex(gitDir: string, commit: string | null): void {
  const [index, kept] = [indexOf(gitDir), keptOf(gitDir)];
  // That of another commit must not be put back beside this one's files.
  const isOfCommit = commit !== null && resolveHead(gitDir) === commit;
  const isThere = isOfCommit && isFile(index);
  if (!isThere || !isFile(kept)) forgetIndex(gitDir);
  // In place: one that is only half written cannot be read, and says nothing.
  if (isThere) copyIndex(index, kept);
}

export function forgetIndex(gitDir: string): void {
  removeIfThere(keptOf(gitDir));
}

export function hasKeptIndex(gitDir: string): boolean {
  return isFile(keptOf(gitDir));
}

/** What has become of it, in words; null: it has the same entries, or none was kept. */
export async function findIndexChange(checkout: Checkout): Promise<string | null> {
  const [kept, index] = [keptOf(checkout.gitDir), indexOf(checkout.gitDir)];
  const [before, now] = [bytesOf(kept), bytesOf(index)];
  if (before === null || now?.equals(before)) return null;
  if (now === null) return "index (it is gone)";
  const wanted = await entriesOf(checkout, kept, before);
  // One that the end of the machine has spoilt says nothing.
  if (wanted === null) return null;
  const found = await entriesOf(checkout, index, now);
  if (found === null) return "index (it cannot be read)";
  const paths = [...new Set([...wanted.keys(), ...found.keys()])].filter(
    (path) => wanted.get(path) !== found.get(path),
  );
  if (paths.length === 0) return null;
  const shown = paths.slice(0, 3).map((path) => Buffer.from(path, "latin1").toString("utf8"));
  return `index (${shown.join(", ")}${paths.length > shown.length ? ", …" : ""})`;
}

export function putIndexBack({ gitDir }: Checkout): void {
  const [index, aside] = [indexOf(gitDir), `${indexOf(gitDir)}.${process.pid}`];
  copyIndex(keptOf(gitDir), aside);
  if (!isFile(index)) removeIfThere(index);
  renameSync(aside, index);
}

function indexOf(gitDir: string): string {
  return join(gitDir, "index");
}

function keptOf(gitDir: string): string {
  return join(gitDir, "ratchet", "kept-index");
}

/** null: there is no such file. */
function bytesOf(path: string): Buffer | null {
  return isFile(path) ? readFileSync(path) : null;
}

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** No newer than it is: git reads files again that changed after their index was written, or just before. */
function copyIndex(from: string, to: string): void {
  copyFileSync(from, to);
  const writtenSeconds = Math.floor(lstatSync(from).mtimeMs) / 1000;
  utimesSync(to, writtenSeconds, writtenSeconds);
}

/** What the index says of each path, as `git ls-files` has it; null: nobody can read it. Paths are bytes, one a character. */
async function entriesOf(
  checkout: Checkout,
  index: string,
  bytes: Buffer,
): Promise<ReadonlyMap<string, string> | null> {
  const simple = isWhole(bytes, checkout) ? parseIndex(bytes, checkout.baseSha.length / 2) : null;
  if (simple !== null) return new Map([...simple.entries].map(([path, { mode, id }]) => [path, `H ${mode} ${id} 0`]));
  try {
    const { stdout } = await gitIn(checkout, ["ls-files", "--stage", "-v", "-z"], { index });
    return parseList(stdout.toString("latin1"));
  } catch (error) {
    if (!(error instanceof GitError) || error.retryable) throw error;
    return null;
  }
}

/** It ends with the hash of all before. */
function isWhole(bytes: Buffer, { baseSha: { length } }: Checkout): boolean {
  const end = bytes.length - length / 2;
  return end > 0 && hashOf(bytes.subarray(0, end), length) === bytes.toString("hex", end);
}

/** In a conflict a path has several entries. */
function parseList(text: string): ReadonlyMap<string, string> {
  const entries = new Map<string, string>();
  for (const line of text.split("\0")) {
    const tab = line.indexOf("\t");
    if (tab < 0) continue;
    const path = line.slice(tab + 1);
    entries.set(path, [...(entries.has(path) ? [entries.get(path)] : []), line.slice(0, tab)].join("|"));
  }
  return entries;
}
