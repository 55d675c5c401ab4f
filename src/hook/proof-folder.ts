import { lstatSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isMissing, namesIn } from "../lib/files.js";
import { lockHolder, withLock } from "../lib/lock.js";
import { stopProgram } from "../lib/process/stop.js";

/**
 * A proof has a folder of its own, which goes with it. One that was killed leaves it, perhaps with a program at work in
 * it: the next proof, which is due as long as nothing is proven, ends and removes that.
 */
const prefix = "ratchet-guard-proof-";
/** In the folder: held by whoever is at it. */
const owner = "owner";
/** In the folder: where the program was started from. */
export const turnFolder = "turn";
/** Without an owner it is one that is being made or removed, or was left in that moment. */
const longAgoMs = 3_600_000;

export async function inProofFolder<T>(work: (root: string) => Promise<T>): Promise<T> {
  await removeLeft();
  const root = realpathSync(mkdtempSync(join(tmpdir(), prefix)));
  try {
    return await withLock(join(root, owner), () => work(root));
  } finally {
    removeFolder(root);
  }
}

async function removeLeft(): Promise<void> {
  const names = namesIn(tmpdir()).filter((name) => name.startsWith(prefix));
  for (const root of names.map((name) => join(tmpdir(), name)).filter(isLeft)) {
    await stopProgram(join(root, turnFolder), { first: "SIGTERM", graceMs: 0, why: null });
    removeFolder(root);
  }
}

/** Others may write to the folder above: what is not ours is nobody's leftover. */
function isLeft(root: string): boolean {
  const found = lstatSync(root, { throwIfNoEntry: false });
  if (!found?.isDirectory() || found.uid !== (process.getuid?.() ?? found.uid)) return false;
  const lock = join(root, owner);
  return isMissing(lock) ? Date.now() - found.mtimeMs > longAgoMs : lockHolder(lock) === null;
}

function removeFolder(root: string): void {
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
}
