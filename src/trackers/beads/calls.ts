import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../../lib/errors.js";
import { makeFolder, namesIn } from "../../lib/files.js";
import { reapLeftovers } from "../../lib/process/stop.js";
import { isAlive, type ProcessIdentity, selfIdentity } from "../../lib/process-identity.js";

/**
 * A program that is called is in a group of its own, and so it would go on when our process ends: with it, it is ended.
 * One that is killed cannot do that. Each call is noted before it begins, with what is in the environment of the program
 * and of all that it starts, and whoever opens the tracker next ends those whose process is gone: what hangs may hold what
 * everybody else waits for.
 */
interface Note {
  readonly owner: ProcessIdentity;
  readonly cookie: string;
}

const living = new Set<number>();
const endLiving = (): void => {
  for (const pid of living) endGroup(pid, "SIGKILL");
};

/** Returns what to do when the program has ended. */
export function endWithUs(pid: number | undefined): () => void {
  if (pid === undefined) return () => undefined;
  if (living.size === 0) process.once("exit", endLiving);
  living.add(pid);
  return () => {
    living.delete(pid);
    if (living.size === 0) process.off("exit", endLiving);
  };
}

/** `folder`: where this machine's calls are noted; null: nowhere. `env` is for the program. */
export function noteCall(folder: string | null): { readonly env: NodeJS.ProcessEnv; readonly forget: () => void } {
  if (folder === null) return { env: {}, forget: () => undefined };
  const cookie = randomBytes(16).toString("hex");
  const file = join(folder, nameOf({ owner: selfIdentity(), cookie }));
  try {
    makeFolder(folder);
    writeFileSync(file, "");
  } catch (error) {
    // Nothing can be written there, as on a full disk: only whoever comes after a kill misses it.
    if (codeOf(error) === null) throw error;
  }
  return { env: { RATCHET_TURN: cookie }, forget: () => rmSync(file, { force: true }) };
}

/** Ends the calls that were noted there by processes that are gone. */
export async function endLeftCalls(folder: string): Promise<void> {
  for (const name of namesIn(folder)) {
    const left = parseName(name);
    if (left === null || isAlive(left.owner)) continue;
    await reapLeftovers(left);
    rmSync(join(folder, name), { force: true });
  }
}

/** All of it is in the name of the file, so that a note is there or not, and never half. */
function nameOf({ owner, cookie }: Note): string {
  return [cookie, owner.pid, owner.start, owner.boot].map(encodeURIComponent).join("_");
}

function parseName(name: string): Note | null {
  const [cookie, pid, start, boot, more] = name.split("_").map(decodeURIComponent);
  if (cookie === undefined || start === undefined || boot === undefined || more !== undefined) return null;
  return { owner: { pid: Number(pid), start, boot }, cookie };
}

export function endGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (codeOf(error) !== "ESRCH") throw error;
  }
}
