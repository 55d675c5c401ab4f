import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findCheckout } from "../checkout/checkout.js";
import { adoptIndex, type Checkout, gitIn } from "../checkout/checkout-git.js";
import { resolveHead } from "../head.js";
import { parkCheckout } from "../parking/parking.js";
import { asAuthor, type Identity } from "../repository.js";
import { readOr } from "../small-files.js";
import { hasConflicts } from "./conflicts.js";
import { shareBranch } from "./snapshot.js";
import {
  type Change,
  dropOperations,
  readChanges,
  removeUntracked,
  takeFiles,
  unfinishedOperations,
} from "./status.js";

export interface Committed {
  /** null: there was nothing to commit. */
  readonly commit: string | null;
  /** Where that is which the branch's end has not: uncommitted files, or commits of what was begun. */
  readonly parked?: string;
}

/**
 * Commits every uncommitted file on the branch. A merge that was begun becomes a merge commit; any other
 * unfinished operation is parked first and then let go, and so is one that has left conflicts: the branch goes on
 * where it was, or where what was begun has come to, if that has all of it. Nested repositories are parked, too.
 */
export async function commitAll(path: string, message: string, identity: Identity): Promise<Committed> {
  const checkout = await findCheckout(path);
  const { head } = checkout;
  const changes = await readChanges(checkout, head);
  const started = await unfinishedOperations(checkout);
  const hasNested = changes.some(({ kind }) => kind === "nested");
  const own = changes.filter(({ kind }) => kind !== "nested" && kind !== "link");
  if (own.length === 0 && started.length === 0 && !hasNested) return { commit: null };
  const isTorn = await hasConflicts(checkout);
  const merging = !isTorn && started.includes("a merge") && started.length === 1;
  const isOpen = isTorn || (started.length > 0 && !merging);
  const parked = isOpen || hasNested ? await parkCheckout(checkout) : null;
  const aside = parked === null ? {} : { parked: parked.ref };
  const begun = isOpen ? await begunAt(checkout, head) : head;
  if (isOpen && (isTorn || own.length === 0 || begun !== head)) {
    // Known to our index, what is there now goes with it: all of it is parked.
    await takeFiles(checkout, { head, changes: own });
    await goBack(checkout, { commit: begun, identity });
    const isWhole = own.length === 0 && !isTorn && !hasNested && (await isAncestorIn(checkout, head, begun));
    return { commit: null, ...(isWhole ? {} : aside) };
  }
  const commit =
    own.length === 0 && !merging ? null : await commitFiles(checkout, { head, own, merging, message, identity });
  if (hasNested) await removeUntracked(checkout);
  return { commit, ...aside };
}

interface Commit {
  readonly head: string;
  readonly own: readonly Change[];
  readonly merging: boolean;
  readonly message: string;
  readonly identity: Identity;
}

async function commitFiles(checkout: Checkout, { head, own, merging, message, identity }: Commit): Promise<string> {
  const heads = merging ? readOr(join(checkout.gitDir, "MERGE_HEAD")).split("\n").filter(Boolean) : [];
  const tree = await takeFiles(checkout, { head, changes: own });
  const parents = [head, ...heads].flatMap((parent) => ["-p", parent]);
  const made = await gitIn(checkout, ["commit-tree", tree, ...parents, "-m", message], { env: asAuthor(identity) });
  const commit = made.stdout.toString().trim();
  await moveBranch(checkout, { commit, identity, why: `commit: ${message.split("\n")[0] ?? ""}` });
  return commit;
}

/** A bisect or a rebase has put HEAD somewhere else: what was committed on its branch before counts, if HEAD has not all of it. */
async function begunAt(checkout: Checkout, head: string): Promise<string> {
  const begun = checkout.branch && resolveHead(checkout.gitDir, `refs/heads/${checkout.branch}`);
  return !begun || (await isAncestorIn(checkout, begun, head)) ? head : begun;
}

async function isAncestorIn(checkout: Checkout, older: string, newer: string): Promise<boolean> {
  if (older === newer) return true;
  const asked = await gitIn(checkout, ["merge-base", "--is-ancestor", older, newer], { okCodes: [1, 128] });
  return asked.code === 0;
}

async function goBack(
  checkout: Checkout,
  { commit, identity }: { readonly commit: string; readonly identity: Identity },
): Promise<void> {
  await gitIn(checkout, ["read-tree", "--reset", "-u", commit], { own: true });
  await removeUntracked(checkout);
  await moveBranch(checkout, { commit, identity, why: "ratchet: what was begun is let go" });
}

async function moveBranch(
  checkout: Checkout,
  { commit, identity, why }: { readonly commit: string; readonly identity: Identity; readonly why: string },
): Promise<void> {
  const { gitDir, branch } = checkout;
  if (branch !== null) await writeFile(join(gitDir, "HEAD"), `ref: refs/heads/${branch}\n`);
  await gitIn(checkout, ["update-ref", "-m", why, "HEAD", commit], { env: asAuthor(identity) });
  await dropOperations(checkout);
  await adoptIndex(checkout);
  await shareBranch(checkout, commit);
}
