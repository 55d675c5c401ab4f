import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findCheckout } from "./checkout.js";
import { adoptIndex, type Checkout, gitIn } from "./checkout-git.js";
import { resolveHead } from "./head.js";
import { parkCheckout } from "./parking.js";
import { asAuthor, type Identity } from "./repository.js";
import { readOr } from "./small-files.js";
import { shareBranch } from "./snapshot.js";
import { dropOperations, forgetAlignment, readChanges, takeFiles, unfinishedOperations } from "./status.js";

export interface Committed {
  /** null: there was nothing to commit. */
  readonly commit: string | null;
  /** Where uncommitted files are that belong to no commit of the branch's end. */
  readonly parked?: string;
}

/**
 * Commits every uncommitted file on the branch. A merge that was begun becomes a merge commit; any other
 * unfinished operation is parked first and then let go. Where it had put HEAD behind its branch, the files are of that
 * place: they stay parked, and the branch keeps what it has. Nested repositories stay uncommitted.
 */
export async function commitAll(path: string, message: string, identity: Identity): Promise<Committed> {
  const checkout = await findCheckout(path);
  const { head } = checkout;
  const changes = await readChanges(checkout, head);
  const started = await unfinishedOperations(checkout);
  const merging = started.includes("a merge") && started.length === 1;
  const heads = merging ? readOr(join(checkout.gitDir, "MERGE_HEAD")).split("\n").filter(Boolean) : [];
  const own = changes.filter(({ kind }) => kind !== "nested");
  if (own.length === 0 && started.length === 0) return { commit: null };
  const parked = started.length > 0 && !merging ? await parkCheckout(checkout) : null;
  const begun = merging ? head : await begunAt(checkout, head);
  if (!merging && started.length > 0 && (own.length === 0 || begun !== head)) {
    await goBack(checkout, { commit: begun, identity });
    return { commit: null, ...(own.length > 0 && parked ? { parked: parked.ref } : {}) };
  }
  const tree = await takeFiles(checkout, { head, changes: own });
  const parents = [head, ...heads].flatMap((parent) => ["-p", parent]);
  const made = await gitIn(checkout, ["commit-tree", tree, ...parents, "-m", message], { env: asAuthor(identity) });
  const commit = made.stdout.toString().trim();
  await moveBranch(checkout, { commit, identity, why: `commit: ${message.split("\n")[0] ?? ""}` });
  return { commit };
}

/** A bisect and a rebase put HEAD behind the branch that they were begun on: all of that counts. */
async function begunAt(checkout: Checkout, head: string): Promise<string> {
  const begun = checkout.branch && resolveHead(checkout.gitDir, `refs/heads/${checkout.branch}`);
  if (!begun || begun === head) return head;
  const asked = await gitIn(checkout, ["merge-base", "--is-ancestor", head, begun], { okCodes: [1, 128] });
  return asked.code === 0 ? begun : head;
}

async function goBack(
  checkout: Checkout,
  { commit, identity }: { readonly commit: string; readonly identity: Identity },
): Promise<void> {
  await forgetAlignment(checkout);
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
