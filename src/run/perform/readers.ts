import { statSync } from "node:fs";
import { join } from "node:path";
import { findCheckout } from "../../git/checkout/checkout.js";
import { isLinked } from "../../git/checkout/checkout-files.js";
import { removeTree } from "../../git/remove-tree.js";
import { hasKeptIndex, keepIndex } from "../../git/worktree/kept-index.js";
import { findRefChanges, hasKeptRefs, keepRefs, mayBeFetched, putRefsBack } from "../../git/worktree/kept-refs.js";
import { discardChanges, putAt } from "../../git/worktree/worktree.js";
import { ExternalError } from "../../lib/errors.js";
import { isMissing, readJson, writeWhole } from "../../lib/files.js";
import { findProgram } from "../../lib/process/find.js";

/**
 * The reviewers of a panel read one worktree at the same time. When one ends, whatever was changed is put back. While
 * another is at work nobody can tell who changed it, or what it has read of that: all who were are disturbed, their word
 * does not count, and each runs again with nobody beside it. What is found is noted in the turns' folders before anything
 * is put back, so that whoever harvests a turn again says the same of it.
 */
export class Readers {
  readonly #folders = new Set<string>();
  #last: Promise<unknown> = Promise.resolve();

  begin(folder: string): void {
    this.#folders.add(folder);
  }

  end(folder: string): void {
    this.#folders.delete(folder);
  }

  /** Those besides this one that have been started and not been judged. */
  besides(folder: string): string[] {
    return [...this.#folders].filter((one) => one !== folder && findProgram(one).state !== "none");
  }

  /** One looks at a time: a second one would see half of what the first puts back. */
  async inTurn<T>(look: () => Promise<T>): Promise<T> {
    const looked = this.#last.then(look);
    this.#last = looked.catch(() => undefined);
    return await looked;
  }
}

export interface Meddling {
  readonly paths: readonly string[];
  /** It may have been somebody else. */
  readonly shared: boolean;
}

interface Reading {
  readonly folder: string;
  readonly worktree: string;
  readonly gitDir: string;
  /** Has a git folder that somebody broke made anew. */
  mend(): Promise<unknown>;
}

/**
 * Right before the reviewer starts: there is a folder to start in, the index and the refs are kept, and it is noted how
 * often HEAD had been moved by then. While others read, both are theirs to have changed: what was kept before them counts.
 */
export async function startReading(readers: Readers, reading: Reading, head: string): Promise<void> {
  const { folder, worktree, gitDir } = reading;
  if (isMissing(worktree)) {
    await readers.inTurn(() => putAt(worktree, head, (paths) => noteOthers(readers.besides(folder), paths)));
  }
  const isAlone = readers.besides(folder).length === 0;
  if (isAlone || !hasKeptIndex(gitDir)) keepIndex(gitDir, head);
  if (isAlone || !hasKeptRefs(gitDir)) await keepRefs(gitDir, head);
  writeWhole(join(folder, "reading.json"), JSON.stringify({ moves: movesOf(gitDir) }));
}

/** Puts files, index and refs back; null: nobody has touched them. */
export async function endReading(readers: Readers, reading: Reading, head: string): Promise<Meddling | null> {
  const { folder } = reading;
  return await readers.inTurn(async () => {
    const known = await readNote(folder);
    const wasMoved = await hasMoved(reading);
    const note = (paths: readonly string[]) => {
      const others = readers.besides(folder);
      const shared = others.length > 0 || (known?.shared ?? false);
      if (known === null) writeNote(folder, { paths, shared });
      noteOthers(others, paths);
    };
    const isAlone = () => readers.besides(folder).length === 0;
    const changed = await putBack(reading, head, { note, isAlone });
    // Whoever began while it was put back has seen some of it; and HEAD may have been elsewhere and back.
    if (changed.length > 0) note(changed);
    else if (known === null && wasMoved && readers.besides(folder).length > 0) note(["HEAD"]);
    return await readNote(folder);
  });
}

/** A git folder that somebody broke is put back too, by the last one that reads there: nobody may be at work in it then. */
async function putBack(
  { worktree, gitDir, mend }: Reading,
  head: string,
  { note, isAlone }: { note(paths: readonly string[]): void; isAlone(): boolean },
): Promise<readonly string[]> {
  const isGone = isMissing(worktree);
  const isCut = !isGone && !isLinked({ path: worktree, gitDir });
  if (isCut) {
    note([".git"]);
    // Whoever read without it has read nothing, or another repository: one that was made there meanwhile is nobody's work.
    await removeTree(join(worktree, ".git"));
  }
  try {
    const files = await discardChanges(worktree, head, note);
    const changed = isCut ? [".git", ...files] : files;
    // What no commit has comes back, too.
    if (isGone) await mend();
    const moved = await findRefChanges(gitDir, head);
    if (moved.length === 0) return changed;
    const own = moved.filter((change) => !mayBeFetched(change)).map(({ name }) => name);
    const found = changed.length > 0 ? changed : own;
    if (changed.length === 0 && found.length > 0) note(found);
    await putRefsBack(await findCheckout(worktree), head);
    return found;
  } catch (error) {
    if (!(error instanceof ExternalError) || error.retryable) throw error;
    note([".git"]);
    if (!isAlone()) return [".git"];
    await mend();
    return [".git", ...(await discardChanges(worktree, head))];
  }
}

function noteOthers(others: readonly string[], paths: readonly string[]): void {
  for (const other of others) if (isMissing(noteFile(other))) writeNote(other, { paths, shared: true });
}

/** A commit that was looked at and left again, or a stash that was taken back, is in the log of HEAD alone. */
function movesOf(gitDir: string): number {
  return statSync(join(gitDir, "logs", "HEAD"), { throwIfNoEntry: false })?.size ?? 0;
}

async function hasMoved({ folder, gitDir }: Reading): Promise<boolean> {
  const start = await readJson(join(folder, "reading.json"));
  if (typeof start !== "object" || start === null || !("moves" in start)) return false;
  return start.moves !== movesOf(gitDir);
}

function noteFile(folder: string): string {
  return join(folder, "changed-tree.json");
}

function writeNote(folder: string, meddling: Meddling): void {
  writeWhole(noteFile(folder), JSON.stringify({ ...meddling, paths: [...new Set(meddling.paths)].slice(0, 10) }));
}

async function readNote(folder: string): Promise<Meddling | null> {
  const note = await readJson(noteFile(folder));
  if (typeof note !== "object" || note === null || !("paths" in note) || !Array.isArray(note.paths)) return null;
  return { paths: note.paths.map(String), shared: "shared" in note && note.shared === true };
}
