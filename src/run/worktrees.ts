import { basename, dirname, join } from "node:path";
import type { WorkState } from "../core/gc.js";
import { findWholeCheckout, hasCheckout, readCheckout } from "../git/checkout/checkout.js";
import { git, gitText } from "../git/git.js";
import { readHead } from "../git/head.js";
import { isLanded } from "../git/landing/land.js";
import { readEnds } from "../git/landing/tip.js";
import type { Mirror } from "../git/mirror/mirror.js";
import { baseRef, hasCommit, isAncestor, readRefs } from "../git/mirror/mirror-refs.js";
import { parkAll, settleAll } from "../git/parking/afresh.js";
import { type Aside, listAside } from "../git/parking/aside.js";
import { findHalfParked, listParked, restoreParked } from "../git/parking/park.js";
import { newestParked } from "../git/parking/restore.js";
import {
  type Changed,
  changedFiles,
  changedPaths,
  diffCommits,
  diffFiles,
  type Patch,
  type PatchOptions,
} from "../git/worktree/diff.js";
import { listWorktrees, removeWorktree } from "../git/worktree/worktree.js";
import { Refusal } from "../lib/errors.js";
import { exists, namesIn } from "../lib/files.js";
import { safeName } from "../lib/home.js";
import { withLock } from "../lib/lock.js";
import { openProjectMirror, type ProjectMirror } from "./project-mirror.js";

/** The issues' checkouts as a person sees them from outside of a run. */
export interface Worktrees {
  /** Whoever puts a worktree aside, brings one back or begins it again does it alone, and asks first of all who works in it. */
  alone<T>(issueId: string, task: () => Promise<T>): Promise<T>;
  list(): Promise<readonly WorktreeView[]>;
  /** Puts everything that is nowhere else aside and removes the checkout. `ref` null: there was nothing to put aside. */
  park(issueId: string): Promise<{ readonly path: string; readonly ref: string | null }>;
  restore(issueId: string): Promise<{ readonly path: string; readonly ref: string; readonly parked: string | null }>;
  /**
   * Puts all that the issue has left aside: its next worktree has it again, unless `giveUp` says and notes that it is for
   * good. Returns where it is now.
   */
  putAllAside(issueId: string, giveUp: () => Promise<void>): Promise<readonly string[]>;
  /** Of work that is done with: what is nowhere else is put aside, the checkout goes. `merged`: the head of the pull request that brought it in. */
  drop(issueId: string, merged: string | null): Promise<void>;
  /** From the commit the issue started at to its files as they are; without a checkout to its last commit, or what is parked. */
  diff(issueId: string, known: Known, options?: PatchOptions): Promise<Patch | null>;
  /** The names of the files in that. null, of both: nothing is known of any work. */
  changed(issueId: string, known: Known): Promise<Changed | null>;
  work(issueId: string, target: string): Promise<WorkState>;
}
/** Between what its work is, as far as that is known; what is asked with comes from the record of its last run. */
interface Known {
  /** Newest first. What was to be merged, and never was, is among them: the work starts at the first that it contains. */
  readonly bases: readonly string[];
  readonly head: string | null;
}
interface WorktreeView {
  /** The issue's id as a file name. */
  readonly name: string;
  readonly path: string;
  readonly branch: string | null;
  readonly head: string | null;
  readonly present: boolean;
  readonly parked: readonly string[];
  /** Where files went that were in its way. */
  readonly aside: readonly string[];
}

export interface WorktreesOf extends ProjectMirror {
  /** Where an issue's work began, as its record says: the mirror may be gone. */
  readonly baseOf?: (issueId: string) => Promise<string | null>;
}

