import { copyFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { exists, namesIn } from "../../lib/files.js";
import { adoptIndex, type Checkout, gitIn, ownIndex, passingIndex } from "../checkout/checkout-git.js";
import { GitError } from "../git.js";
import { readOr, removeIfThere, writeIfChanged } from "../small-files.js";
import { isProvenClean, lookAtFiles } from "./clean-proof.js";
import { filesAreAt } from "./files-at.js";

/**
 * How a path differs from the commit. Paths are bytes: not every file name is text. nested: a repository that no commit
 * names; link: one that the commit names, with something in it that this does not have.
 */
export interface Change {
  readonly path: Buffer;
  readonly kind: "modified" | "deleted" | "untracked" | "nested" | "link";
}

/** Every difference between the files and `head`, seen through Ratchet's own index: the agent's and its flags do not count. */
export async function readChanges(
  checkout: Checkout,
  head: string,
  look = lookAtFiles(checkout.path),
): Promise<readonly Change[]> {
  if (isProvenAt(checkout, head, look)) return [];
  await alignIndex(checkout, head);
  const args = ["status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignore-submodules=none", "--no-renames"];
  const output = await gitIn(checkout, [...args, "--no-ahead-behind"], { own: true });
  return parseStatus(output.stdout);
}

/** Proof without git that the files are those of `head` and no other. False: git has to be asked. */
export function isProvenAt(checkout: Checkout, head: string, look = lookAtFiles(checkout.path)): boolean {
  return look !== null && (isProvenClean(checkout.path, head, look) || filesAreAt(checkout, head, look));
}

/** Our index at `head`, what is known of unchanged files kept. */
async function alignIndex(checkout: Checkout, head: string): Promise<void> {
  const mark = join(checkout.gitDir, "ratchet", "aligned");
  if (readOr(mark) === head && (await exists(ownIndex(checkout)))) return;
  try {
    // -i: files that differ from our index are no obstacle, and of all others what is known of them stays known.
    await gitIn(checkout, ["read-tree", "-i", "-m", head], { own: true });
  } catch (error) {
    if (!(error instanceof GitError) || error.retryable) throw error;
    // A damaged index is only a cache.
    await rm(ownIndex(checkout), { force: true });
    await gitIn(checkout, ["read-tree", head], { own: true });
  }
  await writeIfChanged(mark, head);
}

/** After our index was used for something else than looking. */
export async function forgetAlignment(checkout: Checkout): Promise<void> {
  removeIfThere(join(checkout.gitDir, "ratchet", "aligned"));
}

function parseStatus(bytes: Buffer): readonly Change[] {
  const changes: Change[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0, at);
    const entry = bytes.subarray(at, end < 0 ? bytes.length : end);
    at = (end < 0 ? bytes.length : end) + 1;
    const change = parseEntry(entry);
    if (change !== null) changes.push(change);
  }
  return changes;
}

function parseEntry(entry: Buffer): Change | null {
  const type = String.fromCharCode(entry[0] ?? 0);
  if (type === "?") {
    const path = entry.subarray(2);
    return path.at(-1) === 0x2f
      ? { path: path.subarray(0, -1), kind: "nested" }
      : { path: Buffer.from(path), kind: "untracked" };
  }
  if (type !== "1" && type !== "u") return null;
  const fields = entry.toString("latin1").split(" ");
  const [, xy = "", submodule = ""] = fields;
  const path = Buffer.from(fields.slice(type === "1" ? 8 : 10).join(" "), "latin1");
  if (submodule.startsWith("S") && !xy.includes("D")) return { path, kind: "link" };
  return { path, kind: xy.includes("D") ? "deleted" : "modified" };
}

const operations: readonly (readonly [string, string])[] = [
  ["rebase-merge", "a rebase"],
  ["rebase-apply", "a rebase"],
  ["MERGE_HEAD", "a merge"],
  ["CHERRY_PICK_HEAD", "a cherry-pick"],
  ["REVERT_HEAD", "a revert"],
  ["BISECT_LOG", "a bisect"],
];

/** What the agent began with git and did not end. */
export async function unfinishedOperations({ gitDir }: Checkout): Promise<readonly string[]> {
  return operationsIn(namesIn(gitDir));
}

export function operationsIn(there: readonly string[]): readonly string[] {
  return operations.flatMap(([file, what]) => (there.includes(file) ? [what] : []));
}

/** Forgets what was begun; the files stay as they are. */
export async function dropOperations({ gitDir }: Checkout): Promise<void> {
  const files = [
    ...operations.map(([file]) => file),
    "sequencer",
    "MERGE_MSG",
    "MERGE_MODE",
    "AUTO_MERGE",
    "REBASE_HEAD",
    "BISECT_START",
    "BISECT_NAMES",
    "BISECT_TERMS",
    "BISECT_EXPECTED_REV",
  ];
  for (const file of files) await rm(join(gitDir, file), { recursive: true, force: true });
}

/** How the files differ from `head`, as was just read. */
export interface FilesRead {
  readonly head: string;
  readonly changes: readonly Change[];
}

/** The tree of the files as they are; our index stays at HEAD. */
export async function treeOfFiles(checkout: Checkout, read: FilesRead): Promise<string> {
  await alignIndex(checkout, read.head);
  const index = passingIndex(checkout);
  await copyFile(ownIndex(checkout), index);
  try {
    return await writeFilesTree(checkout, read.changes, index);
  } finally {
    await rm(index, { force: true });
  }
}

/** The same, and our index has them afterwards. Nested repositories are no part of it. */
export async function takeFiles(checkout: Checkout, read: FilesRead): Promise<string> {
  await alignIndex(checkout, read.head);
  await forgetAlignment(checkout);
  return await writeFilesTree(checkout, read.changes, ownIndex(checkout));
}

/** With an index at the commit that they differ from. Who has proven without git that they do not may have left ours at an older one. */
async function writeFilesTree(checkout: Checkout, changes: readonly Change[], index: string): Promise<string> {
  const update = async (how: readonly string[], kinds: readonly Change["kind"][]) => {
    const paths = changes.filter(({ kind }) => kinds.includes(kind)).flatMap(({ path }) => [path, Buffer.of(0)]);
    if (paths.length === 0) return;
    await gitIn(checkout, ["update-index", ...how, "-z", "--stdin"], { index, input: Buffer.concat(paths) });
  };
  // What is deleted is not looked at: git refuses a path whose folder became a symbolic link.
  await update(["--force-remove"], ["deleted"]);
  await update(["--add", "--remove", "--replace"], ["modified", "untracked"]);
  return (await gitIn(checkout, ["write-tree"], { index })).stdout.toString().trim();
}

/** The files as HEAD has them; untracked files that are not ignored are removed. */
export async function resetFiles(checkout: Checkout, head: string): Promise<void> {
  await gitIn(checkout, ["read-tree", "--reset", "-u", head], { own: true });
  await removeUntracked(checkout);
  await writeIfChanged(join(checkout.gitDir, "ratchet", "aligned"), head);
  await adoptIndex(checkout);
}

/** What neither our index has nor git ignores, repositories among it. */
export async function removeUntracked(checkout: Checkout): Promise<void> {
  await gitIn(checkout, ["clean", "-ffdq"], { own: true });
}
