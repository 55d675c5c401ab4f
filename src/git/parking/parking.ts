import { randomBytes } from "node:crypto";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { exists, isMissing, namesIn } from "../../lib/files.js";
import { safeName } from "../../lib/home.js";
import { findWholeCheckout } from "../checkout/checkout.js";
import { type Checkout, gitIn } from "../checkout/checkout-git.js";
import { resolveHead } from "../head.js";
import { type Mirror, type RefChange, readRefs, updateRefs } from "../mirror/mirror-refs.js";
import { isKnownLinkless } from "../objects/links.js";
import { asAuthor } from "../repository.js";
import { putText, readOr, removeIfThere } from "../small-files.js";
import { shareBranch } from "../worktree/snapshot.js";
import {
  type Change,
  isProvenAt,
  operationsIn,
  readChanges,
  treeOfFiles,
  unfinishedOperations,
} from "../worktree/status.js";
import { packFiles } from "./archive.js";
import { hasLooseRepositories, isThere, linkedRepositories } from "./linked-repositories.js";
import { commitsToKeep, hasOwnRefs, stagedBlobs } from "./own-refs.js";

/**
 * Parked work is one commit: its tree is the files as they were, for people to look at; its first parent is HEAD; its
 * second parent holds what a tree cannot say and what a restore uses: the changed files byte for byte (modes, links,
 * line ends, nested repositories), what was deleted, and the state of the git folder (index, branches, stash, an
 * unfinished rebase). Every commit the agent's refs name is an ancestor, so none is ever collected.
 */
export interface Parked {
  readonly ref: string;
  readonly sha: string;
}

export const parkedRefs = "refs/ratchet/parked";
/** Parked work that openWorktree does not take up by itself: it was restored before, or belongs to landed work. */
export const settledRefs = "refs/ratchet/settled";

export async function parkWork(
  mirror: Mirror,
  { path, issue }: { readonly path: string; readonly issue: string },
): Promise<Parked | null> {
  return await parkCheckout(await findWholeCheckout(mirror, path), { name: safeName(issue) });
}

export interface ParkOptions {
  readonly name?: string;
  /** False: it is known that there are commits alone. */
  readonly loose?: boolean;
  /** What happens to other refs in the moment that it is parked: both or neither. */
  readonly also?: (parked: Parked) => readonly RefChange[];
}

/** null: there is nothing that is not in the base already. */
export async function parkCheckout(
  checkout: Checkout,
  { name = parkedName(checkout), loose, also = () => [] }: ParkOptions = {},
): Promise<Parked | null> {
  const head = resolveHead(checkout.gitDir) ?? checkout.baseSha;
  const changes = await readChanges(checkout, head);
  if (head === checkout.baseSha && !(await hasLooseEnds(checkout, { head, changes }))) return null;
  const left = { head, changes, ...(loose === false && changes.length === 0 ? { commitsOnly: true } : {}) };
  const [tree, state] = [await filesTree(checkout, left), await writeState(checkout, left)];
  const env = asAuthor({ name: "Ratchet", email: "ratchet@localhost" });
  const args = ["commit-tree", tree, "-p", head, "-p", state, "-m", `Parked work of ${name}`];
  const sha = (await gitIn(checkout, args, { env })).stdout.toString().trim();
  await shareBranch(checkout, head);
  return await addRef(checkout.mirror, { name, sha, also });
}

