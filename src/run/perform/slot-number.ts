import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../../lib/errors.js";
import { isMissing } from "../../lib/files.js";
import { keepNewest } from "../../lib/keep-newest.js";

/**
 * RATCHET_SLOT: a small number that a worktree keeps for itself, for ports and databases. Taken by creating a file of
 * that number, so that two processes never give out the same one; given back when the worktree is removed.
 */
export function slotNumber(root: string, worktree: string): number {
  const folder = join(root, "slots");
  const own = ownFile(folder, worktree);
  if (own !== null) return Number(own);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Seen once, because a refusal costs many times a look; who was quicker meanwhile is told by the file itself.
  const taken = new Set(readdirSync(folder));
  for (let number = 0; ; number++) {
    if (taken.has(String(number))) continue;
    try {
      writeFileSync(join(folder, String(number)), worktree, { flag: "wx", mode: 0o600 });
      found.set(worktree, String(number));
      keepNewest(found, 1000);
      return number;
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
    }
  }
}

export function giveBackSlotNumber(root: string, worktree: string): void {
  const folder = join(root, "slots");
  const own = ownFile(folder, worktree);
  if (own !== null) rmSync(join(folder, own), { force: true });
}

/** Where a worktree's number was last: others may have given it back since, so the file has the last word. */
const found = new Map<string, string>();

function ownFile(folder: string, worktree: string): string | null {
  if (isMissing(folder)) return null;
  const isOwn = (name: string) => ownerOf(join(folder, name)) === worktree;
  const before = found.get(worktree);
  return before !== undefined && isOwn(before) ? before : (readdirSync(folder).find(isOwn) ?? null);
}

/** null: given back meanwhile. */
function ownerOf(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}
