import { createHash } from "node:crypto";
import { lstatSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { findCheckout } from "../checkout/checkout.js";
import { GitError, git, gitText } from "../git.js";
import { hasCommit, isAncestor, type Mirror } from "../mirror/mirror-refs.js";
import { asAuthor, type Identity } from "../repository.js";
import { shareBranch } from "./snapshot.js";
import { readChanges } from "./status.js";
import { type OpenedWorktree, openWorktree } from "./worktree.js";

/**
 * A workspace is a worktree beside any checkout, the user's own or an issue's: it starts where that checkout is, and
 * what is committed in it is merged back there.
 */
export interface WorkspaceOptions {
  readonly path: string;
  readonly branch: string;
  /** The checkout it is beside. */
  readonly beside: string;
  readonly copy: readonly string[];
  readonly repoPath: string;
}

export async function openWorkspace(mirror: Mirror, options: WorkspaceOptions): Promise<OpenedWorktree> {
  const base = await gitText(options.beside, ["rev-parse", "--verify", "HEAD^{commit}"]);
  if (!(await hasCommit(mirror.path, base))) {
    await git(mirror.path, ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", resolve(options.beside), base]);
  }
  return await openWorktree(mirror, { ...options, base });
}

export type WorkspaceMerge =
  | { readonly type: "merged"; readonly commit: string }
  | { readonly type: "failed"; readonly reason: string };

/** Merges what is committed in the workspace into the branch that `into` has checked out. Repeating it is harmless. */
export async function mergeWorkspace(
  path: string,
  { into, identity, message }: { readonly into: string; readonly identity: Identity; readonly message: string },
): Promise<WorkspaceMerge> {
  const checkout = await findCheckout(path);
  const { head } = checkout;
  const loose = (await readChanges(checkout, head)).map((change) => change.path.toString("utf8"));
  if (loose.length > 0) return { type: "failed", reason: `not committed in the workspace: ${listed(loose)}` };
  await shareBranch(checkout, head);
  await git(into, ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", checkout.mirror.path, head]);
  if (await isAncestor(into, head, "HEAD")) return merged(into);
  const env = asAuthor(identity);
  try {
    await git(into, ["merge", "--quiet", "--no-edit", "-m", message, head], { env });
    return await merged(into);
  } catch (error) {
    if (!(error instanceof GitError) || error.retryable) throw error;
    const files = (await gitText(into, ["diff", "--name-only", "--diff-filter=U"])).split("\n").filter(Boolean);
    if (files.length === 0) return { type: "failed", reason: refusal(error) };
    await git(into, ["merge", "--abort"]);
    return { type: "failed", reason: `it conflicts in ${listed(files)}` };
  }
}

async function merged(into: string): Promise<WorkspaceMerge> {
  return { type: "merged", commit: await gitText(into, ["rev-parse", "HEAD"]) };
}

/** Git names the files that stand in the way on lines of their own. */
function refusal({ message, stderr }: GitError): string {
  const files = stderr.split("\n").flatMap((line) => (line.startsWith("\t") ? [line.trim()] : []));
  return files.length === 0 ? message : `in the checkout, changed and not committed: ${listed(files)}`;
}

function listed(files: readonly string[]): string {
  const more = files.length > 5 ? ` and ${files.length - 5} more` : "";
  return `${files.slice(0, 5).join(", ")}${more}`;
}

/**
 * How any checkout stands, as a word to compare: its commit and whatever is uncommitted. null: there is no repository.
 */
export async function markOf(path: string): Promise<string | null> {
  try {
    const args = ["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--no-renames"];
    const { stdout } = await git(path, args, { env: { GIT_OPTIONAL_LOCKS: "0" } });
    const hash = createHash("sha256").update(stdout);
    for (const entry of stdout.toString("utf8").split("\0")) hash.update(seen(join(path, pathIn(entry))));
    return hash.digest("hex");
  } catch (error) {
    if (error instanceof GitError && !error.retryable) return null;
    throw error;
  }
}

/**
 * What the files say that git tracks there, as a word to compare: the commit, and what was changed since. null: there is
 * no repository.
 */
export async function trackedMarkOf(path: string): Promise<string | null> {
  try {
    const args = ["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=no", "--no-renames"];
    const { stdout } = await git(path, args, { env: { GIT_OPTIONAL_LOCKS: "0" } });
    const hash = createHash("sha256");
    const entries = stdout.toString("utf8").split("\0");
    for (const entry of entries.filter((one) => one.startsWith("# branch.oid "))) hash.update(`${entry}\0`);
    for (const changed of [...entries.map(pathIn), ...(await hiddenFiles(path))].filter((one) => one !== ""))
      hash
        .update(`${changed}\0`)
        .update(contentOf(join(path, changed)))
        .update("\0");
    return hash.digest("hex").slice(0, 16);
  } catch (error) {
    if (error instanceof GitError && !error.retryable) return null;
    throw error;
  }
}

/** Those of which git was told not to look whether they have changed. */
async function hiddenFiles(path: string): Promise<string[]> {
  const { stdout } = await git(path, ["ls-files", "-v", "-z", "--full-name", ":/"]);
  const entries = stdout.toString("utf8").split("\0");
  return entries.filter((entry) => /^[a-zS] /.test(entry)).map((entry) => entry.slice(2));
}

/** Of a large file, and of what is no file, what can be told at a glance. */
const readBytes = 1024 * 1024;

function contentOf(path: string): Uint8Array | string {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isFile() && found.size <= readBytes ? readFileSync(path) : seen(path);
}

/** An entry's path is its last field: what changed twice is told by its file. */
function pathIn(entry: string): string {
  const fields = { "?": 1, "1": 8, u: 10 }[entry[0] ?? ""];
  return fields === undefined ? "" : entry.split(" ").slice(fields).join(" ");
}

/** A link is what it says, wherever it leads: perhaps nowhere. */
function seen(path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isFile() || found?.isSymbolicLink() ? `${found.size}/${found.mtimeMs}` : "";
}
