import { existsSync, mkdirSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findCheckout, unmarkSetUp } from "../checkout/checkout.js";
import { type Checkout, gitIn } from "../checkout/checkout-git.js";
import { resolveHead } from "../head.js";
import { parkCheckout } from "../parking/parking.js";
import { lookAtFiles, rememberClean } from "./clean-proof.js";
import { findIndexChange, putIndexBack } from "./kept-index.js";
import { dropOperations, readChanges, resetFiles, unfinishedOperations } from "./status.js";

/**
 * Puts back what somebody changed who may only look, and says what that was: tracked or unignored files, and with a commit
 * HEAD and the index that was kept before. Without one HEAD may have moved, and the index with it.
 */
export async function discardChanges(
  path: string,
  commit: string | null = null,
  first?: BeforeDiscard,
): Promise<readonly string[]> {
  const checkout = await checkoutAt(path);
  if (commit === null) return await discardAt(checkout, resolveHead(checkout.gitDir) ?? checkout.baseSha, first);
  const index = await findIndexChange(checkout);
  const files = await discardAt(checkout, commit, first);
  if (files.length === 0 && index === null) return [];
  const found = files.length === 0 && index !== null ? [index] : files;
  if (files.length === 0) first?.(found);
  if ((await findIndexChange(checkout)) !== null) putIndexBack(checkout);
  return found;
}

/** The files at exactly this commit, clean but for ignored ones; what had to go is returned, and commits that would be lost are parked first. */
export async function putAt(path: string, commit: string, first?: BeforeDiscard): Promise<readonly string[]> {
  return await discardAt(await checkoutAt(path), commit, first);
}

/** Whoever removed the whole folder changed every file in it: they are put back like any other. */
async function checkoutAt(path: string): Promise<Checkout> {
  const checkout = await findCheckout(path);
  if (existsSync(checkout.path)) return checkout;
  unmarkSetUp(checkout);
  mkdirSync(checkout.path, { recursive: true, mode: 0o700 });
  return await findCheckout(path);
}

/** Hears what has to go before it goes. */
export type BeforeDiscard = (paths: readonly string[]) => void;

export async function discardAt(checkout: Checkout, commit: string, first?: BeforeDiscard): Promise<readonly string[]> {
  const head = resolveHead(checkout.gitDir);
  const moved = head !== commit;
  const started = await unfinishedOperations(checkout);
  const before = lookAtFiles(checkout.path);
  const changes = moved && checkout.branch === null ? [] : await readChanges(checkout, commit, before);
  if (!moved && started.length === 0 && changes.length === 0) {
    rememberClean(checkout.path, commit, before);
    return [];
  }
  // One that HEAD has and our index does not is told of twice: as gone, and as new.
  const paths = [...new Set(changes.map(({ path }) => path.toString("utf8")))];
  const found = moved && checkout.branch !== null ? [`HEAD (${head ?? "none"})`, ...paths] : paths;
  first?.(found);
  if (moved && checkout.branch !== null) await parkCheckout(checkout);
  if (moved) await moveHead(checkout, commit);
  await dropOperations(checkout);
  await resetFiles(checkout, commit);
  return found;
}

async function moveHead(checkout: Checkout, commit: string): Promise<void> {
  const { gitDir, branch } = checkout;
  if (branch === null) return await writeFile(join(gitDir, "HEAD"), `${commit}\n`);
  await writeFile(join(gitDir, "HEAD"), `ref: refs/heads/${branch}\n`);
  await rm(join(gitDir, "index"), { force: true });
  await gitIn(checkout, ["update-ref", "-m", "ratchet: back to what was judged", "HEAD", commit]);
}
