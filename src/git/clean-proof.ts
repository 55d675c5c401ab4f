import { lstatSync, readdirSync } from "node:fs";
import { codeOf } from "../lib/errors.js";

/**
 * Proof that nothing in a small worktree has changed since git found it clean, without asking git again: every file and
 * folder still has the inode, mode, size and times that it had before git looked. The change time cannot be set by any
 * program. It has a coarse clock, so whatever changed within the moment before a look proves nothing. Whoever asks in vain
 * asks git.
 */
const entriesAtMost = 300;
const coarseMs = 50;

interface CleanProof {
  readonly head: string;
  readonly state: string;
}

const proofs = new Map<string, CleanProof>();
const proofsKept = 100;

/** What the folder looks like now; null: it is too large, cannot be read, or something in it changed just now. */
export function lookAtFiles(folder: string): string | null {
  try {
    return walk(Buffer.from(folder).toString("latin1"));
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EACCES", "EPERM"].includes(codeOf(error) ?? "")) return null;
    throw error;
  }
}

/** Paths are bytes, one a character. */
function walk(root: string): string | null {
  const youngest = BigInt(Date.now() - coarseMs) * 1_000_000n;
  const seen: string[] = [];
  const paths = [root];
  for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
    const found = lstatSync(Buffer.from(path, "latin1"), { bigint: true });
    if (found.ctimeNs > youngest || seen.length >= entriesAtMost) return null;
    const { ino, mode, size, mtimeNs, ctimeNs } = found;
    seen.push(`${path} ${ino} ${mode} ${size} ${mtimeNs} ${ctimeNs}`);
    if (!found.isDirectory()) continue;
    for (const name of readdirSync(Buffer.from(path, "latin1"), "latin1")) paths.push(`${path}/${name}`);
  }
  return seen.join("\n");
}

/** Git found the files at `head` and nothing else, and `state` is what they looked like before. */
export function rememberClean(folder: string, head: string, state: string | null): void {
  proofs.delete(folder);
  if (state === null) return;
  proofs.set(folder, { head, state });
  for (const oldest of proofs.keys()) {
    if (proofs.size <= proofsKept) return;
    proofs.delete(oldest);
  }
}

/** False: git has to be asked. */
export function isProvenClean(folder: string, head: string): boolean {
  const proof = proofs.get(folder);
  return proof?.head === head && lookAtFiles(folder) === proof.state;
}
