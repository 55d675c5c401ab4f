import { Refusal } from "../../lib/errors.js";
import { safeName } from "../../lib/home.js";
import { hasCheckout, readCheckout } from "../checkout/checkout.js";
import { baseRef, hasCommit, type Mirror, readRef, readRefs, updateRefs } from "../mirror/mirror-refs.js";
import { removeWorktree } from "../worktree/worktree.js";
import { noteGivenUp, type Parked, parkedRefs, settledRefs } from "./parking.js";
import { finishParking } from "./restore.js";

interface Left {
  readonly path: string;
  readonly issue: string;
  /** Where its work began, as its record says: the mirror may not know it. */
  readonly base: string | null;
  /** What somebody has of it already, if anything. */
  readonly landed?: string | null;
}

/**
 * Puts aside whatever an issue has left: its files and commits, and those of a branch that has no worktree. Until
 * `settleAll` its next worktree has them again, so nothing is given up by it. Returns what is parked now.
 */
export async function parkAll(mirror: Mirror, left: Left): Promise<readonly string[]> {
  const parked = [await parkThere(mirror, left), await finishParking(mirror, left), await parkBranch(mirror, left)];
  return parked.flatMap((one) => (one === null ? [] : [one.ref]));
}

/** What is put aside of it no life takes up by itself any more. Nothing is lost, and repeating it is harmless. */
export async function settleAll(mirror: Mirror, issue: string): Promise<void> {
  const all = await readRefs(mirror.path, [`${parkedRefs}/${safeName(issue)}`]);
  const settled = [...all].map(([ref, to]) => ({ ref: ref.replace(parkedRefs, settledRefs), to }));
  if (settled.length > 0) await updateRefs(mirror.path, settled);
  noteGivenUp(mirror, [...all.values()]);
}

function branchOf({ issue }: Left): string {
  return `ratchet/${safeName(issue)}`;
}

async function parkThere(mirror: Mirror, left: Left): Promise<Parked | null> {
  const { path, issue, landed = null } = left;
  if (!(await hasCheckout(mirror, path))) return null;
  const { branch } = await readCheckout(mirror, path);
  return (await removeWorktree(mirror, { path, issue, branch: branch ?? branchOf(left), landed })).parked;
}

/** Its worktree is gone, or was on another branch. */
async function parkBranch(mirror: Mirror, left: Left): Promise<Parked | null> {
  const { path, issue, landed = null } = left;
  const branch = branchOf(left);
  if ((await readRef(mirror.path, `refs/heads/${branch}`)) === null) return null;
  const base = (await readRef(mirror.path, baseRef(branch))) ?? left.base;
  if (base === null || !(await hasCommit(mirror.path, base))) {
    throw new Refusal(`where ${branch} began is not known, so it cannot be put aside`, {
      hint: `ratchet diff ${issue} shows what is on it`,
    });
  }
  return (await removeWorktree(mirror, { path, branch, issue, base, landed })).parked;
}
