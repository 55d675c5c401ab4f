import { join } from "node:path";
import { keepNewest } from "../../lib/keep-newest.js";
import { type Checkout, gitIn } from "../checkout/checkout-git.js";
import { type InGit, readSubmodules, type Submodule } from "./submodules.js";

/**
 * A repository inside the worktree that was committed as a link (mode 160000) and is no submodule: the commit holds
 * nothing but an id, and what the id names is only in the folder that goes with the worktree.
 */
export interface LinkRange {
  readonly base: string;
  readonly head: string;
  /** What came with a merge of it is not the agent's. */
  readonly reviewBase?: string;
}

/** Ranges of which a walk over all commits has shown that none makes a link. Commits do not change; the newest are kept. */
const linkless = new Set<string>();
const linklessKept = 1000;

export function rememberLinkless(base: string, head: string): void {
  linkless.add(`${base}..${head}`);
  keepNewest(linkless, linklessKept);
}

/** False: git has to be asked. */
export function isKnownLinkless(base: string, head: string): boolean {
  return head === base || linkless.has(`${base}..${head}`);
}

export interface Link {
  /** Paths are bytes. */
  readonly path: Buffer;
  /** The commit it names. */
  readonly id: string;
}

interface ChangedLink extends Link {
  /** There was no link at this path. */
  readonly isNew: boolean;
}

/** Those of `head` that neither `base` nor `reviewBase` has so. Usually one git process, or none. */
export async function changedLinks(checkout: Checkout, range: LinkRange): Promise<readonly ChangedLink[]> {
  const { base, head, reviewBase = base } = range;
  if (isKnownLinkless(base, head)) return [];
  const changed = await linksBetween(checkout, base, head);
  if (changed.length === 0 || reviewBase === base) return changed;
  const sinceReview = await linksBetween(checkout, reviewBase, head);
  return changed.flatMap((link) => {
    const same = sinceReview.find(({ path }) => path.equals(link.path));
    return same === undefined ? [] : [{ ...link, isNew: link.isNew && same.isNew }];
  });
}

/** Those of changed links that are new and no submodules. */
export async function bareLinks(
  checkout: Checkout,
  { head, changed }: { readonly head: string; readonly changed: readonly ChangedLink[] },
): Promise<readonly Buffer[]> {
  const added = changed.filter(({ isNew }) => isNew).map(({ path }) => path);
  if (added.length === 0) return [];
  const submodules = await readSubmodules((args) => gitIn(checkout, args, { okCodes: [1, 128] }), head);
  return added.filter((path) => !submodules.some((one) => one.path === path.toString("latin1")));
}

/** All links of the commit, submodules or not. */
export async function linksOf(checkout: Checkout, commit: string): Promise<readonly Link[]> {
  return linksFrom((await gitIn(checkout, ["ls-tree", "-r", "-z", commit])).stdout);
}

function linksFrom(listing: Buffer): readonly Link[] {
  const found = listing.toString("latin1").matchAll(/(?<=^|\0)160000 commit ([0-9a-f]+)\t([^\0]+)\0/g);
  return [...found].map(([, id = "", path = ""]) => ({ path: Buffer.from(path, "latin1"), id }));
}

async function linksBetween(checkout: Checkout, from: string, to: string): Promise<readonly ChangedLink[]> {
  // Two trees are compared: an index that the agent has broken must not matter, so none is named that is there.
  const index = join(checkout.gitDir, "ratchet", "no-index");
  const output = await gitIn(checkout, ["diff-tree", "-r", "-z", "--raw", "--no-renames", from, to], { index });
  const found = output.stdout.toString("latin1").matchAll(/:(\d{6}) 160000 [0-9a-f]+ ([0-9a-f]+) [A-Z]\0([^\0]+)\0/g);
  return [...found].map(([, before, id = "", path = ""]) => {
    return { path: Buffer.from(path, "latin1"), id, isNew: before !== "160000" };
  });
}

/** What a commit links, and where that is to be had. */
export interface Linked {
  readonly links: readonly Link[];
  readonly modules: readonly Submodule[];
}

/** null: the commit, or some of its folders, cannot be read. */
export async function readLinked(inGit: InGit, commit: string): Promise<Linked | null> {
  const listing = await inGit(["ls-tree", "-r", "-z", commit]);
  if (listing.code !== 0) return null;
  const links = linksFrom(listing.stdout);
  return { links, modules: links.length === 0 ? [] : await readSubmodules(inGit, commit) };
}
