import { type Checkout, gitIn } from "../checkout/checkout-git.js";
import { whyBroken } from "../checkout/whole.js";
import { matchesAny } from "../glob.js";
import { rememberLinkless } from "./links.js";
import { type LogEntry, readChain } from "./loose-history.js";
import { treeOf } from "./tree-of.js";

export interface HistoryOptions {
  readonly base: string;
  readonly head: string;
  readonly docsPatterns: readonly string[];
}

/** What the commits between two others come to. */
export interface History {
  readonly tree: string;
  readonly commits: number;
  readonly docsOnly: boolean;
  readonly containsBase: boolean;
  /** The oldest of the commits, where they are a plain line from base to head. */
  readonly first: string | null;
}

/**
 * One walk over base..head, its boundary included, answers all: an ancestor of head that is not head itself is always
 * on the boundary.
 */
export async function readHistory(checkout: Checkout, options: HistoryOptions): Promise<History> {
  const { base, head, docsPatterns } = options;
  if (head === base) return { tree: await treeOf(checkout.mirror.path, head), ...nothing };
  const entries = readChain(checkout, options) ?? (await readWholeLog(checkout, options));
  const newest = entries.find(({ id }) => id === head);
  const tree = newest?.tree ?? (await gitIn(checkout, ["rev-parse", `${head}^{tree}`])).stdout.toString().trim();
  const origin = entries.find(({ id, boundary }) => boundary && id === base);
  const own = entries.filter(({ boundary }) => !boundary);
  // What none of the commits brings is not between their ends, if one end contains the other.
  if (origin !== undefined && !entries.some(({ links }) => links)) rememberLinkless(base, head);
  const paths = own.flatMap((entry) => entry.paths);
  const docs = paths.filter((path) => matchesAny(path, docsPatterns)).length;
  const changed = origin === undefined || origin.tree !== tree;
  const docsOnly =
    docs > 0 && changed && (docs === paths.length || (own.length > 1 && (await onlyDocsBetween(checkout, options))));
  return { tree, commits: own.length, docsOnly, containsBase: origin !== undefined, first: firstOf(own, options) };
}

const nothing = { commits: 0, docsOnly: false, containsBase: true, first: null };

function firstOf(own: readonly LogEntry[], { base, head }: HistoryOptions): string | null {
  const below = [...own.slice(1).map(({ id }) => id), base];
  const isLine = own[0]?.id === head && own.every(({ parents }, at) => parents.join() === below[at]);
  return isLine ? (own.at(-1)?.id ?? null) : null;
}

/** The log reads no file: one whose content is gone would only be missed once the work has landed. */
async function readWholeLog(checkout: Checkout, options: HistoryOptions): Promise<readonly LogEntry[]> {
  const [entries, broken] = await Promise.all([readLog(checkout, options), whyBroken(checkout, options.head)]);
  if (broken !== null) throw broken;
  return entries;
}

async function readLog(checkout: Checkout, { base, head }: HistoryOptions): Promise<readonly LogEntry[]> {
  const range = ["--boundary", "--cc", "--raw", "--no-renames", "--no-ext-diff", `${base}..${head}`];
  const output = await gitIn(checkout, ["log", "-z", "--format=commit %m%H %T %P", ...range]);
  return parseLog(output.stdout.toString("utf8"));
}

/** Code that was changed and changed back counts as not changed. */
async function onlyDocsBetween(checkout: Checkout, { base, head, docsPatterns }: HistoryOptions): Promise<boolean> {
  const output = await gitIn(checkout, ["diff-tree", "-r", "-z", "--name-only", "--no-renames", base, head]);
  const paths = output.stdout.toString("utf8").split("\0").filter(Boolean);
  return paths.length > 0 && paths.every((path) => matchesAny(path, docsPatterns));
}

const header = /^commit ([->])([0-9a-f]+) ([0-9a-f]+) ([0-9a-f ]*)$/;
/** Modes and ids before and after, of a merge for each parent, and what happened. The path is the next field. */
const raw = /^\n?:+((?:\d{6} )+)(?:[0-9a-f]+ )+[A-Z]+\d*$/;

function parseLog(text: string): readonly LogEntry[] {
  const entries: (LogEntry & { readonly paths: string[]; links: boolean })[] = [];
  const fields = text.split("\0").values();
  for (const field of fields) {
    const [begins, modes] = [header.exec(field), raw.exec(field)?.[1]];
    const entry = entries.at(-1);
    if (begins !== null) {
      const [, side, id = "", tree = "", parents = ""] = begins;
      entries.push({ boundary: side === "-", id, tree, parents: parents.split(" "), paths: [], links: false });
    } else if (entry !== undefined && modes !== undefined) {
      entry.links ||= modes.includes("160000");
      entry.paths.push(fields.next().value ?? "");
    }
  }
  return entries;
}
