import { keepNewest } from "../../lib/keep-newest.js";
import { attributesFile } from "../checkout/keep-tracked.js";
import { git } from "../git.js";
import { LooseObjects, treeMode } from "./loose-objects.js";

/**
 * The `.gitattributes` files of a commit. Most commits have none, and that is asked before every merge: trees that are
 * known to have none below are not looked into again, new ones have files of their own, and git is asked for the rest.
 */
export interface AttributesFile {
  /** Bytes, one a character. */
  readonly path: string;
  readonly text: Buffer;
}

interface Found {
  readonly path: string;
  readonly id: string;
}

export async function attributesAt(repository: string, commit: string): Promise<readonly AttributesFile[]> {
  const before = known.get(commit);
  if (before !== undefined) return before;
  const found = findLoose(repository, commit) ?? (await askGit(repository, commit));
  const usable = found.filter(({ path }) => isPlainPath(path));
  const files = usable.length === 0 ? [] : await readTexts(repository, usable);
  known.set(commit, files);
  keepNewest(known, commitsKept);
  return files;
}

const known = new Map<string, readonly AttributesFile[]>();
const commitsKept = 100;
/** Trees that have none, nor any below. */
const without = new Set<string>();
const treesKept = 50_000;
/** Of so many git is quicker. */
const readAtMost = 200;

function findLoose(repository: string, commit: string): readonly Found[] | null {
  const objects = new LooseObjects([repository]);
  const tree = objects.commit(commit)?.tree;
  if (tree === undefined) return null;
  const walk = { objects, found: [], left: readAtMost };
  return walkTree(walk, tree, "") ? walk.found : null;
}

interface Walk {
  readonly objects: LooseObjects;
  readonly found: Found[];
  left: number;
}

/** false: git has to say. */
function walkTree(walk: Walk, tree: string, folder: string): boolean {
  if (without.has(tree)) return true;
  const entries = walk.left-- > 0 ? walk.objects.tree(tree) : null;
  if (entries === null) return false;
  const before = walk.found.length;
  for (const { mode, name, id } of entries) {
    if (mode === treeMode && !walkTree(walk, id, `${folder}${name}/`)) return false;
    if (name === attributesFile && isFile(mode)) walk.found.push({ path: folder + name, id });
  }
  if (walk.found.length === before) rememberWithout([tree]);
  return true;
}

/** Git itself does not follow one that is a link. */
function isFile(mode: string): boolean {
  return mode.startsWith("100");
}

function rememberWithout(trees: readonly string[]): void {
  for (const tree of trees) without.add(tree);
  keepNewest(without, treesKept);
}

async function askGit(repository: string, commit: string): Promise<readonly Found[]> {
  const { stdout } = await git(repository, ["ls-tree", "-r", "-t", "-z", "--full-tree", commit]);
  const entries = stdout.toString("latin1").split("\0").flatMap(parseEntry);
  const found = entries.filter(({ mode, path }) => isFile(mode) && /(^|\/)\.gitattributes$/.test(path));
  const folders = new Set(found.flatMap(({ path }) => foldersOf(path)));
  const trees = entries.filter(({ mode, path }) => mode === "040000" && !folders.has(path));
  // The outermost are listed first, and last forgotten.
  rememberWithout(trees.map(({ id }) => id).reverse());
  return found;
}

function parseEntry(line: string): readonly (Found & { readonly mode: string })[] {
  const cut = line.indexOf("\t");
  const [mode = "", , id = ""] = line.slice(0, cut).split(" ");
  return cut < 0 ? [] : [{ mode, id, path: line.slice(cut + 1) }];
}

function foldersOf(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join("/"));
}

/** A tree that no checkout could be made of may have any name in it. */
function isPlainPath(path: string): boolean {
  return path.split("/").every((part) => !["", ".", ".."].includes(part) && part.toLowerCase() !== ".git");
}

async function readTexts(repository: string, files: readonly Found[]): Promise<readonly AttributesFile[]> {
  const input = files.map(({ id }) => `${id}\n`).join("");
  const { stdout } = await git(repository, ["cat-file", "--batch"], { input });
  let at = 0;
  return files.map(({ path }) => {
    const start = stdout.indexOf("\n", at) + 1;
    const end = start + Number(stdout.toString("latin1", at, start).trim().split(" ")[2]);
    at = end + 1;
    return { path, text: stdout.subarray(start, end) };
  });
}
