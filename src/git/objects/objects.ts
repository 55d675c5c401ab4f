import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { codeOf } from "../../lib/errors.js";
import { isMissing, namesIn } from "../../lib/files.js";
import { keepNewest } from "../../lib/keep-newest.js";
import { linkOrCopy } from "../../lib/link-or-copy.js";
import type { Checkout } from "../checkout/checkout-git.js";

/**
 * Gives the mirror every object of a checkout, before any ref of the mirror's names one. Objects never change, so a
 * hard link is enough and doing it again costs nothing. A pack's index comes last: without it the pack is not seen.
 */
export function shareObjects({ mirror, gitDir }: Pick<Checkout, "mirror" | "gitDir">): void {
  const from = join(gitDir, "objects");
  const to = join(mirror.path, "objects");
  const folders = namesIn(from).filter((name) => /^[0-9a-f]{2}$/.test(name));
  for (const folder of folders) shareFolder(`${from}/${folder}`, `${to}/${folder}`);
  if (isMissing(join(from, "pack"))) return;
  const packs = namesIn(join(from, "pack")).filter((name) => /^pack-[0-9a-f]+\.(pack|rev|idx)$/.test(name));
  const order = (name: string) => ["pack", "rev", "idx"].indexOf(name.slice(name.lastIndexOf(".") + 1));
  for (const name of packs.sort((a, b) => order(a) - order(b))) share(join(from, "pack", name), join(to, "pack", name));
}

/** Folders of loose objects that were shared wholly: their times then, and for how long the mirror cannot have dropped any. */
const shared = new Map<string, { readonly mtimeMs: number; readonly until: number }>();
const keptMs = 600_000;
/** Within this time of a change another one may leave a folder's time as it is; longer where the disk counts in seconds. */
const sameTimeMs = 100;

/** The mirror has dropped some all the same. */
export function forgetShared(): void {
  shared.clear();
}

function shareFolder(from: string, to: string): void {
  const lookedAt = Date.now();
  const stats = statSync(from, { throwIfNoEntry: false });
  const before = shared.get(from);
  if (stats === undefined || (before?.mtimeMs === stats.mtimeMs && lookedAt < before.until)) return;
  const loose = namesIn(from).filter((name) => /^[0-9a-f]{38}([0-9a-f]{24})?$/.test(name));
  for (const name of loose) share(`${from}/${name}`, `${to}/${name}`);
  if (stats.mtimeMs > lookedAt - sameTimeMs || stats.mtimeMs % 1000 === 0) return;
  shared.set(from, { mtimeMs: stats.mtimeMs, until: lookedAt + keptMs });
  keepNewest(shared, 4096);
}

function share(from: string, to: string): void {
  // Most were shared the time before, and an error costs many times what asking does.
  if (existsSync(to)) return;
  try {
    linkOrCopy(from, to);
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT") shareAgain(from, to);
    else if (code !== "EEXIST") throw error;
  }
}

/** Either the mirror's folder is not made yet, or the object was packed away meanwhile: then its pack has it. */
function shareAgain(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  try {
    linkOrCopy(from, to);
  } catch (error) {
    if (codeOf(error) !== "EEXIST" && codeOf(error) !== "ENOENT") throw error;
  }
}