export function openWorktrees(place: WorktreesOf): Worktrees {
  const { home, projectId, repoPath, baseOf } = place;
  const mirrorPath = home.mirror(projectId);
  const pathOf = (issueId: string) => home.worktree(projectId, safeName(issueId));
  const openIt = () => openProjectMirror(place);
  // Where an agent has deleted the mirror, the files of a worktree are there all the same, or the branch that the user was given.
  const isAnywhere = async (issueId: string) =>
    (await exists(mirrorPath)) || (await exists(pathOf(issueId))) || (await isGiven(repoPath, issueId));
  const find = (found: Mirror, path: string, issueId: string) => findAgain(found, path, () => baseOf?.(issueId));
  const mirror = async (issueId: string): Promise<Mirror> => {
    if (await isAnywhere(issueId)) return await openIt();
    throw new Refusal(`${issueId} has no worktree`, { code: "not-found", hint: "ratchet worktree list" });
  };
  const ofIssue = async (issueId: string, known: Known) => {
    if (!(await isAnywhere(issueId))) return null;
    const [found, path] = [await openIt(), pathOf(issueId)];
    await find(found, path, issueId);
    return await endsOf(found, { ...known, issueId, path });
  };
  const alone: Worktrees["alone"] = (issueId, task) => withLock(home.worktreeLock(projectId, safeName(issueId)), task);
  return {
    alone,
    list: async () => {
      const folder = dirname(pathOf("any"));
      const names = namesIn(folder).filter(isIssues);
      const isKnown = names.length > 0 || (await exists(mirrorPath));
      return withAside(isKnown ? await listAll(await openIt(), { folder, names, find }) : [], await listAside(folder));
    },
    park: async (issueId) => {
      const [found, path] = [await mirror(issueId), pathOf(issueId)];
      if (!(await find(found, path, issueId))) {
        throw new Refusal(`${issueId} has no worktree`, { code: "not-found", hint: "ratchet worktree list" });
      }
      const { branch } = await readCheckout(found, path);
      const named = branch ?? `ratchet/${safeName(issueId)}`;
      const { parked } = await removeWorktree(found, { path, branch: named, issue: issueId });
      return { path, ref: parked?.ref ?? null };
    },
    putAllAside: async (issueId, giveUp) => {
      const found = (await isAnywhere(issueId)) ? await openIt() : null;
      const path = pathOf(issueId);
      if (found) await find(found, path, issueId);
      const left = { path, issue: issueId, base: (await baseOf?.(issueId)) ?? null };
      const parked = found ? await parkAll(found, left) : [];
      await giveUp();
      if (found) await settleAll(found, issueId);
      return parked;
    },
    drop: async (issueId, merged) => {
      if (!(await exists(mirrorPath))) return;
      const found = await openIt();
      const branch = `ratchet/${safeName(issueId)}`;
      // Commits that others pushed are not here: then the branch is kept aside, rather than taken for merged.
      const landed = merged !== null && (await hasCommit(found.path, merged)) ? merged : null;
      const left = { path: pathOf(issueId), branch, issue: issueId, landed };
      await alone(issueId, () => removeWorktree(found, left));
    },
    restore: async (issueId) => await restoreParked(await mirror(issueId), { issue: issueId, path: pathOf(issueId) }),
    diff: async (issueId, known, options = {}) => {
      const ends = await ofIssue(issueId, known);
      if (ends === null) return null;
      if (ends.checkout) return await diffFiles(ends.checkout, ends.base, options);
      return { patch: await diffCommits(ends.mirror, ends, options), nested: [] };
    },
    changed: async (issueId, known) => {
      const ends = await ofIssue(issueId, known);
      if (ends === null) return null;
      if (ends.checkout) return await changedFiles(ends.checkout, ends.base);
      return { names: await changedPaths(ends.mirror, ends), nested: [] };
    },
    work: async (issueId, target) => {
      if (!(await isAnywhere(issueId))) return "none";
      const [found, path] = [await openIt(), pathOf(issueId)];
      await find(found, path, issueId);
      return await workOf(found, { issueId, path, target });
    },
  };
}

/** Is there a checkout? One whose mirror was deleted with its git folder says again what it is, where its record knows where it began. */
async function findAgain(
  mirror: Mirror,
  path: string,
  baseOf: () => Promise<string | null> | undefined,
): Promise<boolean> {
  if (await hasCheckout(mirror, path)) return true;
  const base = (await exists(join(path, ".git"))) ? await baseOf() : null;
  if (!base || !(await hasCommit(mirror.path, base))) return false;
  return await hasCheckout(mirror, path, base);
}

async function isGiven(repoPath: string, issueId: string): Promise<boolean> {
  return (await readRefs(repoPath, [`refs/heads/ratchet/${safeName(issueId)}`])).size > 0;
}

/** What begins with "_" belongs to runs, and no issue's name does. */
export function isIssues(name: string): boolean {
  return !/^[._]|\.aside-[0-9a-f]{8}$/.test(name);
}

async function workOf(
  mirror: Mirror,
  { issueId, path, target }: { readonly issueId: string; readonly path: string; readonly target: string },
): Promise<WorkState> {
  const name = safeName(issueId);
  const [own, theirs] = [`refs/heads/ratchet/${name}`, `refs/user/heads/ratchet/${name}`];
  const start = baseRef(`ratchet/${name}`);
  const refs = await readRefs(mirror.path, [
    own,
    theirs,
    start,
    `refs/ratchet/parked/${name}`,
    `refs/ratchet/settled/${name}`,
  ]);
  const checkout = (await hasCheckout(mirror, path)) ? await readCheckout(mirror, path) : null;
  const there = checkout && readHead(checkout.gitDir);
  // It is broken, and nobody can say what else is in it.
  if (checkout !== null && there === null) return "unlanded";
  const isHalf = checkout === null && (await findHalfParked(mirror, name)) !== null;
  const head = there ?? (isHalf ? undefined : refs.get(own)) ?? refs.get(theirs);
  // Where there is nothing but the commit that it began from, nothing of it has landed with that.
  const isBare = head === (checkout?.baseSha ?? refs.get(start));
  if (head === undefined || (isBare && checkout === null)) return newestParked(refs, name) === null ? "none" : "parked";
  if (isBare) return "unlanded";
  // Or merged by hand.
  return (await isLanded(mirror, target, head)) || (await isInUsers(mirror, target, head)) ? "landed" : "unlanded";
}

