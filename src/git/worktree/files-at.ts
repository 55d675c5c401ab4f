import { type BigIntStats, closeSync, constants, lstatSync, openSync, readFileSync, readlinkSync } from "node:fs";
import { codeOf } from "../../lib/errors.js";
import { isMissing } from "../../lib/files.js";
import { type Checkout, ownIndex } from "../checkout/checkout-git.js";
import type { CheckoutTemplate } from "../checkout/checkout-template.js";
import { type IndexEntry, type IndexFile, parseIndex, type Time } from "../objects/index-file.js";
import { hashOf, LooseObjects, treeMode } from "../objects/loose-objects.js";
import type { Look } from "./clean-proof.js";

/**
 * Proof that the files of a small worktree are exactly those of a commit, without starting git: every file of the commit
 * is there, with its mode and its bytes, and no other. A file whose inode, size and times are those in our index has the
 * bytes that git saw; any other is read. Commits, and the trees they changed, have files of their own as long as they are
 * new; unchanged trees are known to our index. Wherever bytes are not simply bytes (attributes, line ends, links to other
 * repositories), and whoever asks in vain, git is asked.
 */
export function filesAreAt(checkout: Checkout, head: string, look: Look): boolean {
  if (!areBytes(checkout.template, look)) return false;
  const index = readIndex(ownIndex(checkout), head.length / 2);
  const objects = new LooseObjects([checkout.gitDir, checkout.mirror.path]);
  const tree = objects.commit(head)?.tree;
  if (index === null || tree === undefined) return false;
  const wanted = new Map<string, Wanted>();
  if (!collect({ index: index.file, objects, wanted }, tree, "")) return false;
  // `.git` is a file there, and no commit can have one.
  return wanted.size === look.files.size - 1 && everyFile(checkout, { index, look, wanted, idLength: head.length });
}

interface Wanted {
  readonly mode: string;
  readonly id: string;
}

/** Settings that change nothing about how a file is written. */
const harmless = /^(core\.filemode=true|core\.symlinks=true|)$/;

function areBytes({ conversion, attributes }: CheckoutTemplate, { files }: Look): boolean {
  return (
    attributes === "" &&
    conversion.split("\n").every((line) => harmless.test(line)) &&
    files.has(".git") &&
    ![...files.keys()].some((path) => path === ".gitattributes" || path.endsWith("/.gitattributes"))
  );
}

interface KnownIndex {
  readonly file: IndexFile;
  /** What changed since, or just before, may have changed unseen. */
  readonly writtenNs: bigint;
}

function readIndex(path: string, idBytes: number): KnownIndex | null {
  if (isMissing(path)) return null;
  const writtenNs = lstatSync(path, { bigint: true }).mtimeNs;
  const file = parseIndex(readFileSync(path), idBytes);
  return file === null ? null : { file, writtenNs };
}

interface Collection {
  readonly index: IndexFile;
  readonly objects: LooseObjects;
  readonly wanted: Map<string, Wanted>;
}

/** Every file below a tree. false: git has to say. */
function collect(collection: Collection, tree: string, folder: string): boolean {
  const { index, objects, wanted } = collection;
  const below = folder === "" ? "" : `${folder}/`;
  if (index.trees.get(folder) === tree) {
    for (const [path, entry] of index.entries) if (path.startsWith(below)) wanted.set(path, entry);
    return true;
  }
  const entries = objects.tree(tree);
  if (entries === null) return false;
  return entries.every(({ mode, name, id }) => {
    if (mode === treeMode) return collect(collection, id, below + name);
    wanted.set(below + name, { mode, id });
    return mode === "100644" || mode === "100755" || mode === "120000";
  });
}

interface Files {
  readonly index: KnownIndex;
  readonly look: Look;
  readonly wanted: ReadonlyMap<string, Wanted>;
  readonly idLength: number;
}

const readAtMost = 4_000_000n;

function everyFile({ path: root }: Checkout, { index, look, wanted, idLength }: Files): boolean {
  let toRead = 0n;
  const changed: string[] = [];
  for (const [path, { mode, id }] of wanted) {
    const found = look.files.get(path);
    if (found === undefined || modeOf(found) !== mode) return false;
    const known = index.file.entries.get(path);
    if (known?.id === id && known.mode === mode && isAsKnown(known, found) && found.mtimeNs < index.writtenNs) continue;
    toRead += found.size;
    changed.push(path);
  }
  if (toRead > readAtMost) return false;
  return changed.every((path) => {
    const link = look.files.get(path)?.isSymbolicLink() ?? false;
    return blobId({ root, path, link }, idLength) === wanted.get(path)?.id;
  });
}

function modeOf(stats: BigIntStats): string | null {
  if (stats.isSymbolicLink()) return "120000";
  if (!stats.isFile()) return null;
  return (stats.mode & 0o100n) === 0n ? "100644" : "100755";
}

function isAsKnown(known: IndexEntry, found: BigIntStats): boolean {
  return (
    BigInt(known.ino) === (found.ino & 0xffffffffn) &&
    BigInt(known.size) === (found.size & 0xffffffffn) &&
    isSame(known.mtime, found.mtimeNs) &&
    isSame(known.ctime, found.ctimeNs)
  );
}

function isSame({ seconds, nanoseconds }: Time, ns: bigint): boolean {
  return BigInt(seconds) * 1_000_000_000n + BigInt(nanoseconds) === ns;
}

interface Place {
  readonly root: string;
  readonly path: string;
  /** It was one when it was looked at: if it is another thing now, it is read in vain. */
  readonly link: boolean;
}

/** Not what a link leads to, and without waiting for the other end of a pipe. */
function readItself(place: Buffer): Buffer {
  const file = openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** null: it is gone, or another thing. */
function blobId({ root, path, link }: Place, idLength: number): string | null {
  const place = Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, "latin1")]);
  try {
    const bytes = link ? readlinkSync(place, "buffer") : readItself(place);
    return hashOf(Buffer.concat([Buffer.from(`blob ${bytes.length}\0`), bytes]), idLength);
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EISDIR", "EACCES", "ELOOP", "EINVAL"].includes(codeOf(error) ?? "")) return null;
    throw error;
  }
}
