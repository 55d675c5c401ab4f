import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../../lib/errors.js";
import { makeFolder, namesIn } from "../../lib/files.js";
import { identityOf, isAlive, type ProcessIdentity, selfIdentity } from "../../lib/process-identity.js";

/**
 * A program that is called is in a group of its own, and so it would go on when our process ends: with it, it is ended.
 * One that is killed cannot do that. Each call is noted while it runs, and whoever opens the tracker next ends those
 * whose process is gone: what hangs may hold what everybody else waits for.
 */
interface Note {
  readonly owner: ProcessIdentity;
  readonly call: ProcessIdentity;
}

const living = new Set<number>();
const endLiving = (): void => {
  for (const pid of living) endGroup(pid, "SIGKILL");
};

/** `folder`: where this machine's calls are noted; null: nowhere. Returns what to do when the program has ended. */
export function endWithUs(pid: number | undefined, folder: string | null): () => void {
  if (pid === undefined) return () => undefined;
  if (living.size === 0) process.once("exit", endLiving);
  living.add(pid);
  const forget = note(pid, folder);
  return () => {
    living.delete(pid);
    if (living.size === 0) process.off("exit", endLiving);
    forget();
  };
}

function note(pid: number, folder: string | null): () => void {
  const call = folder === null ? null : identityOf(pid);
  if (folder === null || call === null) return () => undefined;
  const file = join(folder, nameOf({ owner: selfIdentity(), call }));
  try {
    makeFolder(folder);
    writeFileSync(file, "");
  } catch (error) {
    // Nothing can be written there, as on a full disk. The program runs by now: only whoever comes after a kill misses it.
    if (codeOf(error) === null) throw error;
  }
  return () => rmSync(file, { force: true });
}

/** Ends the calls that were noted there by processes that are gone. */
export function endLeftCalls(folder: string): void {
  for (const name of namesIn(folder)) {
    const left = parseName(name);
    if (left === null || isAlive(left.owner)) continue;
    if (isAlive(left.call)) endGroup(left.call.pid, "SIGKILL");
    rmSync(join(folder, name), { force: true });
  }
}

/** All of it is in the name of the file, so that a note is there or not, and never half. */
function nameOf({ owner, call }: Note): string {
  return [call.pid, call.start, owner.pid, owner.start, owner.boot].map(encodeURIComponent).join("_");
}

function parseName(name: string): Note | null {
  const [pid, start, ownerPid, ownerStart, boot] = name.split("_").map(decodeURIComponent);
  if (start === undefined || ownerStart === undefined || boot === undefined) return null;
  return {
    owner: { pid: Number(ownerPid), start: ownerStart, boot },
    call: { pid: Number(pid), start, boot },
  };
}

export function endGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (codeOf(error) !== "ESRCH") throw error;
  }
}
