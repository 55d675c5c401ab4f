import { createHash, randomBytes } from "node:crypto";
import { closeSync, existsSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { link, mkdir, readdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { codeOf, ExternalError } from "../../lib/errors.js";
import { readJson } from "../../lib/files.js";
import { canSeeOccupants, isOccupied } from "../../lib/process/occupants.js";
import { runTool } from "../git.js";
import { resolveHead } from "../head.js";
import type { Mirror } from "../mirror/mirror-refs.js";
import { moved, openTrash, removeTree, type Trash } from "../remove-tree.js";
import { type Checkout, gitIn, ownIndex, signOf } from "./checkout-git.js";
import type { CheckoutTemplate } from "./checkout-template.js";
import { attributesFile, bytesOf, keepTracked, parseTracked, type Tracked } from "./keep-tracked.js";

/**
 * In a large repository the files of a removed checkout are kept for the next one, which then writes only those that
 * differ. Nothing that an agent could have left may come along, so nothing is believed but the index that git wrote when
 * it filled the folder, before anybody worked in it: a file is kept only if its inode, size and times are still the ones in
 * there and its change time, which no program can set, is older than that index. Everything else goes or is written anew, the git folder is never kept, and
 * whatever is odd about a folder means that a new one is filled.
 */
const entriesKept = 8;
/** Below this many files a fresh checkout is as fast. */
const worthwhileFiles = 1000;
/** What the user's settings say of these must not weaken the comparison. */
const strictly = ["-c", "core.trustctime=true", "-c", "core.checkStat=default", "-c", "core.splitIndex=false"];

function poolOf(mirror: Mirror): string {
  return join(mirror.path, "pool");
}

function filledFolder({ gitDir }: Checkout): string {
  return join(gitDir, "ratchet", "filled");
}

/** How files are converted on their way out; a folder that was filled otherwise is of no use. */
function conversionOf({ config, attributes, conversion }: CheckoutTemplate): string {
  return createHash("sha256")
    .update(JSON.stringify([config, attributes, conversion]))
    .digest("hex");
}

/** Remembers the index of a folder that was filled just now. It must be called before anybody works in the folder. */
export async function keepForPool(checkout: Checkout): Promise<void> {
  const folder = filledFolder(checkout);
  if (!canSeeOccupants || countEntries(ownIndex(checkout)) < worthwhileFiles) return;
  await mkdir(folder, { mode: 0o700 });
  // Git replaces an index, it never writes into one: this name keeps the old one, with its time, which counts.
  await link(ownIndex(checkout), join(folder, "index"));
  const about = { commit: resolveHead(checkout.gitDir), conversion: conversionOf(checkout.template) };
  await writeFile(join(folder, "about.json"), JSON.stringify(about), { mode: 0o600 });
}

/** An entry has at least these. */
const entryBytes = 62;

/** From the header of an index; of one that is too small for many it is not even read. */
function countEntries(index: string): number {
  if (statSync(index).size < worthwhileFiles * entryBytes) return 0;
  const file = openSync(index, "r");
  try {
    const header = Buffer.alloc(12);
    readSync(file, header, 0, 12, 0);
    return header.readUInt32BE(8);
  } finally {
    closeSync(file);
  }
}

/** The files go to the pool by renames; nothing is looked at. False: they stay where they are. */
export async function giveToPool(checkout: Checkout): Promise<boolean> {
  const [pool, filled] = [poolOf(checkout.mirror), filledFolder(checkout)];
  if (!existsSync(filled) || (await readAbout(filled)) === null || (await entriesOf(pool)).length >= entriesKept)
    return false;
  await mkdir(pool, { recursive: true, mode: 0o700 });
  const mark = randomBytes(6).toString("hex");
  const aside = join(pool, `.new-${process.pid}-${mark}`);
  // Somebody else finishes the removal.
  if (!(await moved(filled, aside))) return false;
  const given = await moved(checkout.path, join(aside, "files"));
  if (given) await rename(aside, join(pool, `${Date.now()}-${mark}`));
  else await removeTree(aside);
  return given;
}

interface About {
  readonly commit: string;
  readonly conversion: string;
}

async function readAbout(folder: string): Promise<About | null> {
  const about = await readJson(join(folder, "about.json"));
  if (typeof about !== "object" || about === null || !("commit" in about && "conversion" in about)) return null;
  return { commit: String(about.commit), conversion: String(about.conversion) };
}

/** Newest first: they differ least from what is wanted. */
async function entriesOf(pool: string): Promise<string[]> {
  if (!existsSync(pool)) return [];
  const names = readdirSync(pool).filter((name) => !name.startsWith("."));
  return names.sort().reverse();
}

/**
 * Fills the empty folder of a checkout from the pool, our index included. Whoever renames an entry first has it. Until
 * the checkout is ready its git folder holds the entry, so after a crash both are removed together.
 */
export async function takeFromPool(checkout: Checkout): Promise<boolean> {
  const pool = poolOf(checkout.mirror);
  const names = await entriesOf(pool);
  if (names.length === 0) return false;
  const trash = await openTrash(checkout.mirror);
  try {
    for (const name of names) {
      const entry = join(checkout.gitDir, `pooled-${name}`);
      if (!(await moved(join(pool, name), entry))) continue;
      const about = await readAbout(entry);
      const fits = about !== null && about.conversion === conversionOf(checkout.template);
      const reused = fits && (await tryReuse(checkout, { entry, commit: about.commit, trash }));
      await trash.take(entry);
      if (fits) return reused;
    }
    return false;
  } finally {
    await trash.empty();
  }
}

interface Taken {
  readonly entry: string;
  /** What it was filled with. */
  readonly commit: string;
  readonly trash: Trash;
}

/** A failure here costs time and nothing else: the folder is emptied and filled like any new one. */
async function tryReuse(checkout: Checkout, taken: Taken): Promise<boolean> {
  try {
    if (await reuse(checkout, taken)) return true;
  } catch (error) {
    if (!(error instanceof ExternalError) && codeOf(error) === undefined) throw error;
  }
  for (const name of await readdir(checkout.path, "latin1")) {
    if (name !== ".git") await taken.trash.take(bytesOf(checkout.path, name));
  }
  if ((await readdir(checkout.path)).some((name) => name !== ".git"))
    throw new ExternalError("git", `${checkout.path} could not be emptied`);
  return false;
}

async function reuse(checkout: Checkout, taken: Taken): Promise<boolean> {
  const index = join(taken.entry, "index");
  const [listing, converted, sameRules] = await Promise.all([
    gitIn(checkout, ["ls-files", "-s", "-z"], { index }),
    hasConvertedFiles(checkout, index),
    hasSameAttributes(checkout, taken.commit),
  ]);
  const tracked = parseTracked(listing.stdout);
  if (tracked === null || converted || !sameRules) return false;
  await moveTracked(join(taken.entry, "files"), checkout.path, tracked);
  await keepTracked({ root: checkout.path, tracked, trash: taken.trash });
  await dropChanged(checkout, index);
  if (isOccupied(checkout.path)) return false;
  await rename(index, ownIndex(checkout));
  await gitIn(checkout, [...strictly, "read-tree", "--reset", "-u", "HEAD"], { own: true });
  return true;
}

/** What filters write may depend on more than the commit. Attributes come from the index: there are no files yet. */
async function hasConvertedFiles(checkout: Checkout, index: string): Promise<boolean> {
  const all = ":(exclude,attr:!filter !ident !working-tree-encoding)";
  return (await gitIn(checkout, ["ls-files", "-z", "--", all], { index })).stdout.length > 0;
}

/** The same content may have to be written otherwise under other attributes. */
async function hasSameAttributes(checkout: Checkout, commit: string): Promise<boolean> {
  const args = ["diff-tree", "-r", "-z", "--name-only", commit, "HEAD", "--", `:(glob)**/${attributesFile}`];
  return (await gitIn(checkout, args)).stdout.length === 0;
}

/**
 * Into a new root folder: a program that was left standing in the old one, or a container that has it mounted, is left
 * behind with everything that is not tracked.
 */
async function moveTracked(from: string, to: string, tracked: Tracked): Promise<void> {
  for (const name of tracked.get("")?.keys() ?? []) {
    if (name !== attributesFile) await moved(bytesOf(from, name), bytesOf(to, name));
  }
}

/**
 * Git may look at whole seconds only, and not at all at most of a file's mode. So whatever was changed after the index
 * had been written goes first.
 */
async function dropChanged({ path, gitDir }: Checkout, index: string): Promise<void> {
  const link = join(path, ".git");
  const args = [path, "!", "-type", "d", "!", "-path", link, "-cnewer", index, "-delete"];
  const { code, stderr } = await runTool("find", args, { cwd: "/", env: signOf(gitDir) });
  if (code !== 0) throw new ExternalError("find", stderr.trim().slice(0, 300));
}

/** The names of what waits there. */
export async function listPool(mirror: Mirror): Promise<readonly string[]> {
  return await entriesOf(poolOf(mirror));
}

export async function emptyPool(mirror: Mirror): Promise<void> {
  const pool = poolOf(mirror);
  const trash = await openTrash(mirror);
  for (const name of await entriesOf(pool)) await trash.take(join(pool, name));
  await trash.empty();
}
