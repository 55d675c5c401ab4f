import { createHash, randomBytes } from "node:crypto";
import { copyFile, lstat, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { codeOf, ExternalError } from "../lib/errors.js";
import { exists, readJson } from "../lib/files.js";
import { safeName } from "../lib/home.js";
import { readOr, readTemplate, writeIfChanged } from "./checkout-template.js";
import { type CopyOptions, copyIntoCheckout } from "./copy.js";
import { type GitOptions, type GitOutput, git } from "./git.js";
import { resolveHead } from "./head.js";
import type { Mirror } from "./mirror-refs.js";
import { removeTree } from "./remove-tree.js";

/**
 * A checkout: a folder of files and a git folder of its own. The git folder is a whole small repository that borrows
 * the mirror's objects, so an agent in it can reach no config, ref, stash, hook or garbage collection of anybody else,
 * and making one takes no lock. Ratchet keeps a second index (`ratchet-index`) that agents do not know, so flags such as
 * skip-worktree hide nothing from it. `repairCheckout` puts back what is Ratchet's before each look.
 */
export interface Checkout {
  readonly mirror: Mirror;
  readonly path: string;
  readonly gitDir: string;
  /** null: detached, for judging only. */
  readonly branch: string | null;
  readonly baseSha: string;
}

export interface CheckoutOptions {
  readonly path: string;
  readonly branch: string | null;
  readonly commit: string;
  readonly base: string;
}

/** fresh: nobody has worked in it yet. from: what was there already. */
export interface OpenedCheckout {
  readonly checkout: Checkout;
  readonly fresh: boolean;
  readonly from: "worktree" | "branch" | "new";
}

export async function openCheckout(mirror: Mirror, options: CheckoutOptions): Promise<OpenedCheckout> {
  const path = resolve(options.path);
  const gitDir = gitDirFor(mirror, path);
  if (await exists(join(gitDir, "ratchet", "removing"))) await removeFolders(path, gitDir);
  const ready = await exists(join(gitDir, "ratchet", "ready"));
  if (!(await exists(join(gitDir, "HEAD")))) await makeGitDir(mirror, { ...options, path, gitDir });
  await writeIfChanged(noteOf(path), JSON.stringify({ mirror: mirror.path, repoPath: mirror.repoPath }));
  const checkout = await readCheckout(mirror, path);
  if (ready && (await exists(path))) {
    await repairCheckout(checkout);
    return { checkout, fresh: false, from: "worktree" };
  }
  if (!ready) await clearPlace(path, gitDir);
  await mkdir(path, { recursive: true, mode: 0o700 });
  await repairCheckout(checkout);
  await putFiles(checkout);
  await writeFile(join(gitDir, "ratchet", "ready"), "");
  return { checkout, fresh: !ready, from: ready ? "branch" : "new" };
}

function gitDirFor(mirror: Mirror, path: string): string {
  const mark = createHash("sha256").update(path).digest("hex").slice(0, 8);
  return join(mirror.path, "checkouts", `${safeName(basename(path))}-${mark}`);
}

/** Beside the files, not among them: which mirror they belong to, even when their `.git` is gone. */
function noteOf(path: string): string {
  return join(dirname(path), ".checkouts", `${basename(path)}.json`);
}

/** The checkout at this path, ready to be looked at. */
export async function findCheckout(path: string): Promise<Checkout> {
  const note = await readJson(noteOf(resolve(path)));
  if (typeof note === "object" && note !== null && "mirror" in note && "repoPath" in note) {
    const mirror = { path: String(note.mirror), repoPath: String(note.repoPath) };
    const checkout = await readCheckout(mirror, resolve(path));
    await repairCheckout(checkout);
    return checkout;
  }
  throw new ExternalError("git", `${path} is no worktree of Ratchet's`);
}

/** Is there one that somebody may have worked in? A removal that was begun is finished first. */
export async function hasCheckout(mirror: Mirror, path: string): Promise<boolean> {
  const gitDir = gitDirFor(mirror, resolve(path));
  if (await exists(join(gitDir, "ratchet", "removing"))) await removeFolders(resolve(path), gitDir);
  return await exists(join(gitDir, "ratchet", "ready"));
}

/** Every checkout of the mirror, also those whose files are gone. */
export async function listCheckouts(mirror: Mirror): Promise<readonly Checkout[]> {
  const names = await readdir(join(mirror.path, "checkouts"));
  const found = await Promise.all(
    names
      .filter((name) => !name.startsWith("."))
      .map(async (name) => await readJson(join(mirror.path, "checkouts", name, "ratchet", "checkout.json"))),
  );
  const paths = found.flatMap((about) =>
    typeof about === "object" && about !== null && "path" in about ? [String(about.path)] : [],
  );
  return await Promise.all(paths.map((path) => readCheckout(mirror, path)));
}

async function readCheckout(mirror: Mirror, path: string): Promise<Checkout> {
  const gitDir = gitDirFor(mirror, path);
  const about = await readJson(join(gitDir, "ratchet", "checkout.json"));
  if (typeof about !== "object" || about === null || !("baseSha" in about)) {
    throw new ExternalError("git", `the git folder of ${path} is damaged`, {
      hint: `Remove ${gitDir} to have the worktree made anew.`,
    });
  }
  const branch = "branch" in about && typeof about.branch === "string" ? about.branch : null;
  return { mirror, path, gitDir, branch, baseSha: String(about.baseSha) };
}

/** Made aside and renamed: a git folder is there whole or not at all. */
async function makeGitDir(mirror: Mirror, options: CheckoutOptions & { readonly gitDir: string }): Promise<void> {
  const { gitDir, path, branch, commit, base } = options;
  const aside = join(dirname(gitDir), `.new-${process.pid}-${randomBytes(6).toString("hex")}`);
  const template = await readTemplate(mirror);
  for (const folder of ["ratchet", "objects/info", "objects/pack", "refs/heads", "info"]) {
    await mkdir(join(aside, folder), { recursive: true, mode: 0o700 });
  }
  const put = (name: string, text: string) => writeIfChanged(join(aside, name), text);
  await put("ratchet/checkout.json", JSON.stringify({ path, branch, baseSha: base }));
  await put("packed-refs", template.packedRefs);
  await put("config", template.config);
  await put("HEAD", branch === null ? `${commit}\n` : `ref: refs/heads/${branch}\n`);
  if (branch !== null) await put(`refs/heads/${branch}`, `${commit}\n`);
  const shallow = await readOr(join(mirror.path, "shallow"));
  if (shallow !== "") await put("shallow", shallow);
  try {
    await rename(aside, gitDir);
  } catch (error) {
    await removeTree(aside);
    if (codeOf(error) !== "ENOTEMPTY" && codeOf(error) !== "EEXIST") throw error;
  }
}

/** Both folders go; begun, it is finished by whoever looks next. Parking comes before, and is the caller's. */
export async function removeCheckout({ path, gitDir }: Checkout): Promise<void> {
  await writeFile(join(gitDir, "ratchet", "removing"), "");
  await removeFolders(path, gitDir);
}

async function removeFolders(path: string, gitDir: string): Promise<void> {
  await removeTree(path);
  await rm(noteOf(path), { force: true });
  // Renamed first, so that it is never found in half.
  const aside = join(dirname(gitDir), `.gone-${randomBytes(6).toString("hex")}`);
  await rename(gitDir, aside);
  await removeTree(aside);
}

/** Half-made files are ours to remove; anything else in the way is moved aside. */
async function clearPlace(path: string, gitDir: string): Promise<void> {
  const found = await readdir(path).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  });
  if (found.length === 0) return;
  if (await exists(join(gitDir, "ratchet", "begun"))) return await removeTree(path);
  await rename(path, `${path}.aside-${randomBytes(4).toString("hex")}`);
}

