import {
  closeSync,
  existsSync,
  fdatasync,
  fsync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { codeOf, Refusal } from "./errors.js";

/**
 * These files are small and near, and looked at by the hundred: at once is many times cheaper than through the thread
 * pool, whose every call wakes another thread and then this one.
 */
export async function exists(path: string): Promise<boolean> {
  return existsSync(path);
}

/** For a file that is often not there: an exception costs many times the question. Throws where nobody may look. */
export function isMissing(path: string): boolean {
  return statsOf(path) === undefined;
}

/** Missing, or a file without a byte. */
export function isEmpty(path: string): boolean {
  const stats = statsOf(path);
  return stats === undefined || (stats.isFile() && stats.size === 0);
}

/** undefined: there is nothing. */
export function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    // Below something that is no folder.
    if (codeOf(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Both are there and one file, by two names. */
export function isSameFile(one: string, other: string): boolean {
  const [own, theirs] = [statsOf(one), statsOf(other)];
  return own !== undefined && own.ino === theirs?.ino && own.dev === theirs.dev;
}

/** What is in the folder; nothing where there is none, which is the exception. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return [];
    throw error;
  }
}

/** The parsed file, or null when it is not there or not JSON. */
export async function readJson(path: string): Promise<unknown> {
  if (isMissing(path)) return null;
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    if (error instanceof SyntaxError || codeOf(error) === "ENOENT") return null;
    throw error;
  }
}

/** The text of the file, or null when there is none. */
export async function readOptional(path: string): Promise<string | null> {
  if (isMissing(path)) return null;
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}

/** For what somebody else has put there under that name: a pipe would be waited for without end, and is no file. */
export async function readPlainFile(path: string): Promise<string> {
  if (!statSync(path).isFile()) throw new Refusal("it is not a file");
  return readFileSync(path, "utf8");
}

const flushData = promisify(fdatasync);
const flush = promisify(fsync);

/** All or nothing, and on the disk when it returns: whoever finds the file finds it whole. Only the disk is waited for. */
export async function writeDurably(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  await withFile(temporary, "w", async (file) => {
    writeFileSync(file, content);
    await flushData(file);
  });
  renameSync(temporary, path);
  await withFile(dirname(path), "r", flush);
}

/** All or nothing for whoever looks; on the disk only after flushFiles. */
export function writeWhole(path: string, content: string | Uint8Array): void {
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, content, { mode: 0o600 });
  renameSync(temporary, path);
}

/**
 * Puts files of one folder on the disk that were written a moment ago, and their names. For what has to be there before
 * anything that is recorded speaks of it, while somebody reads it already. All at once: nobody counts on one before the others.
 */
export async function flushFiles(folder: string, names: readonly string[]): Promise<void> {
  const files = names.map((name) => withFile(join(folder, name), "r", flushData));
  await Promise.all([...files, withFile(folder, "r", flush)]);
}

async function withFile(path: string, flags: string, use: (file: number) => Promise<void>): Promise<void> {
  const file = openSync(path, flags, 0o600);
  try {
    await use(file);
  } finally {
    closeSync(file);
  }
}

/** For the owner alone, with its parents. Step by step: Node's own recursive mkdir never returns where a parent refuses with "no such file", as /proc does. */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}
