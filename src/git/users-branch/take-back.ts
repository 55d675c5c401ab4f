import { join } from "node:path";
import { GitError, git, gitScript } from "../git.js";
import { linkStatsOf } from "../small-files.js";
import {
  type BegunMerge,
  type Change,
  type Entry,
  entriesAt,
  entriesOf,
  isEntry,
  isSame,
  nameOf,
  namesOf,
  putEntries,
  treeWith,
} from "./merge-changes.js";
import { refusal } from "./refusal.js";

/**
 * The checkout as if the merge that was begun there had not been. Taken back is what the index has of it and the files
 * still are; what a person has written, made or deleted there since stays as it is, and is no longer staged. `staged`: what
 * is known to be theirs, in the index too.
 */
export async function takeBack(begun: BegunMerge, staged: ReadonlySet<string>): Promise<void> {
  const { checkout, changes, until } = begun;
  await git(checkout, ["update-index", "-q", "--refresh"], { okCodes: [1], lockWaitMs: 0 });
  const [entries, dirty] = await Promise.all([
    entriesOf(checkout),
    namesOf(checkout, ["diff-files", "--name-only", "-z"]),
  ]);
  const present = new Set(changes.flatMap(({ path }) => (isFileAt(join(checkout, nameOf(path))) ? [path] : [])));
  const { ours, theirs } = divide(changes, { entries, dirty, present, staged });
  if (theirs.length > 0) await putEntries(checkout, entriesAt(theirs, "before"));
  if (ours.length === 0) return;
  const there = await treeWith(begun, entriesAt(ours, "after"));
  const output = await gitScript(checkout, script, { args: [there], okCodes: [indexOnly], lockWaitMs: 0 });
  if (output.code !== 0 && until !== null) throw new GitError(refusal(output.stderr), output);
}

/** What is seen of a checkout, by path. */
interface Seen {
  readonly entries: ReadonlyMap<string, Entry>;
  /** The file is not as the index says. */
  readonly dirty: ReadonlySet<string>;
  /** There is a file. */
  readonly present: ReadonlySet<string>;
  readonly staged: ReadonlySet<string>;
}

/** Of what the index has of a merge, what is still as the merge left it, and what a person has changed since. */
export function divide(changes: readonly Change[], { entries, dirty, present, staged }: Seen) {
  const brought = changes.filter(({ path, after }) => !staged.has(path) && isSame(entries.get(path), after));
  const isTheirs = ({ path, after }: Change) => (isEntry(after) ? dirty : present).has(path);
  return { theirs: brought.filter(isTheirs), ours: brought.filter((one) => !isTheirs(one)) };
}

/** How the script ends where not all files could be taken back. */
const indexOnly = 3;
const script = {
  name: "read-tree",
  text: `git read-tree -m -u "$1" HEAD || { git read-tree -m -i "$1" HEAD && exit ${indexOnly}; }`,
};

/** A folder may be the merge's own: what it has written below it goes first. */
function isFileAt(path: string): boolean {
  return linkStatsOf(path)?.isDirectory() === false;
}
