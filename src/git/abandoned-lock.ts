import { realpathSync, unlinkSync } from "node:fs";
import { join, normalize } from "node:path";
import { statsOf } from "../lib/files.js";
import { withLock } from "../lib/lock.js";
import { mayHaveWorkedIn } from "../lib/process/table.js";
import { mirrorOf } from "./mirror/mirror-damage.js";

/**
 * A git that was killed leaves its lock, and then nobody can change what it locks. In the mirror only our own git commands
 * change anything, and they stand there: a lock is nobody's when no git is there that is as old as the lock. In every other
 * repository, the user's above all, it stays here, however old it looks.
 */
export async function dropAbandonedLock(named: string): Promise<boolean> {
  const lock = normalize(named);
  const mirror = mirrorOf(lock);
  if (mirror === null || ageOf(lock) < oldEnoughMs) return false;
  // Of two who find it abandoned, the second must not remove what somebody has locked since.
  return await withLock(join(mirror, "ratchet", "unlocking"), async () => {
    const madeMs = statsOf(lock)?.mtimeMs;
    if (madeMs === undefined) return true;
    if (ageOf(lock) < oldEnoughMs || mayHaveWorkedIn(realpathSync(mirror), { program: "git", atMs: madeMs }))
      return false;
    unlinkSync(lock);
    tell(`${lock} was left by a git that is gone, and is removed`);
    return true;
  });
}

let tell = (_text: string): void => undefined;

/** Who hears of it, in one line each. */
export function tellOfLocks(listener: (text: string) => void): void {
  tell = listener;
}

/** Who stands elsewhere, such as a person with `git --git-dir`, is not seen, and done with it by then. */
const oldEnoughMs = 10_000;

function ageOf(lock: string): number {
  return Date.now() - (statsOf(lock)?.mtimeMs ?? 0);
}
