import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { exists } from "../../lib/files.js";
import { reapLeftovers } from "../../lib/process/stop.js";
import type { Mirror } from "../mirror/mirror-refs.js";
import { discard, removeTree, removeTreeAs } from "../remove-tree.js";
import { removeIfThere } from "../small-files.js";
import { aboutFile, setMark } from "./checkout-files.js";
import { type Checkout, cookieOf, signOf } from "./checkout-git.js";
import { giveToPool } from "./pool.js";

/**
 * How a checkout goes: by renames alone, so that neither folder is ever found in half and nobody waits for files to be
 * deleted. Begun, it is finished by whoever looks next.
 */
interface Place {
  readonly mirror: Mirror;
  readonly path: string;
  readonly gitDir: string;
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
  await reapLeftovers({ cookie: cookieOf(place.gitDir) });
  await removeFolders(place);
}

/**
 * The git folder goes last of what the next one at this path would share: while it is there, whoever looks next knows
 * that there is something to finish.
 */
async function removeFolders({ mirror, path, gitDir }: Place): Promise<void> {
  // On another disk, or gone already.
  if (!(await discard(mirror, path))) await removeTreeAs(signOf(gitDir), path);
  if (!(await discard(mirror, gitDir))) await removeTree(gitDir);
}

/** What was half made when somebody died is ours to remove; other files in the way are moved aside: where to, or null. */
export async function clearPlace(place: Place): Promise<string | null> {
  const { path, gitDir } = place;
  const halfMade = await exists(gitDir);
  if (halfMade) await reapLeftovers({ cookie: cookieOf(gitDir) });
  const begun = halfMade && (await exists(join(gitDir, aboutFile)));
  const isTheirs = !begun && existsSync(path) && readdirSync(path).length > 0;
  const aside = isTheirs ? `${path}.aside-${randomBytes(4).toString("hex")}` : null;
  if (aside !== null) renameSync(path, aside);
  if (halfMade) await removeFolders(place);
  // A link that leads nowhere.
  else removeIfThere(gitDir);
  return aside;
}
