import { createHash } from "node:crypto";
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf, messageOf } from "../errors.js";
import { makeFolder } from "../files.js";
import { keepNewest } from "../keep-newest.js";

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
/** In memory; what is forgotten there is in its file. */
const nearest = 500;

/**
 * One file per address: each appears whole, by a rename, and two processes never overwrite each other's. It is a cache
 * and nothing else: what is lost or broken is fetched again, so nothing is forced to the disk, and a disk that takes
 * nothing more is told of once.
 */
export function openEtags(folder: string, warn: (text: string) => void = () => undefined): Etags {
  let told = false;
  const trying = <T>(task: () => T, otherwise: T): T => {
    try {
      return task();
    } catch (error) {
      if (codeOf(error) === null) throw error;
      if (!told) warn(`answers of the forge cannot be kept, and are fetched again: ${messageOf(error)}`);
      told = true;
      return otherwise;
    }
  };
  trying(() => {
    makeFolder(folder);
    sweep(folder);
  }, undefined);
  const known = new Map<string, Remembered>();
  const keep = (url: string, remembered: Remembered): void => {
    known.delete(url);
    known.set(url, remembered);
    keepNewest(known, nearest);
  };
  return {
    get: (url) => {
      const found = known.get(url) ?? trying(() => read(fileOf(folder, url), url), null);
      if (found) keep(url, found);
      return found;
    },
    set: (url, remembered) => {
      keep(url, remembered);
      trying(() => write(fileOf(folder, url), { url, ...remembered }), undefined);
    },
  };
}

function write(file: string, value: object): void {
  const aside = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(aside, JSON.stringify(value), { mode: 0o600 });
    renameSync(aside, file);
  } catch (error) {
    rmSync(aside, { force: true });
    throw error;
  }
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
