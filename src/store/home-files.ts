import { chmodSync, closeSync, fchmodSync, openSync, statSync } from "node:fs";
import { codeOf, ExternalError } from "../lib/errors.js";
import { makeFolder } from "../lib/files.js";
import type { Home } from "../lib/home.js";
import { requirePlaces, unusableHome } from "../lib/home-places.js";

/**
 * The state home holds prompts and transcripts: nobody but its owner may read it, whatever the umask. SQLite gives its
 * side files the mode of the database file, so that one is made here first.
 */
export function prepareHome(home: Home): void {
  try {
    makeFolder(home.root);
    // The slash: a file of that name is somebody's, and stays as it is.
    if ((statSync(`${home.root}/`).mode & 0o777) !== 0o700) chmodSync(home.root, 0o700);
    requirePlaces(home);
    for (const path of [home.database, home.wake]) keepPrivate(path);
  } catch (error) {
    if (error instanceof ExternalError) throw error;
    throw unusableHome(home, { path: home.root, code: codeOf(error), cause: error });
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
