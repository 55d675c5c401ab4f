import { git, gitText } from "../git.js";
import { removeIfThere } from "../small-files.js";

/** A merge that was begun in somebody's checkout. */
export interface BegunMerge {
  readonly checkout: string;
  /** What it was to write and to delete. */
  readonly changes: readonly Change[];
  /** When it was begun. */
  readonly since: number;
  /** When git gave it up in the middle. Null: it was killed, and nobody knows when. */
  readonly until: number | null;
  /** A name for an index that is needed for the moment. */
  readonly index: string;
}

/** One path that differs between HEAD and the commit. */
export interface Change {
  /** Byte for byte, as Latin-1. */
  readonly path: string;
  readonly before: Entry;
  readonly after: Entry;
}
export interface Entry {
  readonly mode: string;
  readonly id: string;
}
type EntryAt = Entry & { readonly path: string };

export function entriesAt(changes: readonly Change[], when: "before" | "after"): readonly EntryAt[] {
  return changes.map((change) => ({ path: change.path, ...change[when] }));
}

/** As git tells that there is nothing at a path. */
const nothing = "000000";

export function isEntry({ mode }: Entry): boolean {
  return mode !== nothing;
}

export function isSame(a: Entry | undefined, b: Entry): boolean {
  return a === undefined ? !isEntry(b) : a.mode === b.mode && a.id === b.id;
}

/**
 * All that a merge of `commit` into `from` was to write and to delete, but for what a person has another version of checked
 * out by now.
 */
export async function changesOf(checkout: string, from: string, commit: string): Promise<readonly Change[]> {
  const [begun, now] = await Promise.all([
    changesBetween(checkout, from, commit),
    changesBetween(checkout, "HEAD", commit),
  ]);
  const same = new Map(now.map((one) => [one.path, one]));
  return begun.filter(({ path, before }) => {
    const other = same.get(path);
    return other !== undefined && isSame(other.before, before);
  });
}

export async function changesBetween(checkout: string, from: string, to: string): Promise<readonly Change[]> {
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", from, to];
  const output = (await git(checkout, args)).stdout.toString("latin1");
  const found = output.matchAll(/:(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) [A-Z]\0([^\0]+)\0/g);
  return [...found].map(([, modeBefore = "", modeAfter = "", idBefore = "", idAfter = "", path = ""]) => ({
    path,
    before: { mode: modeBefore, id: idBefore },
    after: { mode: modeAfter, id: idAfter },
  }));
}

/** What the user's index has, by path. Conflicts are nobody's. */
export async function entriesOf(checkout: string): Promise<ReadonlyMap<string, Entry>> {
  const output = (await git(checkout, ["ls-files", "--stage", "-z"])).stdout.toString("latin1");
  const found = output.matchAll(/(\d+) ([0-9a-f]+) (\d)\t([^\0]+)\0/g);
  return new Map(
    [...found].map(([, mode = "", id = "", stage, path = ""]) => [path, { mode: stage === "0" ? mode : "", id }]),
  );
}

export async function namesOf(checkout: string, args: readonly string[], env: Record<string, string> = {}) {
  return new Set((await git(checkout, args, { env })).stdout.toString("latin1").split("\0"));
}

/** An entry that is none takes what is at its path out. */
export function putEntries(checkout: string, entries: readonly EntryAt[], env: Record<string, string> = {}) {
  const lines = entries.map(({ mode, id, path }) => `${mode} ${id}\t${path}\0`).join("");
  const input = Buffer.from(lines, "latin1");
  return git(checkout, ["update-index", "-z", "--index-info"], { env, input, lockWaitMs: 0 });
}

/** The tree of HEAD with these entries. */
export async function treeWith(begun: BegunMerge, entries: readonly EntryAt[]): Promise<string> {
  const { checkout } = begun;
  return await withIndex(begun, async (env) => {
    await git(checkout, ["read-tree", "HEAD"], { env });
    await putEntries(checkout, entries, env);
    return await gitText(checkout, ["write-tree"], { env });
  });
}

/** Nobody else uses it, so what one that was killed has left of it, its lock too, is nobody's. */
export async function withIndex<T>(
  { index }: BegunMerge,
  use: (env: Record<string, string>) => Promise<T>,
): Promise<T> {
  const clear = () => {
    for (const file of [index, `${index}.lock`]) removeIfThere(file);
  };
  clear();
  try {
    return await use({ GIT_INDEX_FILE: index });
  } finally {
    clear();
  }
}

export function nameOf(path: string): string {
  return Buffer.from(path, "latin1").toString("utf8");
}

/** For those commands that take paths by their input. */
export function listOf(paths: readonly string[]): Buffer {
  return Buffer.from(paths.map((path) => `${path}\0`).join(""), "latin1");
}
