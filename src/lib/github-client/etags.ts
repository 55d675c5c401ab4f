import { createHash } from "node:crypto";
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../errors.js";
import { makeFolder } from "../files.js";

/** An answer that may be asked for again by its tag: unchanged, it costs nothing. */
export interface Remembered {
  readonly etag: string;
  /** Where the next page is. */
  readonly next: string | null;
  readonly body: unknown;
}
export interface Etags {
  get(url: string): Remembered | null;
  set(url: string, remembered: Remembered): void;
}

/** What nobody has asked for so long is asked for in full again. */
const keptMs = 14 * 24 * 3_600_000;

/**
 * One file per address: each appears whole, by a rename, and two processes never overwrite each other's. It is a cache
 * and nothing else: what is lost or broken is fetched again, so nothing is forced to the disk.
 */
export function openEtags(folder: string): Etags {
  makeFolder(folder);
  sweep(folder);
  const known = new Map<string, Remembered>();
  return {
    get: (url) => {
      const near = known.get(url);
      if (near) return near;
      const found = read(fileOf(folder, url), url);
      if (found) known.set(url, found);
      return found;
    },
    set: (url, remembered) => {
      known.set(url, remembered);
      const file = fileOf(folder, url);
      const aside = `${file}.${process.pid}.tmp`;
      writeFileSync(aside, JSON.stringify({ url, ...remembered }), { mode: 0o600 });
      renameSync(aside, file);
    },
  };
}

function fileOf(folder: string, url: string): string {
  return join(folder, `${createHash("sha256").update(url).digest("hex").slice(0, 32)}.json`);
}

function read(file: string, url: string): Remembered | null {
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (typeof value !== "object" || value === null || !("body" in value) || !("etag" in value)) return null;
    if (typeof value.etag !== "string" || !("url" in value) || value.url !== url) return null;
    const next = "next" in value && typeof value.next === "string" ? value.next : null;
    return { etag: value.etag, next, body: value.body };
  } catch (error) {
    if (error instanceof SyntaxError || codeOf(error) === "ENOENT") return null;
    throw error;
  }
}

function sweep(folder: string): void {
  const before = Date.now() - keptMs;
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if ((statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? before) < before) rmSync(path, { force: true });
  }
}
