import { chmodSync, closeSync, fchmodSync, openSync, statSync } from "node:fs";
import { codeOf, ExternalError, messageOf } from "../lib/errors.js";
import { makeFolder } from "../lib/files.js";
import type { Home } from "../lib/home.js";

/**
 * The state home holds prompts and transcripts: nobody but its owner may read it, whatever the umask. SQLite gives its
 * side files the mode of the database file, so that one is made here first.
 */
export function prepareHome(home: Home): void {
  try {
    makeFolder(home.root);
    // The slash: a file of that name is somebody's, and stays as it is.
    if ((statSync(`${home.root}/`).mode & 0o777) !== 0o700) chmodSync(home.root, 0o700);
    for (const path of [home.database, home.wake]) keepPrivate(path);
  } catch (error) {
    throw new ExternalError("state home", `the state home ${home.root} cannot be used: ${reasonOf(error)}`, {
      hint: codeOf(error) === "ENOSPC" ? "free some space" : "make it writable, or set RATCHET_HOME to another folder",
      cause: error,
    });
  }
}

function keepPrivate(path: string): void {
  const file = openSync(path, "a", 0o600);
  try {
    fchmodSync(file, 0o600);
  } finally {
    closeSync(file);
  }
}

function reasonOf(error: unknown): string {
  switch (codeOf(error)) {
    case "EROFS":
    case "EACCES":
    case "EPERM":
      return "it is read-only";
    case "ENOSPC":
      return "the disk is full";
    case "ENOTDIR":
    case "EEXIST":
      return "there is a file in its place";
    default:
      return messageOf(error);
  }
}
