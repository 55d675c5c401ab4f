import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findCheckout } from "../checkout/checkout.js";
import { adoptIndex, type Checkout, gitIn } from "../checkout/checkout-git.js";
import { resolveHead } from "../head.js";
import { parkCheckout } from "../parking/parking.js";
import { asAuthor, type Identity } from "../repository.js";
import { linkStatsOf, readOr } from "../small-files.js";
import { shareBranch } from "./snapshot.js";
import { dropOperations, readChanges, takeFiles, unfinishedOperations } from "./status.js";

export interface Committed {
  /** null: there was nothing to commit. */
  readonly commit: string | null;
  /** Where that is which the branch's end has not: uncommitted files, or commits of what was begun. */
  readonly parked?: string;
}

/**
 * Commits every uncommitted file on the branch. A merge that was begun becomes a merge commit; any other
 * unfinished operation is parked first and then let go, and so is one that has left conflicts in files: the branch goes on
 * where it was, or where what was begun has come to, if that has all of it. Nested repositories stay uncommitted.
 */
export async function commitAll(path: string, message: string, identity: Identity): Promise<Committed> {
  const checkout = await findCheckout(path);
  const { head } = checkout;
  const changes = await readChanges(checkout, head);
  const started = await unfinishedOperations(checkout);
  const own = changes.filter(({ kind }) => kind !== "nested");
  if (own.length === 0 && started.length === 0) return { commit: null };
  const isTorn = await hasConflicts(checkout);
  const merging = !isTorn && started.includes("a merge") && started.length === 1;
  const isOpen = isTorn || (started.length > 0 && !merging);
  const parked = isOpen ? await parkCheckout(checkout) : null;
  const begun = isOpen ? await begunAt(checkout, head) : head;
  if (isOpen && (isTorn || own.length === 0 || begun !== head)) {
    // Known to our index, what is there now goes with it: all of it is parked.
    await takeFiles(checkout, { head, changes: own });
    await goBack(checkout, { commit: begun, identity });
    const isWhole = own.length === 0 && (await isAncestorIn(checkout, head, begun));
    return { commit: null, ...(parked && !isWhole ? { parked: parked.ref } : {}) };
  }
  const heads = merging ? readOr(join(checkout.gitDir, "MERGE_HEAD")).split("\n").filter(Boolean) : [];
  const tree = await takeFiles(checkout, { head, changes: own });
  const parents = [head, ...heads].flatMap((parent) => ["-p", parent]);
  const made = await gitIn(checkout, ["commit-tree", tree, ...parents, "-m", message], { env: asAuthor(identity) });
  const commit = made.stdout.toString().trim();
  await moveBranch(checkout, { commit, identity, why: `commit: ${message.split("\n")[0] ?? ""}` });
  return { commit };
}

/** Files of which git knows that they are in conflict, and that say so still: whoever has resolved them has taken that out. */
async function hasConflicts(checkout: Checkout): Promise<boolean> {
  const { stdout } = await gitIn(checkout, ["ls-files", "-u", "-z"]);
  const entries = stdout.toString("latin1").split("\0").filter(Boolean);
  const names = new Set(entries.map((entry) => entry.slice(entry.indexOf("\t") + 1)));
  return [...names].some((name) => {
    const file = Buffer.concat([Buffer.from(`${checkout.path}/`), Buffer.from(name, "latin1")]);
    return linkStatsOf(file)?.isFile() === true && isMarked.test(readFileSync(file, "latin1"));
  });
}

const isMarked = /^<{7,} [\s\S]*^>{7,} /m;

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
