import { type BigIntStats, lstatSync, readdirSync } from "node:fs";
import { codeOf } from "../../lib/errors.js";
import { keepNewest } from "../../lib/keep-newest.js";

/**
 * Proof that nothing in a small worktree has changed since git found it clean, without asking git again: every file and
 * folder still has the inode, mode, size and times that it had before git looked. The change time cannot be set
 * by any program; its clock may be a coarse one, so files that changed just before git looked prove nothing. Whoever asks
 * in vain asks git.
 */
const entriesAtMost = 300;
/** Longer than the coarsest clock of a file system's times stands still. */
const coarseMs = 20;

/** What a folder looks like. */
export interface Look {
  readonly state: string;
  /** All that is no folder, by its path below: bytes, one a character. */
  readonly files: ReadonlyMap<string, BigIntStats>;
  /** When anything in it changed last. */
  readonly newestMs: number;
}

const proofs = new Map<string, { readonly head: string; readonly state: string }>();
const proofsKept = 100;

/** null: it is too large or cannot be read. */
export function lookAtFiles(folder: string): Look | null {
  try {
    return walk(Buffer.from(folder).toString("latin1"));
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EACCES", "EPERM"].includes(codeOf(error) ?? "")) return null;
    throw error;
  }
}

/** Paths are bytes, one a character. */
function walk(root: string): Look | null {
  const seen: string[] = [];
  const files = new Map<string, BigIntStats>();
  const paths = [root];
  let newestMs = 0;
  for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
    if (seen.length >= entriesAtMost) return null;
    const found = lstatSync(Buffer.from(path, "latin1"), { bigint: true });
    const { ino, mode, size, mtimeNs, ctimeNs } = found;
    seen.push(`${path} ${ino} ${mode} ${size} ${mtimeNs} ${ctimeNs}`);
    newestMs = Math.max(newestMs, Number(found.ctimeMs));
    if (!found.isDirectory()) files.set(path.slice(root.length + 1), found);
    else for (const name of readdirSync(Buffer.from(path, "latin1"), "latin1")) paths.push(`${path}/${name}`);
  }
  return { state: seen.join("\n"), newestMs, files };
}

/** Git has just found the files at `head` and nothing else; `before` is from before it looked. */
export function rememberClean(folder: string, head: string, before: Look | null): void {
  if (before !== null && isProvenClean(folder, head, before)) return;
  proofs.delete(folder);
  // What changed while git looked will be seen by its times, whenever they are asked for next.
  if (before === null || before.newestMs > Date.now() - coarseMs) return;
  proofs.set(folder, { head, state: before.state });
  keepNewest(proofs, proofsKept);
}

/** False: git has to be asked. */
export function isProvenClean(folder: string, head: string, look = lookAtFiles(folder)): boolean {
  const proof = proofs.get(folder);
  return proof?.head === head && look?.state === proof.state;
}
