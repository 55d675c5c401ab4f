import { accessSync, constants, existsSync, mkdirSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";

const memory = "/dev/shm";
const leastFree = 4 * 2 ** 30;

/**
 * Tests make and remove some hundred thousand files, so their temporary folder is in memory where there is room for it: a
 * kill -9 is as hard there, and nobody pulls the plug. `TMPDIR=/var/tmp npm test` has them on a disk.
 */
export function setup(): () => void {
  if (process.env.TMPDIR !== undefined || !hasRoom()) return () => undefined;
  sweep();
  const folder = join(memory, `ratchet-tests-${process.pid}`);
  mkdirSync(folder, { mode: 0o700 });
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

function hasRoom(): boolean {
  try {
    accessSync(memory, constants.W_OK);
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize >= leastFree;
  } catch {
    // There is none: the system's own temporary folder does as well.
    return false;
  }
}

/** What tests that were killed have left there. */
function sweep(): void {
  for (const name of readdirSync(memory)) {
    const pid = /^ratchet-tests-(\d+)$/.exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) rmSync(join(memory, name), { recursive: true, force: true });
  }
}
