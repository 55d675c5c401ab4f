import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { inflateSync } from "node:zlib";
import { codeOf, ExternalError } from "../../lib/errors.js";
import { namesIn } from "../../lib/files.js";
import { listCheckouts } from "../checkout/checkout.js";
import { GitError, git } from "../git.js";
import { readHead } from "../head.js";
import { givenTargets, landedRef, unmarkGiven } from "../landing/tip.js";
import { hashOf } from "../objects/loose-objects.js";
import { forgetShared, shareObjects } from "../objects/objects.js";
import { commonDirOf } from "../repository.js";
import { putText, removeIfThere } from "../small-files.js";
import { noBranch, withObjectsOf } from "./clone-objects.js";
import { lacksAllRefs, lacksRefs } from "./lacking-refs.js";
import { forgetBroken, setBrokenPacksAside, takeFromBroken } from "./mended-packs.js";
import { dropUnreadableRefs, noteLost } from "./mended-refs.js";
import { damagedTheirs } from "./mirror-damage.js";
import { forgetDamage } from "./mirror-health.js";
import { baseRef, fetchFromUser, type Mirror, readRefs, updateRefs } from "./mirror-refs.js";

interface Mended {
  /** Refs, or what else is to be told. */
  readonly lost: readonly string[];
  /** Refs went, and nobody knows which. */
  readonly lacksRefs: boolean;
  /** The user's file that cannot be read, and is the mirror's, too. */
  readonly theirs: string | null;
}

/**
 * The mirror is a folder of the user's, and an agent may delete or damage anything in it. What git needs is put back in
 * place, from the user's repository and from the git folders of the worktrees; everything else in it stays as it is, so
 * that no worktree, no branch and no parked work is lost that is still on the disk.
 */
export async function mendMirror(mirror: Mirror): Promise<Mended> {
  const theirs = damagedTheirs(mirror.path, await commonDirOf(mirror.repoPath));
  const hadRefs = existsSync(join(mirror.path, "refs"));
  putText(join(mirror.path, "HEAD"), noBranch);
  for (const name of ["objects/pack", "refs/heads", "checkouts", "ratchet"])
    mkdirSync(join(mirror.path, name), { recursive: true });
  const isLacking = !hadRefs || (await lacksRefs(mirror)) || (await lacksAllRefs(mirror));
  const unreadable = dropUnreadableRefs(mirror.path);
  const brokenPacks = await withObjectsOf(mirror, async (aside) => {
    dropUnusable(join(mirror.path, "objects"));
    const packs = await setBrokenPacksAside(mirror.path, join(aside, "objects", "pack"));
    moveInto(join(aside, "objects"), join(mirror.path, "objects"));
    const shallow = join(aside, "shallow");
    if (existsSync(shallow)) copyFileSync(shallow, join(mirror.path, "shallow"));
    return packs;
  });
  forgetShared();
  for (const name of namesIn(join(mirror.path, "checkouts")))
    shareObjects({ mirror, gitDir: join(mirror.path, "checkouts", name) });
  await takeFromBroken(mirror.path, brokenPacks);
  const broken = await dropBrokenRefs(mirror);
  // Where something is lost, somebody may know how to get more out of it.
  if (broken.length === 0) forgetBroken(brokenPacks);
  await bringLandedBack(mirror);
  putText(join(mirror.path, "ratchet", "made"), "made\n");
  forgetDamage(mirror.path);
  return { lost: [...unreadable, ...broken], lacksRefs: isLacking || unreadable.length > 0, theirs };
}

/** In one line. Of what was lost some may be back; the user's own come with the next fetch. */
export async function tellMended(mirror: Mirror, { lost, theirs }: Mended): Promise<string> {
  const refs = await readRefs(mirror.path, ["refs"]);
  const gone = lost.filter((ref) => !refs.has(ref) && !ref.startsWith("refs/user/"));
  const but = theirs === null ? "" : `, but for ${theirs}, which is your repository's: run \`git fsck\` there`;
  return `${mirror.path} was damaged and is mended from your repository and the worktrees${but}${told(gone)}`;
}

function told(lost: readonly string[]): string {
  if (lost.length === 0) return "";
  const more = lost.length > 5 ? ` and ${lost.length - 5} more` : "";
  return `; lost: ${lost.slice(0, 5).join(", ")}${more}`;
}

/** Is it for what the mirror lacks, or has in pieces, that git has failed? */
export function isDamage(error: unknown): boolean {
  return (
    error instanceof GitError &&
    /bad (object|tree)|missing (blob|tree|commit|object|necessary)|did not send all necessary objects|is corrupt|file .* is empty|not a git repository|[Cc]ould not read [0-9a-f]{40}|unable to (read|parse|unpack) |inflate|revision walk setup failed|line in \S*packed-refs/.test(
      error.stderr,
    )
  );
}

