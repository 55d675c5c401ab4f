/**
 * An index as git writes it (versions 2 and 3), with what it knows of each file and of each folder's tree. null where it is
 * anything else, or holds anything that is not simply a file of one commit: then git has to be asked.
 */
export interface IndexEntry {
  /** 100644, 100755 or 120000. */
  readonly mode: string;
  readonly id: string;
  readonly size: number;
  readonly ino: number;
  readonly mtime: Time;
  readonly ctime: Time;
}

export interface Time {
  readonly seconds: number;
  readonly nanoseconds: number;
}

export interface IndexFile {
  /** By path: bytes, one a character. */
  readonly entries: ReadonlyMap<string, IndexEntry>;
  /** The tree of each folder, "" being the root, where it is known. */
  readonly trees: ReadonlyMap<string, string>;
}

const headerBytes = 12;
const statBytes = 40;
const nameMask = 0xfff;

export function parseIndex(bytes: Buffer, idBytes: number): IndexFile | null {
  const version = bytes.length > headerBytes ? bytes.readUInt32BE(4) : 0;
  if (bytes.toString("latin1", 0, 4) !== "DIRC" || (version !== 2 && version !== 3)) return null;
  const entries = new Map<string, IndexEntry>();
  let at = headerBytes;
  for (let left = bytes.readUInt32BE(8); left > 0; left--) {
    const flagsAt = at + statBytes + idBytes;
    if (flagsAt + 2 > bytes.length) return null;
    const flags = bytes.readUInt16BE(flagsAt);
    const nameAt = flagsAt + 2;
    // Assumed unchanged, in a conflict, or with more flags than these.
    if ((flags & ~nameMask) !== 0) return null;
    const end = bytes.indexOf(0, nameAt);
    const entry = readEntry(bytes, at, idBytes);
    if (end < 0 || entry === null) return null;
    entries.set(bytes.toString("latin1", nameAt, end), entry);
    at += Math.ceil((end - at + 1) / 8) * 8;
  }
  const trees = readExtensions(bytes, at, idBytes);
  return trees === null ? null : { entries, trees };
}

function readEntry(bytes: Buffer, at: number, idBytes: number): IndexEntry | null {
  const mode = bytes.readUInt32BE(at + 24).toString(8);
  if (mode !== "100644" && mode !== "100755" && mode !== "120000") return null;
  return {
    mode,
    id: bytes.toString("hex", at + statBytes, at + statBytes + idBytes),
    ctime: { seconds: bytes.readUInt32BE(at), nanoseconds: bytes.readUInt32BE(at + 4) },
    mtime: { seconds: bytes.readUInt32BE(at + 8), nanoseconds: bytes.readUInt32BE(at + 12) },
    ino: bytes.readUInt32BE(at + 20),
    size: bytes.readUInt32BE(at + 36),
  };
}

/** What has a small first letter changes what the entries mean. */
function readExtensions(bytes: Buffer, from: number, idBytes: number): ReadonlyMap<string, string> | null {
  const trees = new Map<string, string>();
  for (let at = from; at + 8 <= bytes.length - idBytes; ) {
    const name = bytes.toString("latin1", at, at + 4);
    const end = at + 8 + bytes.readUInt32BE(at + 4);
    if (!/^[A-Z]/.test(name)) return null;
    if (name === "TREE") readTrees(bytes.subarray(at + 8, end), idBytes, trees);
    at = end;
  }
  return trees;
}

/** Folders, each before those in it: name, how many entries (-1: its tree is not known), how many folders, the tree. */
function readTrees(bytes: Buffer, idBytes: number, found: Map<string, string>): void {
  const parents: { readonly path: string; left: number }[] = [];
  for (let at = 0; at < bytes.length; ) {
    const nameEnd = bytes.indexOf(0, at);
    const lineEnd = bytes.indexOf(0x0a, nameEnd);
    if (nameEnd < 0 || lineEnd < 0) return;
    const [count = "", folders = ""] = bytes.toString("latin1", nameEnd + 1, lineEnd).split(" ");
    const parent = parents.at(-1);
    const name = bytes.toString("latin1", at, nameEnd);
    const path = parent === undefined || parent.path === "" ? name : `${parent.path}/${name}`;
    if (parent !== undefined) parent.left -= 1;
    const known = !count.startsWith("-");
    at = lineEnd + 1 + (known ? idBytes : 0);
    if (known) found.set(path, bytes.toString("hex", lineEnd + 1, at));
    parents.push({ path, left: Number(folders) });
    while (parents.at(-1)?.left === 0) parents.pop();
  }
}
