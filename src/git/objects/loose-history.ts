import { join } from "node:path";
import { isMissing } from "../../lib/files.js";
import { keepNewest } from "../../lib/keep-newest.js";
import type { Checkout } from "../checkout/checkout-git.js";
import { LooseObjects, linkMode, type TreeEntry, treeMode } from "./loose-objects.js";

/** A commit, and the paths in which it differs from the one before. */
export interface LogEntry {
  /** Where the walk ended. */
  readonly boundary: boolean;
  readonly id: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly paths: readonly string[];
  /** Some path of it is, or was, a link to another repository. */
  readonly links: boolean;
}

/** A commit with one parent, and what it changed. */
interface Link {
  readonly tree: string;
  readonly parent: string;
  readonly paths: readonly string[];
  readonly links: boolean;
}

const commitsAtMost = 100;
/** Commits do not change. The newest small ones are kept. */
const known = new Map<string, Link>();
const knownAtMost = 2000;
const pathsAtMost = 50;

/**
 * The commits from `head` down to `base`, newest first and `base` at their end, as `git log --boundary` tells them, read
 * from their own files. null: they are no plain line of commits, or not all of them have such files; git has to say.
 */
export function readChain(
  { gitDir, mirror }: Checkout,
  { base, head }: { readonly base: string; readonly head: string },
): readonly LogEntry[] | null {
  if (!isMissing(join(gitDir, "shallow"))) return null;
  const objects = new LooseObjects([gitDir, mirror.path]);
  const entries: LogEntry[] = [];
  for (let id = head; id !== base; ) {
    const link = known.get(id) ?? readLink(objects, id);
    if (link === null || entries.length >= commitsAtMost) return null;
    const { tree, parent, paths, links } = link;
    entries.push({ boundary: false, id, tree, parents: [parent], paths, links });
    id = parent;
  }
  const tree = objects.commit(base)?.tree;
  return tree === undefined
    ? null
    : [...entries, { boundary: true, id: base, tree, parents: [], paths: [], links: false }];
}

function readLink(objects: LooseObjects, id: string): Link | null {
  const commit = objects.commit(id);
  const [parent, ...others] = commit?.parents ?? [];
  const before = parent === undefined ? null : objects.commit(parent);
  if (commit === null || parent === undefined || others.length > 0 || before === null) return null;
  const found = new Differences(objects);
  if (!found.between({ before: before.tree, after: commit.tree }, "")) return null;
  const link = { tree: commit.tree, parent, paths: found.paths, links: found.links };
  if (link.paths.length <= pathsAtMost) remember(id, link);
  return link;
}

function remember(id: string, link: Link): void {
  known.set(id, link);
  keepNewest(known, knownAtMost);
}

interface Trees {
  /** null: there was nothing. */
  readonly before: string | null;
  readonly after: string | null;
}

class Differences {
  readonly paths: string[] = [];
  links = false;
  readonly #objects: LooseObjects;

  constructor(objects: LooseObjects) {
    this.#objects = objects;
  }

  /** false: a tree, or a file that it has now, has no file of its own among the objects. */
  between({ before, after }: Trees, folder: string): boolean {
    if (before === after) return true;
    const [olds, news] = [this.#entries(before), this.#entries(after)];
    if (olds === null || news === null) return false;
    const names = new Set([...olds.keys(), ...news.keys()]);
    return [...names].every((name) => this.#compare({ old: olds.get(name), now: news.get(name) }, folder + name));
  }

  #entries(tree: string | null): ReadonlyMap<string, TreeEntry> | null {
    const entries = tree === null ? [] : this.#objects.tree(tree);
    return entries === null ? null : new Map(entries.map((entry) => [entry.name, entry]));
  }

  #compare({ old, now }: { old: TreeEntry | undefined; now: TreeEntry | undefined }, path: string): boolean {
    if (old?.id === now?.id && old?.mode === now?.mode) return true;
    const files = [old, now].filter((entry) => entry !== undefined && entry.mode !== treeMode);
    if (files.length > 0) this.paths.push(Buffer.from(path, "latin1").toString("utf8"));
    this.links ||= files.some((entry) => entry?.mode === linkMode);
    if (now !== undefined && files.includes(now) && now.mode !== linkMode && !this.#objects.has(now.id)) return false;
    const trees = { before: treeIn(old), after: treeIn(now) };
    return trees.before === trees.after || this.between(trees, `${path}/`);
  }
}

function treeIn(entry: TreeEntry | undefined): string | null {
  return entry?.mode === treeMode ? entry.id : null;
}
