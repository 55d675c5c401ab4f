import { realpathSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { exists } from "../../lib/files.js";
import { commandLinesIn } from "../../lib/process/table.js";
import { GitError } from "../git.js";
import { type Mirror, updateRefs } from "../mirror/mirror-refs.js";
import { commonDirOf } from "../repository.js";
import { begunFile, forgetBegun, noteMove, noteTry } from "./begun-merge.js";
import { checkoutOf, dropLocks, indexFolders, lockIndexes } from "./index-lock.js";
import { isCheckedOut } from "./places.js";

/**
 * Moves a branch that is checked out nowhere. Somebody may be switching to it in that moment: their git has read where it
 * is, writes the files of that, and HEAD last of all. Had the branch moved meanwhile, their next commit would take out what
 * has landed. So nobody writes an index while it moves, one that had written its own before is waited for, and where the branch
 * is checked out then it is put back, and brought forward there.
 */
interface Move {
  readonly branch: string;
  readonly from: string;
  readonly to: string;
}

/** false: it was not where it had to be. */
export async function moveUnseen(mirror: Mirror, target: string, move: Move): Promise<boolean> {
  const repo = mirror.repoPath;
  const folders = indexFolders(await commonDirOf(repo));
  const checkouts = await placesIn([repo, ...folders.map(checkoutOf)]);
  if (isSwitching(checkouts)) throw lockedOut("somebody switches to another branch there");
  const note = begunFile(mirror, target);
  if (await exists(note)) throw lockedOut("another ratchet brings it forward");
  const text = noteTry(note, move);
  let isMoved = false;
  try {
    lockIndexes(folders, text);
    if (await isCheckedOut(repo, move.branch)) throw lockedOut(checkedOut);
    isMoved = await updateRefs(repo, [{ ref: move.branch, to: move.to, from: move.from }]);
    if (isMoved && !((await areSettled(checkouts)) && !(await isCheckedOut(repo, move.branch)))) {
      isMoved = !(await updateRefs(repo, [{ ref: move.branch, to: move.from, from: move.to }]));
      if (!isMoved) throw lockedOut(checkedOut);
    }
    return isMoved;
  } finally {
    if (isMoved) noteMove(note, move.to);
    else forgetBegun(note);
    dropLocks(folders, text);
  }
}

const checkedOut = "it was checked out at the same moment";

/** It is looked at again in a moment. */
function lockedOut(why: string): GitError {
  return new GitError(why, { code: 1, stderr: "" }, { retryable: true });
}

async function placesIn(folders: readonly string[]): Promise<readonly string[]> {
  const there = [];
  for (const folder of new Set(folders)) if (await exists(folder)) there.push(realpathSync(folder));
  return there;
}

function isSwitching(checkouts: readonly string[]): boolean | null {
  const lines = commandLinesIn(checkouts);
  return lines?.some((line) => /(^|\/)git\0.*\b(switch|checkout)\0/s.test(line)) ?? null;
}

const pauseMs = 5;
const patienceMs = 1000;
/** For where nobody can tell: longer than git takes from the index to HEAD. */
const unseenMs = 50;

async function areSettled(checkouts: readonly string[]): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += pauseMs) {
    const is = isSwitching(checkouts);
    if (is === null) await delay(unseenMs);
    if (!is) return true;
    await delay(pauseMs);
  }
  return false;
}
