import { lstatSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { programsIn } from "../lib/process/table.js";
import { git, gitText } from "./git.js";
import { removeIfThere } from "./small-files.js";

/**
 * A git that is killed while it writes a commit's files into a checkout leaves some of them, one or the other in half,
 * and its locks, and an index that knows of none: to git they are a person's. What is byte for byte the commit's is
 * staged, so that it can be taken back like all that a merge has brought; what is the beginning of the commit's, and was
 * written since, goes. Everything else there is a person's, and is left.
 */
export interface CutOff {
  readonly checkout: string;
  readonly commit: string;
  /** When it was begun. */
  readonly since: number;
  /** A name for an index that is needed for the moment. */
  readonly index: string;
}

/** What of the commit is in the checkout now: its tree without the new files that were not written, or are a person's. */
export async function stageCutOff(cut: CutOff): Promise<string> {
  await dropLocks(cut);
  const written = await changesTo(cut);
  const { same, others } = await compare(cut, written);
  const halves = [];
  for (const one of others) if (await isHalf(cut, one)) halves.push(one);
  const input = linesOf(same);
  if (same.length > 0) await git(cut.checkout, ["update-index", "-z", "--index-info"], { input, lockWaitMs: 0 });
  await dropHalves(cut, halves);
  const known = await namesOf(cut.checkout, ["ls-files", "-z"]);
  return await treeWithout(
    cut,
    written.filter(({ path, isNew }) => isNew && !known.has(path)),
  );
}

async function treeWithout({ checkout, commit, index }: CutOff, left: readonly Written[]): Promise<string> {
  if (left.length === 0) return commit;
  const env = { GIT_INDEX_FILE: index };
  const input = linesOf(left.map((one) => ({ ...one, mode: "0" })));
  try {
    await git(checkout, ["read-tree", commit], { env });
    await git(checkout, ["update-index", "-z", "--index-info"], { env, input });
    return await gitText(checkout, ["write-tree"], { env });
  } finally {
    removeIfThere(index);
  }
}

/** None that is older than what was begun, and none while a git works there: it may be that one's. */
async function dropLocks({ checkout, since }: CutOff): Promise<void> {
  const branch = await gitText(checkout, ["rev-parse", "--symbolic-full-name", "HEAD"]);
  const names = ["index", "HEAD", branch].flatMap((name) => ["--git-path", `${name}.lock`]);
  const locks = (await gitText(checkout, ["rev-parse", ...names])).split("\n").map((name) => resolve(checkout, name));
  const left = locks.filter((lock) => changedAt(lock) >= since);
  if (left.length === 0) return;
  const programs = programsIn(realpathSync(checkout));
  if (programs === null || programs.some((name) => name.startsWith("git"))) return;
  for (const lock of left) removeIfThere(lock);
}

/** 0: there is nothing. */
function changedAt(path: string): number {
  return lstatSync(path, { throwIfNoEntry: false })?.ctimeMs ?? 0;
}

interface Written {
  readonly mode: string;
  readonly id: string;
  /** Byte for byte, as Latin-1. */
  readonly path: string;
  readonly isNew: boolean;
}

/** What the merge was to write. Other repositories' commits are none of its files. */
async function changesTo({ checkout, commit }: CutOff): Promise<readonly Written[]> {
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "HEAD", commit];
  const output = (await git(checkout, args)).stdout.toString("latin1");
  const found = [...output.matchAll(/:(\d+) (\d+) [0-9a-f]+ ([0-9a-f]+) [A-Z]\0([^\0]+)\0/g)];
  return found.flatMap(([, before, mode = "", id = "", path = ""]) =>
    mode === "000000" || mode === "160000" ? [] : [{ mode, id, path, isNew: before === "000000" }],
  );
}

function linesOf(entries: readonly Written[]): Buffer {
  return Buffer.from(entries.map(({ mode, id, path }) => `${mode} ${id}\t${path}\0`).join(""), "latin1");
}

/** Through an index of just these: git itself knows about filters, links and modes. */
async function compare({ checkout, index }: CutOff, written: readonly Written[]) {
  const env = { GIT_INDEX_FILE: index };
  try {
    removeIfThere(index);
    await git(checkout, ["update-index", "-z", "--index-info"], { env, input: linesOf(written) });
    await git(checkout, ["update-index", "-q", "--refresh"], { env, okCodes: [1] });
    const other = await namesOf(checkout, ["diff-files", "--name-only", "-z"], env);
    const mine = await namesOf(checkout, ["diff-files", "--name-only", "-z"]);
    const known = await namesOf(checkout, ["ls-files", "-z"]);
    const isDirty = ({ path, isNew }: Written) => (isNew ? !known.has(path) : mine.has(path));
    return {
      same: written.filter(({ path }) => !other.has(path)),
      others: written.filter((one) => other.has(one.path) && isDirty(one)),
    };
  } finally {
    removeIfThere(index);
  }
}

async function namesOf(checkout: string, args: readonly string[], env: Record<string, string> = {}) {
  return new Set((await git(checkout, args, { env })).stdout.toString("latin1").split("\0"));
}

async function isHalf({ checkout, since }: CutOff, { mode, id, path }: Written): Promise<boolean> {
  const name = nameOf(path);
  const found = lstatSync(join(checkout, name), { throwIfNoEntry: false });
  if (!mode.startsWith("100") || !found?.isFile() || found.ctimeMs < since) return false;
  const whole = (await git(checkout, ["cat-file", "--filters", `--path=${name}`, id])).stdout;
  const there = readFileSync(join(checkout, name));
  return there.length < whole.length && whole.subarray(0, there.length).equals(there);
}

function nameOf(path: string): string {
  return Buffer.from(path, "latin1").toString("utf8");
}

async function dropHalves({ checkout }: CutOff, halves: readonly Written[]): Promise<void> {
  for (const { path } of halves.filter(({ isNew }) => isNew)) rmSync(join(checkout, nameOf(path)));
  const older = halves.filter(({ isNew }) => !isNew);
  if (older.length === 0) return;
  const input = Buffer.from(older.map(({ path }) => `${path}\0`).join(""), "latin1");
  await git(checkout, ["checkout-index", "--force", "--index", "-z", "--stdin"], { input, lockWaitMs: 0 });
}
