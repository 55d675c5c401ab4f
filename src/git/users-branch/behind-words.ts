import { isSameFile } from "../../lib/files.js";
import { shellWord } from "../../lib/quoted.js";
import { landedRef } from "../landing/tip.js";
import { placesOf } from "./places.js";
import { named } from "./refusal.js";

/**
 * Why a branch has not followed, and what to run. The line is copied by somebody in the user's repository, who may have
 * another branch checked out there: what it names moves the target and nothing else.
 */
export interface Seat {
  /** The user's repository. */
  readonly repo: string;
  /** The folder in which the target is checked out; null: none. */
  readonly checkout: string | null;
}

export async function seatOf(repo: string, target: string): Promise<Seat> {
  return { repo, checkout: (await placesOf(repo, `refs/heads/${target}`)).checkout };
}

/** The branch was deleted: the landed line is all there is of it. */
export function branchGone(target: string): string {
  return `${target} is behind: the branch is gone, run \`git branch ${shellWord(target)} ${shellWord(landedRef(target))}\``;
}

/** Somebody may bring it back: then its files would not be those of a branch that has moved meanwhile. */
export function checkoutGone(target: string, path: string): string {
  const moved = "if it was moved, `git worktree repair` there";
  return `${target} is behind: ${path}, where it is checked out, is gone, run \`git worktree prune\` (${moved})`;
}

/** In the others the landed work would show as deleted, and staged. */
export function checkedOutTwice(target: string, folders: readonly string[]): string {
  const where = `${folders.length === 2 ? "two" : folders.length} worktrees (${folders.join(", ")})`;
  const next = "check out another branch in all but one, and the next landing or run brings it forward";
  return `${target} is behind: it is checked out in ${where}, ${next}`;
}

/** The line that brings it forward otherwise would write those files. */
export function goneThere(target: string, files: readonly string[]): string {
  const why = `uncommitted changes in ${named(files)} are in the way (deleted, or below a link)`;
  return `${target} is behind: ${why}, commit or undo that, and the next landing or run brings it forward`;
}

/** What is to be run must not do by the way what was refused here: without being told, git overwrites ignored files. */
export function behind(target: string, reason: string | null, seat: Seat): string {
  const landed = landedRef(target);
  const why = reason === null ? "" : `${reason}, `;
  const command =
    seat.checkout === null
      ? `git fetch . ${shellWord(`${landed}:refs/heads/${target}`)}`
      : `${gitIn(seat)} merge --ff-only --no-overwrite-ignore ${shellWord(landed)}`;
  return `${target} is behind: ${why}run \`${command}\``;
}

/** A merge needs files to be made in. */
export function diverged(target: string, seat: Seat): string {
  const first = seat.checkout === null ? `git switch ${shellWord(target)} && ` : "";
  const command = `${first}${gitIn(seat)} merge ${shellWord(landedRef(target))}`;
  return `${target} is behind: it has commits of its own, run \`${command}\``;
}

function gitIn({ repo, checkout }: Seat): string {
  const isHere = checkout === null || checkout === repo || isSameFile(checkout, repo);
  return isHere ? "git" : `git -C ${shellWord(checkout)}`;
}