async function isInUsers(mirror: Mirror, target: string, head: string): Promise<boolean> {
  const { user } = await readEnds(mirror, target);
  // What was committed in a worktree alone is in none of the user's.
  return user !== null && (await hasCommit(mirror.path, head)) && (await isAncestor(mirror.path, head, user));
}

type Listed = Omit<WorktreeView, "aside">;

function withAside(views: readonly Listed[], all: readonly Aside[]): WorktreeView[] {
  const asideOf = (name: string) => all.filter((one) => one.name === name).map(({ path }) => path);
  const known = new Set(views.map(({ name }) => name));
  const others = [...new Set(all.map(({ name }) => name))].filter((name) => !known.has(name) && !name.startsWith("_"));
  const gone = others.map((name) => ({ name, path: "", branch: null, head: null, present: false, parked: [] }));
  return [...views, ...gone].map((view) => ({ ...view, aside: asideOf(view.name) }));
}

interface Listing {
  readonly folder: string;
  readonly names: readonly string[];
  readonly find: (mirror: Mirror, path: string, issueId: string) => Promise<boolean>;
}

async function listAll(mirror: Mirror, { folder, names: there, find }: Listing): Promise<Listed[]> {
  // One whose git folder an agent has deleted says again what it is when it is asked for.
  for (const name of there) await find(mirror, join(folder, name), name);
  const [open, parked] = [await listWorktrees(mirror), await listParked(mirror)];
  const refsOf = (name: string) => parked.filter((one) => one.name === name).map(({ ref }) => ref);
  const issues = open.filter(({ path }) => isIssues(basename(path)));
  const views = issues.map(({ path, branch, head, present }) => {
    const name = basename(path);
    return { name, path, branch, head, present, parked: refsOf(name) };
  });
  const names = new Set(views.map(({ name }) => name));
  const closed = [...new Set(parked.map(({ name }) => name))].filter((name) => !names.has(name));
  return [
    ...views,
    ...closed.map((name) => ({ name, path: "", branch: null, head: null, present: false, parked: refsOf(name) })),
  ];
}

interface EndsOf extends Known {
  readonly issueId: string;
  readonly path: string;
}

/** Between what its changes are: up to the files of its checkout, or up to a commit. */
async function endsOf(mirror: Mirror, { issueId, path, bases, head }: EndsOf) {
  if ((await hasCheckout(mirror, path)) && (await exists(path))) {
    const checkout = await findWholeCheckout(mirror, path);
    // One that was restored may be of an earlier life than the record, and began elsewhere.
    const { gitDir, baseSha } = checkout;
    return { checkout, base: (await startOf(gitDir, [...bases, baseSha], checkout.head)) ?? baseSha };
  }
  const kept = await keptOf(mirror, safeName(issueId));
  const last = head ?? kept.head;
  if (last === null) return null;
  const own = await ownHead(mirror, last);
  const base = await startOf(mirror.path, [...bases, ...kept.bases], own);
  return base === null ? null : { checkout: null, mirror, base, head: own };
}

/** Work that contains none of them was put elsewhere: what it shares with the target then. null: none is known. */
async function startOf(repo: string, bases: readonly string[], head: string): Promise<string | null> {
  const known: string[] = [];
  for (const base of new Set(bases)) if (await hasCommit(repo, base)) known.push(base);
  for (const base of known) if (await isAncestor(repo, base, head)) return base;
  const [newest] = known;
  if (newest === undefined) return bases.at(-1) ?? null;
  const shared = (await git(repo, ["merge-base", newest, head], { okCodes: [1] })).stdout.toString().trim();
  return shared || newest;
}

/**
 * What the mirror has of it, which outlives the record of its runs: where its branch is, unless that is left over from what
 * was put aside; else that, whose tree has the files that were not committed, too; else the branch that the user was given.
 */
async function keptOf(mirror: Mirror, name: string): Promise<Known> {
  const branch = `ratchet/${name}`;
  const [own, theirs, start] = [`refs/heads/${branch}`, `refs/user/heads/${branch}`, baseRef(branch)];
  const asides = [`refs/ratchet/parked/${name}`, `refs/ratchet/settled/${name}`];
  const refs = await readRefs(mirror.path, [own, theirs, start, ...asides]);
  const parked = refs.get(`refs/ratchet/parked/${name}/${newestParked(refs, name)}`);
  const base = refs.get(start);
  const half = await findHalfParked(mirror, name);
  const head = half?.sha ?? refs.get(own) ?? parked ?? refs.get(theirs) ?? null;
  return { bases: base === undefined ? [] : [base], head };
}

/** A merge of Ratchet's own brings in what others did: the issue's work is its second parent. */
async function ownHead(mirror: Mirror, commit: string): Promise<string> {
  const format = "--format=%P|%(trailers:key=Ratchet-Issue,valueonly,separator=%x2C)";
  const [parents = "", issue = ""] = (await gitText(mirror.path, ["log", "-1", format, commit])).split("|");
  const [, second] = parents.split(" ");
  return second !== undefined && issue.trim() !== "" ? second : commit;
}