/** Everything in a checkout's git folder that is Ratchet's to say, as it has to be; and a `.git` that leads there. */
export async function repairCheckout(checkout: Checkout): Promise<void> {
  const { mirror, gitDir } = checkout;
  const template = await readTemplate(mirror);
  await Promise.all([
    writeIfChanged(join(gitDir, "config"), template.config),
    writeIfChanged(
      join(gitDir, "info", "exclude"),
      template.exclude + (await readOr(join(gitDir, "ratchet", "copies"))),
    ),
    writeIfChanged(join(gitDir, "info", "attributes"), template.attributes),
    writeIfChanged(join(gitDir, "objects", "info", "alternates"), `${join(mirror.path, "objects")}\n`),
    ...["config.worktree", "hooks", "info/grafts", "info/sparse-checkout"].map((name) =>
      rm(join(gitDir, name), { recursive: true, force: true }),
    ),
  ]);
  await repairHead(checkout);
  if (await exists(checkout.path)) await repairLink(checkout);
}

/** A HEAD that names no commit is put back on the branch, at the newest commit known of it. */
async function repairHead({ mirror, gitDir, branch, baseSha }: Checkout): Promise<void> {
  if ((await resolveHead(gitDir)) !== null) return;
  if (branch === null) return await writeIfChanged(join(gitDir, "HEAD"), `${baseSha}\n`);
  const ref = `refs/heads/${branch}`;
  const known = (await resolveHead(gitDir, ref)) ?? (await resolveHead(mirror.path, ref)) ?? baseSha;
  await writeIfChanged(join(gitDir, ref), `${known}\n`);
  await writeIfChanged(join(gitDir, "HEAD"), `ref: ${ref}\n`);
}

