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

/**
 * Commits every uncommitted file on the branch; null when there is none. A merge that was begun becomes a
 * merge commit; any other unfinished operation is parked first and then let go. Nested repositories stay uncommitted.
 */
export async function commitAll(path: string, message: string, identity: Identity): Promise<string | null> {
  const checkout = await findCheckout(path);
  const { head } = checkout;
  const changes = await readChanges(checkout, head);
  const started = await unfinishedOperations(checkout);
  const merging = started.includes("a merge") && started.length === 1;
  const heads = merging ? readOr(join(checkout.gitDir, "MERGE_HEAD")).split("\n").filter(Boolean) : [];
  const own = changes.filter(({ kind }) => kind !== "nested");
  if (own.length === 0 && started.length === 0) return null;
  if (started.length > 0 && !merging) await parkCheckout(checkout);
  if (own.length === 0 && !merging) return await goBack(checkout, { head, identity });
  const tree = await takeFiles(checkout, { head, changes: own });
  const parents = [head, ...heads].flatMap((parent) => ["-p", parent]);
  const made = await gitIn(checkout, ["commit-tree", tree, ...parents, "-m", message], { env: asAuthor(identity) });
  const commit = made.stdout.toString().trim();
  await moveBranch(checkout, { commit, identity, why: `commit: ${message.split("\n")[0] ?? ""}` });
  return commit;
}

/** A bisect and a rebase put HEAD behind the branch that they were begun on: all of that counts again. */
async function goBack(
  checkout: Checkout,
  { head, identity }: { readonly head: string; readonly identity: Identity },
): Promise<null> {
  const begun = checkout.branch && resolveHead(checkout.gitDir, `refs/heads/${checkout.branch}`);
  const asked = begun && (await gitIn(checkout, ["merge-base", "--is-ancestor", head, begun], { okCodes: [1, 128] }));
  const commit = begun && asked && asked.code === 0 ? begun : head;
  await forgetAlignment(checkout);
  await gitIn(checkout, ["read-tree", "--reset", "-u", commit], { own: true });
  await moveBranch(checkout, { commit, identity, why: "ratchet: what was begun is let go" });
  return null;
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