function parkedName(checkout: Checkout): string {
  return (checkout.branch ?? "detached").replace(/^ratchet\//, "");
}

/** Anything besides commits on the branch that would go with the worktree. */
export async function hasLooseEnds(checkout: Checkout, { head, changes }: Left): Promise<boolean> {
  if (changes.length > 0 || (await unfinishedOperations(checkout)).length > 0) return true;
  if ((await exists(join(checkout.gitDir, "replaced"))) || (await hasOwnRefs(checkout, head))) return true;
  return await hasLooseRepositories(checkout, head);
}

/** The same as far as it can be told without git, which may run in a checkout only once it is repaired. False: it has to look. */
export async function holdsNothingLoose(checkout: Checkout, head: string): Promise<boolean> {
  const there = namesIn(checkout.gitDir);
  return (
    operationsIn(there).length === 0 &&
    !there.includes("replaced") &&
    !there.includes("modules") &&
    isKnownLinkless(checkout.baseSha, head) &&
    isProvenAt(checkout, head) &&
    !(await hasOwnRefs(checkout, head))
  );
}

interface Left {
  readonly head: string;
  readonly changes: readonly Change[];
  readonly commitsOnly?: boolean;
}

async function filesTree(checkout: Checkout, { head, changes }: Left): Promise<string> {
  if (changes.length === 0) return (await gitIn(checkout, ["rev-parse", `${head}^{tree}`])).stdout.toString().trim();
  return await treeOfFiles(checkout, { head, changes });
}

async function writeState(checkout: Checkout, { head, changes, ...what }: Left): Promise<string> {
  const folder = join(checkout.gitDir, "ratchet", `park-${randomBytes(4).toString("hex")}`);
  await mkdir(folder, { recursive: true });
  try {
    const there = changes.filter(({ kind }) => kind !== "deleted").map(({ path }) => path);
    const [linked, hidden] = await Promise.all([linkedRepositories(checkout, head), hiddenRepositories(checkout)]);
    const committed = linked.filter((link) => !there.some((path) => path.equals(link)));
    await packFiles(join(folder, "files.tar"), checkout.path, [...there, ...committed, ...hidden]);
    await packFiles(join(folder, "gitdir.tar"), checkout.gitDir, await stateFiles(checkout.gitDir));
    const gone = changes.filter(({ kind }) => kind === "deleted").flatMap(({ path }) => [path, Buffer.of(0)]);
    await writeFile(join(folder, "deleted"), Buffer.concat(gone));
    const { branch, baseSha } = checkout;
    await writeFile(join(folder, "meta.json"), JSON.stringify({ version: 1, branch, baseSha, head, ...what }));
    return await commitState(checkout, folder, head);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function commitState(checkout: Checkout, folder: string, head: string): Promise<string> {
  const names = ["deleted", "files.tar", "gitdir.tar", "meta.json"];
  const hashed = await gitIn(checkout, [
    "hash-object",
    "-w",
    "--no-filters",
    ...names.map((name) => join(folder, name)),
  ]);
  const ids = hashed.stdout.toString().trim().split("\n");
  const entries = names.map((name, index) => `100644 blob ${ids[index] ?? ""}\t${name}\0`);
  const staged = (await stagedBlobs(checkout, head)).map((id) => `100644 blob ${id}\t${id}\0`);
  if (staged.length > 0) entries.push(`040000 tree ${await makeTree(checkout, staged)}\tstaged\0`);
  const tree = await makeTree(checkout, entries);
  const parents = (await commitsToKeep(checkout, head)).flatMap((commit) => ["-p", commit]);
  const env = asAuthor({ name: "Ratchet", email: "ratchet@localhost" });
  const made = await gitIn(checkout, ["commit-tree", tree, ...parents, "-m", "State of the checkout"], { env });
  return made.stdout.toString().trim();
}

async function makeTree(checkout: Checkout, entries: readonly string[]): Promise<string> {
  return (await gitIn(checkout, ["mktree", "-z"], { input: entries.join("") })).stdout.toString().trim();
}

/** Settings are Ratchet's and objects are shared already; locks die with their owners. */
async function stateFiles(gitDir: string): Promise<readonly Buffer[]> {
  const names = await readdir(gitDir);
  const left = names.filter((name) => !/^(objects|config|config\.worktree|info|hooks|ratchet.*|.*\.lock)$/.test(name));
  return left.map((name) => Buffer.from(name));
}

/** A `.git` that an agent made in a folder with tracked files: git looks through it, so no status names it. */
async function hiddenRepositories(checkout: Checkout): Promise<readonly Buffer[]> {
  const listing = (await gitIn(checkout, ["ls-files", "-z"], { own: true })).stdout.toString("latin1").split("\0");
  const folders = new Set<string>();
  for (const path of listing) {
    for (let cut = path.lastIndexOf("/"); cut > 0; cut = path.lastIndexOf("/", cut - 1))
      folders.add(path.slice(0, cut));
  }
  const root = Buffer.from(`${checkout.path}/`);
  const found: Buffer[] = [];
  for (const folder of folders) {
    const name = Buffer.from(`${folder}/.git`, "latin1");
    if (await isThere(Buffer.concat([root, name]))) found.push(name);
  }
  return found;
}

async function addRef(
  mirror: Mirror,
  { name, sha, also }: { readonly name: string; readonly sha: string } & Required<Pick<ParkOptions, "also">>,
): Promise<Parked> {
  for (;;) {
    const numbers = (await numbersOf(mirror, name)).concat(0);
    const parked = { ref: `${parkedRefs}/${name}/${Math.max(...numbers) + 1}`, sha };
    if (!(await updateRefs(mirror.path, [{ ref: parked.ref, to: sha, from: null }, ...also(parked)]))) continue;
    putText(parksFile(mirror), "parked\n");
    return parked;
  }
}

/** Beside the refs: where they go, work that somebody has given up is found again, and must not be taken up again. */
export function noteGivenUp(mirror: Mirror, commits: readonly string[]): void {
  const known = readGivenUp(mirror);
  const added = commits.filter((commit) => !known.has(commit));
  if (added.length > 0) putText(givenUpFile(mirror), [...known, ...added].map((commit) => `${commit}\n`).join(""));
}

export function readGivenUp(mirror: Mirror): ReadonlySet<string> {
  return new Set(readOr(givenUpFile(mirror)).split("\n").filter(Boolean));
}

function givenUpFile({ path }: Mirror): string {
  return join(path, "ratchet", "given-up");
}

/** Something is parked: where no ref says so any more, the refs went. */
export function hasMarkedParked(mirror: Pick<Mirror, "path">): boolean {
  return !isMissing(parksFile(mirror));
}

export async function unmarkParked(mirror: Mirror): Promise<void> {
  if ((await readRefs(mirror.path, [parkedRefs])).size === 0) removeIfThere(parksFile(mirror));
}

function parksFile({ path }: Pick<Mirror, "path">): string {
  return join(path, "ratchet", "parks");
}

export async function numbersOf(mirror: Mirror, name: string): Promise<number[]> {
  const refs = await readRefs(mirror.path, [`${parkedRefs}/${name}`]);
  return [...refs.keys()].map((ref) => Number(ref.slice(ref.lastIndexOf("/") + 1)));
}

export async function listParked(
  mirror: Mirror,
): Promise<readonly (Parked & { readonly name: string; readonly n: number })[]> {
  const refs = await readRefs(mirror.path, [parkedRefs]);
  return [...refs].map(([ref, sha]) => {
    const [name = "", n = ""] = ref.slice(parkedRefs.length + 1).split("/");
    return { ref, sha, name, n: Number(n) };
  });
}
