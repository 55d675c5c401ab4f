import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../../lib/errors.js";

/**
 * RATCHET_SLOT: a small number that a worktree keeps for itself, for ports and databases. Taken by creating a file of
 * that number, so that two processes never give out the same one; given back when the worktree is removed.
 */
export function slotNumber(root: string, worktree: string): number {
  const folder = join(root, "slots");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const taken = readdirSync(folder);
  const own = taken.find((name) => readFileSync(join(folder, name), "utf8") === worktree);
  if (own !== undefined) return Number(own);
  for (let number = 0; ; number++) {
    try {
      writeFileSync(join(folder, String(number)), worktree, { flag: "wx", mode: 0o600 });
      return number;
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
    }
  }
}

export function giveBackSlotNumber(root: string, worktree: string): void {
  const folder = join(root, "slots");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(folder)) {
    if (readFileSync(join(folder, name), "utf8") === worktree) rmSync(join(folder, name));
  }
}
