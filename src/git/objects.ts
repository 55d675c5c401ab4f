import { randomBytes } from "node:crypto";
import { existsSync, linkSync, mkdirSync, readdirSync } from "node:fs";
import { copyFile, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { codeOf } from "../lib/errors.js";
import type { Checkout } from "./checkout-git.js";

/**
 * Gives the mirror every object of a checkout, before any ref of the mirror's names one. Objects never change, so a
 * hard link is enough and doing it again costs nothing. A pack's index comes last: without it the pack is not seen.
 */
export async function shareObjects({ mirror, gitDir }: Checkout): Promise<void> {
  const from = join(gitDir, "objects");
  const to = join(mirror.path, "objects");
  const folders = names(from).filter((name) => /^[0-9a-f]{2}$/.test(name));
  for (const folder of folders) {
    const loose = names(join(from, folder)).filter((name) => /^[0-9a-f]{38}([0-9a-f]{24})?$/.test(name));
    for (const name of loose) await share(`${from}/${folder}/${name}`, `${to}/${folder}/${name}`);
  }
  const packs = names(join(from, "pack")).filter((name) => /^pack-[0-9a-f]+\.(pack|rev|idx)$/.test(name));
  const order = (name: string) => ["pack", "rev", "idx"].indexOf(name.slice(name.lastIndexOf(".") + 1));
  for (const name of packs.sort((a, b) => order(a) - order(b)))
    await share(join(from, "pack", name), join(to, "pack", name));
}

function names(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

async function share(from: string, to: string): Promise<void> {
  // Most were shared the time before, and an error costs many times what asking does.
  if (existsSync(to)) return;
  try {
    linkSync(from, to);
  } catch (error) {
    const code = codeOf(error);
    if (code === "EEXIST") return;
    if (code === "ENOENT") return await shareAgain(from, to);
    if (code !== "EXDEV" && code !== "EPERM" && code !== "EMLINK") throw error;
    const aside = join(dirname(to), `tmp_obj_${randomBytes(6).toString("hex")}`);
    await copyFile(from, aside);
    await rename(aside, to);
  }
}

/** Either the mirror's folder is not made yet, or the object was packed away meanwhile: then its pack has it. */
async function shareAgain(from: string, to: string): Promise<void> {
  mkdirSync(dirname(to), { recursive: true });
  try {
    linkSync(from, to);
  } catch (error) {
    if (codeOf(error) !== "EEXIST" && codeOf(error) !== "ENOENT") throw error;
  }
}
