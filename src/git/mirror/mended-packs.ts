import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { deflateSync } from "node:zlib";
import { isSameFile, namesIn } from "../../lib/files.js";
import { git, gitScript } from "../git.js";
import { hashOf } from "../objects/loose-objects.js";
import { removeIfThere } from "../small-files.js";

/**
 * Of a pack in which something cannot be read git uses the rest, for as long as nobody asks for that; then every command
 * fails. So such a pack is put aside and all that can be read in it is taken out, and what cannot is missing, like
 * anything else that is gone: others may have it, and else the refs that need it are named.
 */
export interface BrokenPacks {
  /** A folder of objects of its own. */
  readonly folder: string;
  readonly names: readonly string[];
}

/** A repository of many gigabytes takes its time. */
const timeoutMs = 4 * 3_600_000;
const refused = [1, 128];

/** `theirs`: the user's packs, which are put in the place of those that are gone afterwards. */
export async function setBrokenPacksAside(mirrorPath: string, theirs: string): Promise<BrokenPacks> {
  const folder = join(mirrorPath, "ratchet", "broken-objects");
  const packs = join(mirrorPath, "objects", "pack");
  const names: string[] = [];
  for (const pack of namesIn(packs).filter((name) => /^pack-[0-9a-f]+\.pack$/.test(name))) {
    const name = basename(pack, ".pack");
    // What is wrong with that one is wrong with the user's, too.
    if (isSameFile(join(packs, pack), join(theirs, pack)) || (await isSound(mirrorPath, name))) continue;
    mkdirSync(join(folder, "pack"), { recursive: true });
    for (const part of namesIn(packs).filter((one) => one.startsWith(`${name}.`)))
      renameSync(join(packs, part), join(folder, "pack", part));
    names.push(name);
  }
  return { folder, names };
}

/** An index is made anew from the pack where it is gone, or is what is broken. */
async function isSound(mirrorPath: string, name: string): Promise<boolean> {
  const [pack, index] = ["pack", "idx"].map((end) => join("objects", "pack", `${name}.${end}`)) as [string, string];
  const old = join(mirrorPath, index);
  const options = { okCodes: refused, timeoutMs };
  if (existsSync(old) && (await git(mirrorPath, ["verify-pack", index], options)).code === 0) return true;
  const made = join("ratchet", `${name}.idx`);
  const isMade = (await git(mirrorPath, ["index-pack", "-o", made, pack], options)).code === 0;
  if (isMade) renameSync(join(mirrorPath, made), old);
  else removeIfThere(join(mirrorPath, made));
  removeIfThere(join(mirrorPath, made.replace(/idx$/, "rev")));
  return isMade;
}

/** After all that others have is there: only what is missing is taken. */
export async function takeFromBroken(mirrorPath: string, { folder, names }: BrokenPacks): Promise<void> {
  const run = async (name: string, file: string) =>
    await gitScript(
      mirrorPath,
      { name, text: `git ${name} <"$1"` },
      { args: [join(folder, "pack", file)], okCodes: refused, timeoutMs },
    );
  for (const name of names) {
    // From its begin up to what cannot be read; then each by the place that its index tells.
    await run("unpack-objects -q -r", `${name}.pack`);
    if (!existsSync(join(folder, "pack", `${name}.idx`))) continue;
    const listed = (await run("show-index", `${name}.idx`)).stdout.toString("latin1");
    const ids = [...listed.matchAll(/^\d+ ([0-9a-f]+)/gm)].flatMap(([, id]) => id ?? []);
    await takeObjects(mirrorPath, { folder, ids: await missingOf(mirrorPath, ids) });
  }
}

export function forgetBroken({ folder, names }: BrokenPacks): void {
  for (const part of namesIn(join(folder, "pack")))
    if (names.some((name) => part.startsWith(`${name}.`))) removeIfThere(join(folder, "pack", part));
  if (namesIn(join(folder, "pack")).length === 0) removeIfThere(folder);
}

async function missingOf(mirrorPath: string, ids: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await git(mirrorPath, ["cat-file", "--batch-check"], { input: lines(ids) });
  return [...stdout.toString("latin1").matchAll(/^([0-9a-f]+) missing$/gm)].flatMap(([, id]) => id ?? []);
}

const atOnce = 100;
/** git ends at one that it cannot read; in a pack with more of those hardly anything is left. */
const failuresAtMost = 2000;

async function takeObjects(
  mirrorPath: string,
  { folder, ids }: { readonly folder: string; readonly ids: readonly string[] },
): Promise<void> {
  const env = { GIT_ALTERNATE_OBJECT_DIRECTORIES: folder };
  for (let at = 0, failures = 0; at < ids.length && failures < failuresAtMost; ) {
    const asked = ids.slice(at, at + atOnce);
    const { code, stdout } = await git(mirrorPath, ["cat-file", "--batch"], {
      input: lines(asked),
      env,
      okCodes: refused,
    });
    const answered = writeAnswered(join(mirrorPath, "objects"), stdout);
    at += code === 0 ? asked.length : answered + 1;
    if (code !== 0) failures += 1;
  }
}

function lines(ids: readonly string[]): string {
  return ids.map((id) => `${id}\n`).join("");
}

/** Each is written if it is what it is called. Gives how many answers there are; the last may be cut off. */
function writeAnswered(objects: string, answers: Buffer): number {
  let answered = 0;
  for (let at = 0; ; answered++) {
    const end = answers.indexOf("\n", at);
    if (end === -1) return answered;
    const [id = "", type = "", size] = answers.toString("latin1", at, end).split(" ");
    at = end + 1;
    if (size === undefined) continue;
    const next = at + Number(size) + 1;
    if (next > answers.length) return answered;
    const whole = Buffer.concat([Buffer.from(`${type} ${size}\0`), answers.subarray(at, next - 1)]);
    if (hashOf(whole, id.length) === id) writeLoose(objects, id, whole);
    at = next;
  }
}

function writeLoose(objects: string, id: string, whole: Buffer): void {
  const folder = join(objects, id.slice(0, 2));
  mkdirSync(folder, { recursive: true });
  const aside = join(folder, `tmp_obj_${id.slice(2, 10)}`);
  writeFileSync(aside, deflateSync(whole), { mode: 0o444 });
  renameSync(aside, join(folder, id.slice(2)));
}
