import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { exists } from "../lib/files.js";
import { reapLeftovers } from "../lib/process/stop.js";
import { setMark } from "./checkout-files.js";
import { type Checkout, cookieOf } from "./checkout-git.js";
import type { Mirror } from "./mirror-refs.js";
import { giveToPool } from "./pool.js";
import { openTrash, removeTree, removeTreeAs } from "./remove-tree.js";
import { removeIfThere } from "./small-files.js";

/**
 * How a checkout goes: by renames alone, so that neither folder is ever found in half and nobody waits for files to be
 * deleted. Begun, it is finished by whoever looks next.
 */
interface Place {
  readonly mirror: Mirror;
  readonly path: string;
  readonly gitDir: string;
}

/** Beside the files, not among them: which mirror they belong to, even when their `.git` is gone. */
export function noteOf(path: string): string {
  return join(dirname(path), ".checkouts", `${basename(path)}.json`);
}

/** Both folders go. Parking comes before, and is the caller's. */
export async function removeCheckout(checkout: Checkout): Promise<void> {
  setMark(checkout.gitDir, "removing");
  await giveToPool(checkout);
  await removeFolders(checkout);
}

/** What somebody who died began; the children they left there are ended before. */
export async function finishRemoval(place: Place): Promise<void> {
  if (!(await exists(join(place.gitDir, "ratchet", "removing")))) return;
  await reapLeftovers(cookieOf(place.gitDir));
  await removeFolders(place);
}

/**
 * The git folder goes last of what the next one at this path would share: while it is there, whoever looks next knows
 * that there is something to finish.
 */
async function removeFolders({ mirror, path, gitDir }: Place): Promise<void> {
  const trash = await openTrash(mirror);
  // On another disk, or gone already.
  if (!(await trash.take(path))) await removeTreeAs({ RATCHET_TURN: cookieOf(gitDir) }, path);
  for (const note of notesOf(path)) removeIfThere(note);
  if (!(await trash.take(gitDir))) await removeTree(gitDir);
  await trash.empty();
}

/** The note, and what a writer that was killed left beside it. */
function notesOf(path: string): string[] {
  const note = noteOf(path);
  const beside = (name: string) =>
    name.startsWith(basename(note)) && /^\.\d+-[0-9a-f]+$/.test(name.slice(basename(note).length));
  const names = existsSync(dirname(note)) ? readdirSync(dirname(note)) : [];
  return [note, ...names.filter(beside).map((name) => join(dirname(note), name))];
}

/** What was half made when somebody died is ours to remove; other files in the way are moved aside. */
export async function clearPlace(place: Place): Promise<void> {
  const { path, gitDir } = place;
  const halfMade = await exists(gitDir);
  if (halfMade) await reapLeftovers(cookieOf(gitDir));
  const begun = halfMade && (await exists(join(gitDir, "ratchet", "begun")));
  if (begun) return await removeFolders(place);
  const found = existsSync(path) ? readdirSync(path) : [];
  if (found.length > 0) renameSync(path, `${path}.aside-${randomBytes(4).toString("hex")}`);
  if (halfMade) await removeFolders(place);
}
