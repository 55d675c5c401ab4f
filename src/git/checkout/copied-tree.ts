import { constants } from "node:fs";
import { chmod, copyFile, lstat, mkdir, readdir, readlink, realpath, rm, stat, symlink } from "node:fs/promises";
import { dirname, join } from "node:path/posix";
import { codeOf } from "../../lib/errors.js";
import { linkStatsOf } from "../small-files.js";
import { bytesOf } from "./keep-tracked.js";

/**
 * What is in the user's repository, copied as it is into a worktree, where no link may lead to the user's own files or
 * further: one within the repository leads to the same place of the worktree. Names are bytes, kept as latin1.
 */
export interface Found {
  readonly name: string;
  /** `target`: a link that is copied as the file that it leads to. `outside`: one that would lead out of the worktree. */
  readonly kind: "file" | "folder" | "link" | "target" | "outside" | "other";
}

/** It and all that is in it; links are not followed. */
export async function listTree(root: string, name: string): Promise<Found[]> {
  const kind = await kindOf(root, name);
  if (kind !== "folder") return [{ name, kind }];
  const found: Found[] = [{ name, kind }];
  for (const child of await readdir(bytesOf(root, name), "latin1")) {
    for (const one of await listTree(root, `${name}/${child}`)) found.push(one);
  }
  return found;
}

export async function kindOf(root: string, name: string): Promise<Found["kind"]> {
  const found = linkStatsOf(bytesOf(root, name));
  if (found?.isFile()) return "file";
  if (found?.isDirectory()) return "folder";
  return found?.isSymbolicLink() ? await kindOfLink(root, name) : "other";
}

async function kindOfLink(root: string, name: string): Promise<Found["kind"]> {
  const link = await readlink(bytesOf(root, name), "latin1");
  const leadsTo = await realPathOf(bytesOf(root, name));
  const top = await realPathOf(Buffer.from(root));
  if (leadsTo !== null && leadsTo !== top && !leadsTo.startsWith(`${top}/`)) return "outside";
  if (!link.startsWith("/") && !/^\.\.(\/|$)/.test(join(dirname(name), link))) return "link";
  return leadsTo !== null && (await lstat(Buffer.from(leadsTo, "latin1"))).isFile() ? "target" : "outside";
}

/** null: it leads nowhere, or where nobody here may look. */
export async function realPathOf(path: Buffer): Promise<string | null> {
  try {
    return await realpath(path, "latin1");
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ELOOP", "EACCES"].includes(codeOf(error) ?? "")) return null;
    throw error;
  }
}

/** Whatever is to be there is not there yet, folders apart. */
export async function copyTree(path: string, root: string, found: readonly Found[]): Promise<void> {
  const links: { readonly from: Buffer; readonly to: Buffer }[] = [];
  for (const { name, kind } of found) {
    const place = { from: bytesOf(root, name), to: bytesOf(path, name) };
    if (kind === "folder") await mkdir(place.to, { recursive: true });
    else if (kind === "link") links.push(place);
    else if (kind === "file" || kind === "target") await copyFile(place.from, place.to, constants.COPYFILE_FICLONE);
  }
  for (const { from, to } of links) await symlink(await readlink(from, "buffer"), to);
  // What it leads to may have come neither with git nor with this.
  for (const { from, to } of links) {
    if ((await realPathOf(to)) !== null || !(await isFileAt(from))) continue;
    await rm(to);
    await copyFile(from, to, constants.COPYFILE_FICLONE);
  }
  // The innermost first: one of them may be closed.
  for (const { name, kind } of found.toReversed()) {
    if (kind === "folder") await chmod(bytesOf(path, name), (await stat(bytesOf(root, name))).mode & 0o7777);
  }
}

/** Of what a link leads to. */
async function isFileAt(path: Buffer): Promise<boolean> {
  return (await realPathOf(path)) !== null && (await stat(path)).isFile();
}
