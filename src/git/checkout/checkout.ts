import { mkdirSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { ExternalError } from "../../lib/errors.js";
import { exists, readJson, statsOf } from "../../lib/files.js";
import { safeName } from "../../lib/home.js";
import { pathHash } from "../../lib/path-hash.js";
import { reapLeftovers } from "../../lib/process/stop.js";
import { isCommitId } from "../head.js";
import type { Mirror } from "../mirror/mirror-refs.js";
import { putText, removeIfThere, textOf, writeIfChanged } from "../small-files.js";
import { aboutFile, damaged, repairFiles, repairPlace, type Seen, setMark } from "./checkout-files.js";
import { adoptIndex, type Checkout, cookieOf, gitIn, ownIndex } from "./checkout-git.js";
import { clearPlace, finishRemoval } from "./checkout-removal.js";
import { type KnownTemplate, readTemplate } from "./checkout-template.js";
import { type CopyOptions, copyFiles, planCopies } from "./copy.js";
import { makeFiles } from "./new-checkout.js";
import { keepForPool, listPool, takeFromPool } from "./pool.js";
import { reclaim } from "./reclaim.js";
import { repairWhole } from "./remade.js";

export interface CheckoutOptions {
  readonly path: string;
  readonly branch: string | null;
  readonly commit: string;
  readonly base: string;
  /** Whoever calls knows that there is none: refs that are written meanwhile do not make somebody's files the branch's. */
  readonly isNew?: boolean;
  /** What else belongs into a new one: until that is done it counts as none. */
  readonly fill?: (checkout: Checkout) => Promise<void>;
}

/** fresh: nobody has worked in it yet. from: what was there already. */
export interface OpenedCheckout {
  readonly checkout: Checkout;
  readonly fresh: boolean;
  readonly from: "worktree" | "branch" | "new";
  /** Where files went that were in its way; null: none were. */
  readonly aside: string | null;
}

export async function openCheckout(mirror: Mirror, options: CheckoutOptions): Promise<OpenedCheckout> {
  const path = resolve(options.path);
  const gitDir = gitDirFor(mirror, path);
  const isThere = !options.isNew && (await hasCheckout(mirror, path));
  await writeIfChanged(noteBeside(path), JSON.stringify({ mirror: mirror.path, repoPath: mirror.repoPath }));
  const template = readTemplate(mirror);
  if (!isThere) return await newCheckout(template, { ...options, mirror, path });
  const checkout = await readCheckout(mirror, path, template);
  repairPlace(checkout);
  const filling = join(gitDir, "ratchet", "filling");
  if ((await exists(path)) && !(await exists(filling))) {
    await repairWhole(checkout);
    return { checkout, fresh: false, from: "worktree", aside: null };
  }
  await reapLeftovers({ cookie: cookieOf(gitDir) });
  setMark(gitDir, "filling");
  mkdirSync(path, { recursive: true, mode: 0o700 });
  await repairWhole(checkout);
  await putFiles(checkout);
  await finishFiles(checkout);
  removeIfThere(filling);
  return { checkout, fresh: false, from: "branch", aside: null };
}

async function newCheckout(
  template: KnownTemplate,
  options: CheckoutOptions & { readonly mirror: Mirror },
): Promise<OpenedCheckout> {
  const { mirror, path, branch, commit, base } = options;
  const gitDir = gitDirFor(mirror, path);
  const aside = await clearPlace({ mirror, path, gitDir });
  const checkout = { mirror, path, gitDir, branch, baseSha: base, template };
  const pooled = (await listPool(mirror)).length > 0;
  await makeFiles({ checkout, commit, fill: !pooled });
  if (pooled) await fillFromPool(checkout);
  await finishFiles(checkout, options.fill);
  return { checkout, fresh: true, from: "new", aside };
}

async function fillFromPool(checkout: Checkout): Promise<void> {
  if (!(await takeFromPool(checkout))) await putFiles(checkout);
  else await adoptIndex(checkout);
}

async function finishFiles(checkout: Checkout, fill?: CheckoutOptions["fill"]): Promise<void> {
  await keepForPool(checkout);
  await fill?.(checkout);
  setMark(checkout.gitDir, "ready");
}

/** The git folder of the worktree at this path. */
export function gitDirFor(mirror: Mirror, path: string): string {
  const mark = pathHash(path).slice(0, 8);
  return join(mirror.path, "checkouts", `${safeName(basename(path))}-${mark}`);
}

/** Beside the files, not among them: which mirror all of a folder's checkouts belong to, even when their `.git` is gone. */
function noteBeside(path: string): string {
  return join(dirname(path), ".checkouts", "mirror.json");
}

/** The checkout at this path, ready to be looked at. */
export async function findCheckout(path: string): Promise<Checkout & Seen> {
  const checkout = await checkoutAt(resolve(path));
  return { ...checkout, ...(await repairFiles(checkout)) };
}

/** The same for whoever is to keep, show or remove what is in it: of what an agent broke there, as much as is left. */
export async function findWholeCheckout(mirror: Mirror, path: string): Promise<Checkout & Seen> {
  const checkout = await readCheckout(mirror, resolve(path));
  // Where somebody has deleted the files, git has nothing to work in.
  const seen = (await exists(checkout.path)) ? await repairWhole(checkout) : await repairFiles(checkout);
  return { ...checkout, ...seen };
}

async function checkoutAt(path: string): Promise<Checkout> {
  const note = (await readJson(noteBeside(path))) ?? (await readJson(olderNote(path)));
  if (typeof note === "object" && note !== null && "mirror" in note && "repoPath" in note)
    return await readCheckout({ path: String(note.mirror), repoPath: String(note.repoPath) }, path);
  throw new ExternalError("git", `${path} is no worktree of Ratchet's`);
}

/** Of a checkout that was made when each had its own. */
function olderNote(path: string): string {
  return join(dirname(path), ".checkouts", `${basename(path)}.json`);
}

/**
 * Is there one that somebody may have worked in? A removal that was begun is finished first. One that does not even say
 * what it is, and whose files do not either, counts as none: they are put aside, not removed. `base`: where its work began,
 * should the mirror not know.
 */
export async function hasCheckout(mirror: Mirror, path: string, base?: string): Promise<boolean> {
  const place = { mirror, path: resolve(path), gitDir: gitDirFor(mirror, resolve(path)) };
  await finishRemoval(place);
  const isReady = await exists(join(place.gitDir, "ratchet", "ready"));
  if ((await aboutOf(mirror, place.gitDir)) !== null) return isReady;
  // Nothing of what is in another's is this one's.
  if ((await readAbout(place.gitDir)) !== null) removeIfThere(place.gitDir);
  if (await reclaim(place, base)) return true;
  if (isReady) removeIfThere(join(place.gitDir, aboutFile));
  return false;
}

interface About {
  readonly path?: string;
  readonly branch: string | null;
  readonly baseSha: string;
}

/** null: it does not say, or says that it is another's, whose git folder an agent has copied. */
async function aboutOf(mirror: Mirror, gitDir: string): Promise<About | null> {
  const about = await readAbout(gitDir);
  return about?.path === undefined || gitDirFor(mirror, about.path) === gitDir ? about : null;
}

async function readAbout(gitDir: string): Promise<About | null> {
  const file = join(gitDir, aboutFile);
  const about = statsOf(file)?.isFile() ? await readJson(file) : null;
  if (typeof about !== "object" || about === null || !("baseSha" in about) || !isCommitId(String(about.baseSha)))
    return null;
  const branch = "branch" in about && typeof about.branch === "string" ? about.branch : null;
  const path = "path" in about ? { path: String(about.path) } : {};
  return { ...path, branch, baseSha: String(about.baseSha) };
}

/** Every checkout of the mirror, also those whose files are gone. */
export async function listCheckouts(mirror: Mirror): Promise<readonly Checkout[]> {
  const [folder, template] = [join(mirror.path, "checkouts"), readTemplate(mirror)];
  const names = (await readdir(folder)).filter((name) => !name.startsWith("."));
  const found = await Promise.all(
    names.map(async (name) => ({ gitDir: join(folder, name), about: await readAbout(join(folder, name)) })),
  );
  // One that an agent has broken, or that names another's place, is no reason not to see the others.
  return found.flatMap(({ gitDir, about }) =>
    about?.path === undefined || gitDirFor(mirror, about.path) !== gitDir
      ? []
      : [{ mirror, gitDir, template, ...about, path: about.path }],
  );
}

/** The checkout at this path as it was left: before git looks at it, it has to be repaired. */
export async function readCheckout(mirror: Mirror, path: string, template = readTemplate(mirror)): Promise<Checkout> {
  const gitDir = gitDirFor(mirror, path);
  const about = await aboutOf(mirror, gitDir);
  if (about === null) throw damaged({ path, gitDir });
  return { mirror, gitDir, template, ...about, path };
}

/** The files of HEAD in an empty folder, and both indexes. */
async function putFiles(checkout: Checkout): Promise<void> {
  for (const name of [setUpMark, "filled", "aligned"]) removeIfThere(join(checkout.gitDir, "ratchet", name));
  // Nobody but us uses this index, and whoever of us held its lock is gone.
  for (const file of [ownIndex(checkout), `${ownIndex(checkout)}.lock`]) removeIfThere(file);
  await gitIn(checkout, ["read-tree", "--reset", "-u", "HEAD"], { own: true });
  await adoptIndex(checkout);
}

/** The project's own setup has run since its files were made. Older versions noted it when work in it was looked at. */
const setUpMark = "used";

export function markSetUp({ gitDir }: Pick<Checkout, "gitDir">): void {
  setMark(gitDir, setUpMark);
}

export function unmarkSetUp({ gitDir }: Pick<Checkout, "gitDir">): void {
  removeIfThere(join(gitDir, "ratchet", setUpMark));
}

export async function wasSetUp({ gitDir }: Pick<Checkout, "gitDir">): Promise<boolean> {
  return await exists(join(gitDir, "ratchet", setUpMark));
}

/** Copies untracked files a checkout needs, and keeps them out of git's sight: that first, so that it sees none whoever is killed. */
export async function attachCopies(
  checkout: Checkout,
  { isNew, ...options }: CopyOptions & { readonly isNew: boolean },
): Promise<void> {
  if (options.copy.length === 0) return;
  const { path, gitDir } = checkout;
  const list = join(gitDir, "ratchet", "copies");
  const known = isNew ? "" : textOf(list, "latin1");
  const { missing, ignore } = await planCopies(path, { ...options, known });
  putText(list, ignore, "latin1");
  await repairFiles(checkout);
  await copyFiles(path, missing, options);
}
