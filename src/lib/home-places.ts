import { accessSync, constants, lstatSync } from "node:fs";
import { codeOf, ExternalError, messageOf } from "./errors.js";
import { statsOf } from "./files.js";
import type { Home } from "./home.js";

/**
 * Something else in the place of what the state home is made of may be anybody's: it stays as it is, and whoever would
 * use that place says so before anything begins. `projectId`: that project's folders, too.
 */
export function requirePlaces(home: Home, projectId?: string): void {
  for (const folder of home.folders(projectId)) requireFolder(home, folder);
  for (const file of [home.database, home.wake, home.log, home.serveToken])
    if (statsOf(file)?.isDirectory()) throw unusableHome(home, { path: file, code: "EISDIR" });
}

function requireFolder(home: Home, path: string): void {
  const stats = statsOf(path);
  if (stats === undefined) {
    // One that was moved to a disk that is not there: another in its place would hide it.
    if (isLink(path)) throw unusableHome(home, { path, code: "nowhere" });
    return;
  }
  if (!stats.isDirectory()) throw unusableHome(home, { path, code: "ENOTDIR" });
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw unusableHome(home, { path, code: codeOf(error), cause: error });
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    // Below something that is no folder, which is told of that.
    if (codeOf(error) === "ENOTDIR") return false;
    throw error;
  }
}

interface Trouble {
  readonly path: string;
  /** As the system says it, and of a link `nowhere`. */
  readonly code: string | null;
  readonly cause?: unknown;
}

/** In one sentence, with what can be done. */
export function unusableHome(home: Home, { path, code, cause }: Trouble): ExternalError {
  const { reason, hint } = tell({ path, code, cause }, path === home.root);
  return new ExternalError("state home", `the state home ${home.root} cannot be used: ${reason}`, { hint, cause });
}

function tell({ path, code, cause }: Trouble, isRoot: boolean): { readonly reason: string; readonly hint: string } {
  const other = "or set RATCHET_HOME to another folder";
  const place = isRoot ? "its place" : `the place of ${path}`;
  switch (code) {
    case "EROFS":
    case "EACCES":
    case "EPERM":
      return { reason: `${isRoot ? "it" : path} is read-only`, hint: `make it writable, ${other}` };
    case "ENOSPC":
      return { reason: "the disk is full", hint: "free some space" };
    case "ENOTDIR":
    case "EEXIST":
      return { reason: `there is a file in ${place}`, hint: `move the file away, ${other}` };
    case "EISDIR":
      return { reason: `there is a folder in ${place}`, hint: `move it away, ${other}` };
    case "nowhere":
      return { reason: `${path} is a link that leads nowhere`, hint: `make it lead to a folder, ${other}` };
    default:
      return { reason: messageOf(cause), hint: `make it writable, ${other}` };
  }
}
