import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { inflateSync } from "node:zlib";
import { codeOf } from "../../lib/errors.js";
import { isMissing } from "../../lib/files.js";
import { keepNewest } from "../../lib/keep-newest.js";

/**
 * Objects that have a file of their own, as new ones have until git packs them: reading one costs a fraction of starting
 * git. Each is checked against its name. Whatever is not plainly such a file is null, and git's to say.
 */
export interface Commit {
  readonly tree: string;
  readonly parents: readonly string[];
}

export interface TreeEntry {
  /** As git writes it: 100644, 100755, 120000, 40000, 160000. */
  readonly mode: string;
  /** Bytes, one a character. */
  readonly name: string;
  readonly id: string;
}

export const treeMode = "40000";
export const linkMode = "160000";

const idPattern = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const bytesAtMost = 1_000_000;

/** Reads from the first of these git folders that has the object; what was read before is known without them. */
export class LooseObjects {
  readonly #folders: readonly string[];

  constructor(folders: readonly string[]) {
    this.#folders = folders;
  }

  commit(id: string): Commit | null {
    const known = commits.get(id);
    if (known !== undefined) return known;
    const body = this.#read(id, "commit");
    const commit = body === null ? null : parseCommit(body.toString("latin1"));
    if (commit !== null) remember(commits, id, commit);
    return commit;
  }

  tree(id: string): readonly TreeEntry[] | null {
    const known = trees.get(id);
    if (known !== undefined) return known;
    const body = this.#read(id, "tree");
    const entries = body === null ? null : parseTree(body, id.length / 2);
    if (entries !== null && entries.length <= entriesAtMost) remember(trees, id, entries);
    return entries;
  }

  /** Whether the commit is there, not only known. */
  hasCommit(id: string): boolean {
    return this.commit(id) !== null && this.has(id);
  }

  has(id: string): boolean {
    return this.#folders.some((folder) => !isMissing(fileOf(folder, id)));
  }

  #read(id: string, type: string): Buffer | null {
    if (!idPattern.test(id)) return null;
    for (const folder of this.#folders) {
      const whole = inflated(fileOf(folder, id));
      if (whole === null || hashOf(whole, id.length) !== id) continue;
      const end = whole.indexOf(0);
      return whole.toString("latin1", 0, end).startsWith(`${type} `) ? whole.subarray(end + 1) : null;
    }
    return null;
  }
}

/** What was read once and is its id's does not change. The newest small ones are kept. */
const commits = new Map<string, Commit>();
const trees = new Map<string, readonly TreeEntry[]>();
const kept = 1000;
const entriesAtMost = 50;

/** One that git has just made of these. */
export function rememberCommit(id: string, commit: Commit): void {
  remember(commits, id, commit);
}

function remember<T>(known: Map<string, T>, id: string, object: T): void {
  known.set(id, object);
  keepNewest(known, kept);
}

function fileOf(folder: string, id: string): string {
  return `${folder}/objects/${id.slice(0, 2)}/${id.slice(2)}`;
}

function parseCommit(text: string): Commit | null {
  const tree = /^tree ([0-9a-f]+)\n/.exec(text)?.[1];
  if (tree === undefined) return null;
  const headers = text.slice(0, text.indexOf("\n\n"));
  return { tree, parents: [...headers.matchAll(/^parent ([0-9a-f]+)$/gm)].flatMap((found) => found[1] ?? []) };
}

function inflated(path: string): Buffer | null {
  if (isMissing(path)) return null;
  try {
    return inflateSync(readFileSync(path), { maxOutputLength: bytesAtMost });
  } catch (error) {
    // Packed meanwhile, damaged, or large.
    const code = codeOf(error) ?? "";
    if (code === "ENOENT" || code.startsWith("Z_") || code === "ERR_BUFFER_TOO_LARGE") return null;
    throw error;
  }
}

/** The id of an object: `length` tells which kind of ids the repository has. */
export function hashOf(whole: Uint8Array, length: number): string {
  return createHash(length === 64 ? "sha256" : "sha1")
    .update(whole)
    .digest("hex");
}

function parseTree(body: Buffer, idBytes: number): readonly TreeEntry[] {
  const entries: TreeEntry[] = [];
  for (let at = 0; at < body.length; ) {
    const space = body.indexOf(0x20, at);
    const end = body.indexOf(0, space);
    const next = end + 1 + idBytes;
    entries.push({
      mode: body.toString("latin1", at, space),
      name: body.toString("latin1", space + 1, end),
      id: body.toString("hex", end + 1, next),
    });
    at = next;
  }
  return entries;
}
