import { randomBytes } from "node:crypto";
import { copyFileSync, existsSync } from "node:fs";
import { type Checkout, gitIn, ownIndex } from "../checkout/checkout-git.js";
import { git } from "../git.js";
import type { Mirror } from "../mirror/mirror-refs.js";
import { removeIfThere } from "../small-files.js";

export interface Range {
  readonly base: string;
  readonly head: string;
}

/** Whatever somebody has set for their own eyes: `git apply` takes it. */
const plain = [
  ...["--no-ext-diff", "--no-textconv", "--no-color", "--find-renames"],
  ...["--unified=3", "--submodule=short", "--src-prefix=a/", "--dst-prefix=b/"],
];

export interface PatchOptions {
  /** With what is in files that are no text, so that it can be applied. */
  readonly binary?: boolean;
}

interface Nested {
  /** Repositories of their own among the files, which no commit has: what is in them is not shown. */
  readonly nested: readonly Uint8Array[];
}
export interface Patch extends Nested {
  readonly patch: Buffer;
}
export interface Changed extends Nested {
  readonly names: readonly Uint8Array[];
}

function howTo({ binary = false }: PatchOptions): string[] {
  return binary ? [...plain, "--binary"] : plain;
}

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

/** All of it, byte for byte: neither names nor what is in files need be UTF-8. */
export async function diffCommits(mirror: Mirror, { base, head }: Range, options: PatchOptions): Promise<Buffer> {
  return (await git(mirror.path, ["diff", ...howTo(options), base, head, "--"])).stdout;
}

/** The names of what `diff` shows; what was renamed has its new one. */
export async function changedPaths(mirror: Mirror, { base, head }: Range): Promise<readonly Uint8Array[]> {
  return namesIn((await git(mirror.path, ["diff", ...plain, ...namesOnly, base, head, "--"])).stdout);
}

/**
 * The patch from base to the files as they are, new ones included. Through a copy of our index: neither the agent's, with
 * its flags, counts, nor is anything changed that somebody who works there looks at.
 */
export async function diffFiles(checkout: Committed, base: string, options: PatchOptions): Promise<Patch> {
  const { stdout: patch, nested } = await lookAtFiles(checkout, [...howTo(options), base]);
  return { patch, nested };
}

/** The names of what `diffFiles` shows; what was renamed has its new one. */
export async function changedFiles(checkout: Committed, base: string): Promise<Changed> {
  const { stdout, nested } = await lookAtFiles(checkout, [...plain, ...namesOnly, base]);
  return { names: namesIn(stdout), nested };
}

type Committed = Checkout & { readonly head: string };
const namesOnly = ["--name-only", "-z"];

interface Looked extends Nested {
  readonly stdout: Buffer;
}

async function lookAtFiles(checkout: Committed, args: readonly string[]): Promise<Looked> {
  const index = `${ownIndex(checkout)}.${randomBytes(4).toString("hex")}`;
  try {
    await startIndex(checkout, index);
    const others = ["ls-files", "--others", "--exclude-standard", "-z"];
    const found = (await gitIn(checkout, others, { index })).stdout.toString("latin1").split("\0");
    const names = found.filter((name) => name !== "" && !isNested(name)).map((name) => `${name}\0`);
    const nested = found.filter(isNested).map((name) => Buffer.from(name, "latin1"));
    const input = Buffer.from(names.join(""), "latin1");
    const add = ["add", "--intent-to-add", "--pathspec-from-file=-", "--pathspec-file-nul"];
    if (names.length > 0) await gitIn(checkout, add, { index, input, env: { GIT_LITERAL_PATHSPECS: "1" } });
    return { stdout: (await gitIn(checkout, ["diff", ...args, "--"], { index })).stdout, nested };
  } finally {
    removeIfThere(index);
  }
}

/** What ends like a folder is a repository of its own. */
function isNested(name: string): boolean {
  return name.endsWith("/");
}

/** What is known of unchanged files is kept, as far as that can be read. */
async function startIndex(checkout: Committed, index: string): Promise<void> {
  const { head } = checkout;
  if (existsSync(ownIndex(checkout))) copyFileSync(ownIndex(checkout), index);
  const output = await gitIn(checkout, ["read-tree", "-i", "-m", head], { index, okCodes: [1, 128] });
  if (output.code === 0) return;
  removeIfThere(index);
  await gitIn(checkout, ["read-tree", head], { index });
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

function namesIn(listing: Buffer): Uint8Array[] {
  const names = listing.toString("latin1").split("\0").filter(Boolean);
  return names.map((name) => Buffer.from(name, "latin1"));
}
