import { readFileSync, type Stats } from "node:fs";
import { chmod, lstat, readdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { codeOf, ExternalError } from "../../lib/errors.js";
import type { Trash } from "../remove-tree.js";

/**
 * Takes everything out of a folder that is not tracked. `git clean` does not see all of it: a `.git` in a folder with
 * tracked files, pipes and sockets, what is inside a submodule. So the folder is held against the list of what may be
 * there. Names are bytes, kept as latin1.
 */
export type Tracked = ReadonlyMap<string, ReadonlyMap<string, "folder" | "file">>;

/** What `git ls-files -s -z` lists, by folder; "" is the root. null: another repository is linked in it. */
export function parseTracked(listing: Buffer): Tracked | null {
  const folders = new Map<string, Map<string, "folder" | "file">>([["", new Map()]]);
  for (const line of listing.toString("latin1").split("\0")) {
    if (line.startsWith("160000 ")) return null;
    if (line !== "") addPath(folders, line.slice(line.indexOf("\t") + 1), "file");
  }
  return folders;
}

function addPath(folders: Map<string, Map<string, "folder" | "file">>, path: string, kind: "folder" | "file"): void {
  const cut = path.lastIndexOf("/");
  const folder = cut < 0 ? "" : path.slice(0, cut);
  let names = folders.get(folder);
  if (names === undefined) {
    names = new Map();
    folders.set(folder, names);
    addPath(folders, folder, "folder");
  }
  names.set(path.slice(cut + 1), kind);
}

export function bytesOf(root: string, name: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(name, "latin1")]);
}

interface Keeping {
  readonly root: string;
  readonly tracked: Tracked;
  readonly trash: Trash;
}

/** The root itself is the caller's. Folders get the mode that git would make them with. */
export async function keepTracked(keeping: Keeping): Promise<void> {
  const mode = await folderMode(keeping.root);
  const folders = [...(keeping.tracked.get("") ?? [])].flatMap(([name, kind]) => (kind === "folder" ? [name] : []));
  await Promise.all(folders.map((name) => keepFolder(keeping, name, mode)));
}

async function keepFolder(keeping: Keeping, folder: string, mode: number): Promise<void> {
  const { root, tracked, trash } = keeping;
  const path = bytesOf(root, folder);
  const found = await statOf(path);
  if (found === null) return;
  if (!found.isDirectory()) return await dropEntry(trash, path);
  if ((found.mode & 0o7777) !== mode) await chmod(path, mode);
  const names = tracked.get(folder) ?? new Map<string, "folder" | "file">();
  const entries = await readdir(path, { withFileTypes: true, encoding: "latin1" });
  await Promise.all(
    entries.map(async (entry) => {
      const name = `${folder}/${entry.name}`;
      const kind = names.get(entry.name);
      if (kind === "folder") return await keepFolder(keeping, name, mode);
      const plain = entry.isFile() || entry.isSymbolicLink();
      if (kind === "file" && plain && entry.name !== attributesFile) return;
      if (entry.isDirectory()) await chmod(bytesOf(root, name), 0o700);
      await dropEntry(trash, bytesOf(root, name));
    }),
  );
}

/** Written anew: what git does to other files on their way in and out must not be an agent's word. */
export const attributesFile = ".gitattributes";

async function dropEntry(trash: Trash, path: Buffer): Promise<void> {
  if (!(await trash.take(path))) throw new ExternalError("git", `${path.toString()} could not be moved`);
}

async function statOf(path: Buffer): Promise<Stats | null> {
  try {
    return await lstat(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}

/** A folder inherits the group bit from where it is made. */
async function folderMode(root: string): Promise<number> {
  const umask = /^Umask:\s+([0-7]+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
  if (umask === undefined) throw new ExternalError("git", "the umask is not known");
  const inherited = (await stat(dirname(root))).mode & 0o2000;
  return (0o777 & ~Number.parseInt(umask, 8)) | inherited;
}
