import { join } from "node:path";
import { git, gitScript } from "./git.js";
import {
  type BegunMerge,
  type Change,
  changesOf,
  type Entry,
  entriesOf,
  isEntry,
  isSame,
  nameOf,
  namesOf,
  putEntries,
  treeWith,
} from "./merge-changes.js";
import { linkStatsOf } from "./small-files.js";

/**
 * The checkout as if the merge that was begun there had not been. Taken back is what the index has of it and the files
 * still are; what a person has written, made or deleted there since stays as it is, and is no longer staged. `staged`: what
 * is known to be theirs, in the index too.
 */
export async function takeBack(begun: BegunMerge, staged: ReadonlySet<string>): Promise<void> {
  const { checkout } = begun;
  await git(checkout, ["update-index", "-q", "--refresh"], { okCodes: [1], lockWaitMs: 0 });
  const [changes, entries, dirty] = await Promise.all([
    changesOf(begun),
    entriesOf(checkout),
    namesOf(checkout, ["diff-files", "--name-only", "-z"]),
  ]);
  const brought = changes.filter(({ path, after }) => !staged.has(path) && isSame(entries.get(path), after));
  const isTheirs = ({ path, after }: Change) =>
    isEntry(after) ? dirty.has(path) : isFileAt(join(checkout, nameOf(path)));
  const theirs = brought.filter(isTheirs);
  if (theirs.length > 0) await putEntries(checkout, theirs.map(entryBefore));
  const ours = brought.filter((one) => !isTheirs(one));
  if (ours.length === 0) return;
  const there = await treeWith(
    begun,
    ours.map(({ path, after }) => ({ path, ...after })),
  );
  await gitScript(checkout, script, { args: [there], lockWaitMs: 0 });
}

const script = {
  name: "read-tree",
  text: 'git read-tree -m -u "$1" HEAD || git read-tree -m -i "$1" HEAD',
};

function entryBefore({ path, before }: Change): Entry & { readonly path: string } {
  return { path, ...before };
}

/** A folder may be the merge's own: what it has written below it goes first. */
function isFileAt(path: string): boolean {
  return linkStatsOf(path)?.isDirectory() === false;
}