/** A repository that an agent made in place of the link is kept, out of the way. */
async function repairLink({ path, gitDir }: Checkout): Promise<void> {
  const link = join(path, ".git");
  const found = await lstat(link).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  });
  if (found !== null && !found.isFile()) {
    await mkdir(join(gitDir, "replaced"), { recursive: true });
    await rename(link, join(gitDir, "replaced", randomBytes(4).toString("hex")));
  }
  const text = `gitdir: ${gitDir}\n`;
  // Written in place: no temporary file may show up among the user's.
  if ((await readOr(link)) !== text) await writeFile(link, text);
}

/** The files of HEAD in an empty folder, and both indexes. */
async function putFiles(checkout: Checkout): Promise<void> {
  await writeFile(join(checkout.gitDir, "ratchet", "begun"), "");
  await rm(join(checkout.gitDir, "ratchet", "used"), { force: true });
  await rm(ownIndex(checkout), { force: true });
  await gitIn(checkout, ["read-tree", "--reset", "-u", "HEAD"], { own: true });
  await adoptIndex(checkout);
}

/** Work in it has been looked at: its set-up is done. */
export async function markUsed({ gitDir }: Checkout): Promise<void> {
  const mark = join(gitDir, "ratchet", "used");
  if (!(await exists(mark))) await writeFile(mark, "");
}

export async function wasUsed({ gitDir }: Checkout): Promise<boolean> {
  return await exists(join(gitDir, "ratchet", "used"));
}

export function ownIndex({ gitDir }: Checkout): string {
  return join(gitDir, "ratchet-index");
}

/** The agent's index becomes ours: nothing staged, no flags. */
export async function adoptIndex(checkout: Checkout): Promise<void> {
  const aside = join(checkout.gitDir, `ratchet-index.${randomBytes(4).toString("hex")}`);
  await copyFile(ownIndex(checkout), aside);
  await rename(aside, join(checkout.gitDir, "index"));
}

/** A git command in the checkout, whatever its `.git`, config or environment say. `own`: on Ratchet's index. */
export async function gitIn(
  checkout: Checkout,
  args: readonly string[],
  options: GitOptions & { readonly own?: boolean; readonly index?: string } = {},
): Promise<GitOutput> {
  const index = options.index ?? (options.own ? ownIndex(checkout) : undefined);
  const env = {
    GIT_DIR: checkout.gitDir,
    GIT_WORK_TREE: checkout.path,
    GIT_NO_REPLACE_OBJECTS: "1",
    ...(index === undefined ? {} : { GIT_INDEX_FILE: index }),
    ...options.env,
  };
  return await git(checkout.path, args, { ...options, env });
}

/** Copies untracked files a checkout needs, and keeps them out of git's sight. */
export async function attachCopies(checkout: Checkout, options: CopyOptions): Promise<readonly string[]> {
  if (options.copy.length === 0) return [];
  const { copied, ignore } = await copyIntoCheckout(checkout.path, options);
  await writeIfChanged(join(checkout.gitDir, "ratchet", "copies"), ignore);
  await repairCheckout(checkout);
  return copied;
}