/** What git keeps of objects to be faster, of packs that are gone, and files of objects that are something else. */
function dropUnusable(objects: string): void {
  for (const name of ["info/commit-graph", "info/commit-graphs", "pack/multi-pack-index"])
    removeIfThere(join(objects, name));
  const packs = namesIn(join(objects, "pack"));
  for (const name of packs.filter((one) => one.endsWith(".idx") && !packs.includes(one.replace(/idx$/, "pack"))))
    removeIfThere(join(objects, "pack", name));
  for (const folder of namesIn(objects).filter((name) => /^[0-9a-f]{2}$/.test(name)))
    for (const name of namesIn(join(objects, folder)))
      if (/^[0-9a-f]{38}([0-9a-f]{24})?$/.test(name) && !isObject(join(objects, folder, name), folder + name))
        rmSync(join(objects, folder, name), { recursive: true });
}

/** Larger ones are not read. */
const bytesAtMost = 100_000_000;

function isObject(file: string, id: string): boolean {
  try {
    if (statSync(file).size > bytesAtMost) return true;
    return hashOf(inflateSync(readFileSync(file), { maxOutputLength: bytesAtMost }), id.length) === id;
  } catch (error) {
    const code = codeOf(error) ?? "";
    return code === "ERR_BUFFER_TOO_LARGE" || code === "ENOENT";
  }
}

/** What is whole here stays: the other one may be what is damaged. A pack's index comes last: without it the pack is not seen. */
function moveInto(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  const order = (name: string) => (name.endsWith(".idx") ? 1 : 0);
  for (const name of namesIn(from).sort((a, b) => order(a) - order(b))) {
    if (statSync(join(from, name)).isDirectory()) moveInto(join(from, name), join(to, name));
    else if (!isObjectFile(join(to, name))) renameSync(join(from, name), join(to, name));
  }
}

/** Those that cannot be read have gone before. */
function isObjectFile(file: string): boolean {
  return existsSync(file) && /^[0-9a-f]+$|^pack-[0-9a-f]+\.pack$/.test(basename(file));
}

/** Those that lead to something that is nowhere any more. */
async function dropBrokenRefs(mirror: Mirror): Promise<readonly string[]> {
  const [refs, theirs] = [await readRefs(mirror.path, ["refs"]), await readRefs(mirror.repoPath, ["refs/heads"])];
  const known = [...new Set(theirs.values())];
  if (await areWhole(mirror, { ids: [...new Set(refs.values())], known })) return [];
  if (!(await areWhole(mirror, { ids: known, known: [] }))) throw await cannotMend(mirror, known);
  const broken = new Set<string>();
  for (const id of new Set(refs.values())) if (!(await areWhole(mirror, { ids: [id], known }))) broken.add(id);
  const gone = [...refs].filter(([, id]) => broken.has(id));
  for (const [ref, id] of gone) noteLost(mirror.path, `${id} ${ref}`);
  await updateRefs(
    mirror.path,
    gone.map(([ref, from]) => ({ ref, to: null, from })),
  );
  return gone.map(([ref]) => ref);
}

/** All that the user has was brought over. */
async function cannotMend({ path, repoPath }: Mirror, known: readonly string[]): Promise<ExternalError> {
  const isSound = await areWhole({ path: repoPath, repoPath }, { ids: known, known: [] });
  const why = isSound
    ? `${path} is damaged and cannot be mended: move it away, the next command makes a new one`
    : `objects are missing from ${repoPath}: run \`git fsck\` there`;
  return new ExternalError("git", why);
}

/** Whether all that these reach, beyond what is known to be there, is there. */
async function areWhole(
  { path }: Mirror,
  { ids, known }: { readonly ids: readonly string[]; readonly known: readonly string[] },
): Promise<boolean> {
  const input = [...ids, ...known.map((id) => `^${id}`)].map((line) => `${line}\n`).join("");
  const args = ["rev-list", "--objects", "--exclude-promisor-objects", "--quiet", "--stdin"];
  return (await git(path, args, { input, okCodes: [1, 128] })).code === 0;
}

/** The landed line outlives a lost mirror: the user's repository has a copy. */
export async function bringLandedBack(mirror: Mirror): Promise<void> {
  const [ours, theirs] = await Promise.all([
    readRefs(mirror.path, ["refs/ratchet/landed"]),
    readRefs(mirror.repoPath, ["refs/ratchet/landed"]),
  ]);
  const missing = [...theirs.keys()].filter((ref) => !ours.has(ref));
  if (missing.length > 0)
    await fetchFromUser(
      mirror,
      missing.map((ref) => `${ref}:${ref}`),
    );
  for (const target of givenTargets(mirror))
    if (!ours.has(landedRef(target)) && !theirs.has(landedRef(target))) unmarkGiven(mirror, target);
}

/** What the git folders of the worktrees know of their branches. */
export async function bringBranchesBack(mirror: Mirror): Promise<void> {
  for (const { gitDir, branch, baseSha } of await listCheckouts(mirror)) {
    if (branch === null) continue;
    const [own, start] = [`refs/heads/${branch}`, baseRef(branch)];
    const refs = await readRefs(mirror.path, [own, start]);
    const head = readHead(gitDir);
    const wanted = [...(head === null ? [] : [{ ref: own, to: head }]), { ref: start, to: baseSha }];
    for (const { ref, to } of wanted)
      if (!refs.has(ref) && (await areWhole(mirror, { ids: [to], known: [] })))
        await updateRefs(mirror.path, [{ ref, to }]);
  }
}
