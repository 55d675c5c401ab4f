import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findCheckout } from "./checkout.js";
import { adoptIndex, type Checkout, gitIn, ownIndex } from "./checkout-git.js";
import { parkCheckout } from "./parking.js";
import { asAuthor, type Identity } from "./repository.js";
import { readOr } from "./small-files.js";
import { shareBranch } from "./snapshot.js";
import { dropOperations, forgetAlignment, readChanges, unfinishedOperations, writeFilesTree } from "./status.js";

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
  const tree = await writeFilesTree(checkout, own, ownIndex(checkout));
  await forgetAlignment(checkout);
  const parents = [head, ...heads].flatMap((parent) => ["-p", parent]);
  const made = await gitIn(checkout, ["commit-tree", tree, ...parents, "-m", message], { env: asAuthor(identity) });
  const commit = made.stdout.toString().trim();
  await moveBranch(checkout, { commit, identity, message });
  return commit;
}

async function moveBranch(
  checkout: Checkout,
  { commit, identity, message }: { readonly commit: string; readonly identity: Identity; readonly message: string },
): Promise<void> {
  const { gitDir, branch } = checkout;
  if (branch !== null) await writeFile(join(gitDir, "HEAD"), `ref: refs/heads/${branch}\n`);
  await gitIn(checkout, ["update-ref", "-m", `commit: ${message.split("\n")[0] ?? ""}`, "HEAD", commit], {
    env: asAuthor(identity),
  });
  await dropOperations(checkout);
  await adoptIndex(checkout);
  await shareBranch(checkout, commit);
}
