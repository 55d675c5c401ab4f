import { LooseObjects } from "../objects/loose-objects.js";

/**
 * What a branch has come to have since some commit of it, read from the commits' own files as it moves on: that a commit is
 * not in the branch cannot be told from the commit, and git would have to be started for each look.
 */
interface Line {
  /** Where the walk from the tip ended: everything that is not below it is in `commits`. */
  readonly floor: string;
  tip: string;
  /** Exactly those of the tip that the floor has not. */
  readonly commits: Set<string>;
}

const lines = new Map<string, Line>();
const stepsAtMost = 1000;

export interface LineRange {
  /** Which repository and branch it is. */
  readonly key: string;
  readonly folders: readonly string[];
  readonly base: string;
  readonly tip: string;
}

/** The commits of the tip, as far as they are newer than a commit that `base` is not below. null: git has to say. */
export function commitsSince({ key, folders, base, tip }: LineRange): ReadonlySet<string> | null {
  const known = lines.get(key);
  const objects = new LooseObjects(folders);
  const line = (known && has(known, base) && extend(objects, known, tip)) || begin(objects, base, tip);
  if (line === null) return null;
  lines.set(key, line);
  return line.commits;
}

function has({ floor, commits }: Line, commit: string): boolean {
  return commit === floor || commits.has(commit);
}

function begin(objects: LooseObjects, base: string, tip: string): Line | null {
  const commits = walk(objects, tip, (id) => id === base);
  return commits && { floor: base, tip, commits };
}

/** null: the branch was put back, or there is too much of it. */
function extend(objects: LooseObjects, known: Line, tip: string): Line | null {
  if (known.tip === tip) return known;
  let isAhead = false;
  const added = walk(objects, tip, (id) => {
    isAhead ||= id === known.tip;
    return has(known, id);
  });
  if (added === null || !isAhead) return null;
  for (const id of added) known.commits.add(id);
  known.tip = tip;
  return known;
}

/**
 * All that is above where it stops. Who gets below the floor, by a commit that was begun from an older one, comes to the first
 * commit of all, since nothing stops there: that is null, as is a commit that has no file of its own.
 */
function walk(objects: LooseObjects, tip: string, stops: (id: string) => boolean): Set<string> | null {
  const found = new Set<string>();
  const next = [tip];
  for (let id = next.pop(); id !== undefined; id = next.pop()) {
    if (found.has(id) || stops(id)) continue;
    const { parents = [] } = objects.commit(id) ?? {};
    if (parents.length === 0 || found.size >= stepsAtMost) return null;
    found.add(id);
    next.push(...parents);
  }
  return found;
}
