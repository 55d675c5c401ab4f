import { readFileSync, realpathSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { ExternalError, messageOf } from "../../lib/errors.js";
import { programsIn } from "../../lib/process/table.js";
import { git, gitText } from "../git.js";
import { linkStatsOf, removeIfThere } from "../small-files.js";
import { isBelowOther } from "./gone-files.js";
import {
  type BegunMerge,
  type Change,
  entriesAt,
  entriesOf,
  isEntry,
  isSame,
  listOf,
  nameOf,
  namesOf,
  putEntries,
  withIndex,
} from "./merge-changes.js";

/**
 * A git that is killed while it writes a commit's files into a checkout, or that cannot go on, leaves some of them, one or
 * the other in half, and an index that knows of none: to git they are a person's. One that is killed leaves its locks, too.
 * What is byte for byte the commit's is staged, so that it can be taken back like all that a merge has brought; what is the
 * beginning of the commit's goes. Both only where they were written while git was at it. Everything else there is a
 * person's, and is left; what of it is staged is returned.
 */
export async function stageCutOff(begun: BegunMerge): Promise<ReadonlySet<string>> {
  const { checkout, changes } = begun;
  if (begun.until === null) await dropLocks(begun);
  const entries = await entriesOf(checkout);
  const staged = changes.filter(({ path, after }) => isSame(entries.get(path), after));
  // It had come to writing the index.
  if (staged.length * 2 > changes.length) return new Set();
  // Other repositories' commits are none of its files.
  const written = changes.filter(({ after }) => isEntry(after) && after.mode !== "160000");
  // Staged by an earlier look that did not come to its end, perhaps.
  const unknown = written.filter(({ path, before, after }) =>
    [before, after].some((entry) => isSame(entries.get(path), entry)),
  );
  const { same, others } = unknown.length === 0 ? { same: [], others: [] } : await compare(begun, unknown);
  const halves = [];
  for (const one of others) if (await isHalf(begun, one)) halves.push(one);
  const times = [...same, ...halves].map(({ path }) => ({ path, at: changedAt(join(checkout, nameOf(path))) }));
  const inOneGo = writtenInOneGo(times, begun);
  // These first: on a full disk they make the room for the index.
  for (const { path } of halves) if (inOneGo.has(path)) removeHalf(join(checkout, nameOf(path)));
  const ours = same.filter(({ path }) => inOneGo.has(path));
  if (ours.length > 0) await putEntries(checkout, entriesAt(ours, "after"));
  return new Set(staged.flatMap(({ path }) => (inOneGo.has(path) ? [] : [path])));
}

/** Its folder may not be writable any more. */
function removeHalf(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch (error) {
    throw new ExternalError("git", `${path}, of a merge that was cut off, could not be removed (${messageOf(error)})`, {
      cause: error,
    });
  }
}

/** 0: there is nothing. */
function changedAt(path: string): number {
  return linkStatsOf(path)?.ctimeMs ?? 0;
}

/** Longer than git takes from one file to the next, and shorter than a person from a kill to their next file. */
const pauseMs = 2000;

/** The paths that were written since, up to the end; where nobody knows of it, up to the first pause. */
export function writtenInOneGo(
  times: readonly { readonly path: string; readonly at: number }[],
  { since, until }: Pick<BegunMerge, "since" | "until">,
): ReadonlySet<string> {
  const later = times.filter(({ at }) => at >= since).sort((a, b) => a.at - b.at);
  if (until !== null) return new Set(later.flatMap(({ path, at }) => (at <= until ? [path] : [])));
  const end = later.findIndex(({ at }, index) => index > 0 && at - (later[index - 1]?.at ?? at) > pauseMs);
  return new Set(later.slice(0, end === -1 ? later.length : end).map(({ path }) => path));
}

/**
 * What the merge had deleted, to write it anew or for good, when it was cut off, is there again. Only what the index has:
 * a person's own deletion of such a file cannot be told from it, and comes with the next merge.
 */
export async function bringBackDeleted(begun: BegunMerge): Promise<void> {
  const { checkout, changes, until } = begun;
  const missing = await namesOf(checkout, ["ls-files", "--deleted", "-z"]);
  // git would go no further than to the first that has something of a person's in its way.
  const deleted = changes.filter(
    ({ path, before }) => isEntry(before) && missing.has(path) && !isBelowOther(checkout, nameOf(path)),
  );
  if (deleted.length === 0) return;
  const input = listOf(deleted.map(({ path }) => path));
  // What has kept the merge from going on may keep this from it, too: then it is tried again.
  const okCodes = until === null ? [1] : [];
  await git(checkout, ["checkout-index", "--index", "-q", "-z", "--stdin"], { input, okCodes, lockWaitMs: 0 });
}

/** None that is older than what was begun, and none while a git works there: it may be that one's. */
async function dropLocks({ checkout, since }: BegunMerge): Promise<void> {
  const branch = await gitText(checkout, ["rev-parse", "--symbolic-full-name", "HEAD"]);
  const locked = ["index", "index.ratchet", "HEAD", branch];
  const names = locked.flatMap((name) => ["--git-path", `${name}.lock`]);
  const locks = (await gitText(checkout, ["rev-parse", ...names])).split("\n").map((name) => resolve(checkout, name));
  const left = locks.filter((lock) => changedAt(lock) >= since);
  if (left.length === 0) return;
  const programs = programsIn(realpathSync(checkout));
  if (programs === null || programs.some((name) => name.startsWith("git"))) return;
  for (const lock of left) removeIfThere(lock);
}

/** Through an index of just these: git itself knows about filters, links and modes. */
async function compare(begun: BegunMerge, written: readonly Change[]) {
  const { checkout } = begun;
  const names = ["diff-files", "--name-only", "-z"];
  const different = await withIndex(begun, async (env) => {
    await putEntries(checkout, entriesAt(written, "after"), env);
    await git(checkout, ["update-index", "-q", "--refresh"], { env, okCodes: [1] });
    return await namesOf(checkout, names, env);
  });
  const dirty = await namesOf(checkout, names);
  const isDirty = ({ path, before }: Change) => !isEntry(before) || dirty.has(path);
  return {
    same: written.filter(({ path }) => !different.has(path)),
    others: written.filter((one) => different.has(one.path) && isDirty(one)),
  };
}

async function isHalf({ checkout }: BegunMerge, { path, after }: Change): Promise<boolean> {
  const name = nameOf(path);
  if (!after.mode.startsWith("100") || !linkStatsOf(join(checkout, name))?.isFile()) return false;
  const whole = (await git(checkout, ["cat-file", "--filters", `--path=${name}`, after.id])).stdout;
  const there = readFileSync(join(checkout, name));
  return there.length < whole.length && whole.subarray(0, there.length).equals(there);
}
