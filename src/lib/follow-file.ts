import { closeSync, constants, type FSWatcher, fstatSync, openSync, readSync, statSync, watch } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { setImmediate as turnOfLoop } from "node:timers/promises";
import { codeOf } from "./errors.js";
import { isEmpty } from "./files.js";

/** A longer line is handed out in pieces: a program that prints 100 MB without a newline costs no memory. */
const usualLongest = 1024 * 1024;
const lookMs = 2000;
const newline = 10;
/** How much of a line `isEnough` is shown. */
const beginningLength = 256;

export interface LineOptions {
  /** In characters. */
  readonly longest?: number;
  /** By its beginning: nobody needs the rest of this line. It is then never in memory, and the beginning is all that comes. */
  readonly isEnough?: (beginning: string) => boolean;
}

/** The lines of a file as it is now, without their ends; a missing file has none. */
export async function* readLines(path: string, options: LineOptions = {}): AsyncGenerator<string> {
  const splitter = new LineSplitter(options);
  for await (const chunk of readFrom(path, 0)) yield* splitter.add(chunk);
  yield* splitter.end();
}

/** The lines of a file and those still to come, until `signal`; what has no line end by then comes last. */
export async function* followLines(
  path: string,
  signal: AbortSignal,
  options: LineOptions = {},
): AsyncGenerator<string> {
  const splitter = new LineSplitter(options);
  let position = 0;
  for (;;) {
    // Asked before reading, so that whatever was written before the abort is still read.
    const last = signal.aborted;
    for await (const chunk of readFrom(path, position)) {
      position += chunk.length;
      yield* splitter.add(chunk);
    }
    if (last) break;
    await changed(path, position, signal);
  }
  yield* splitter.end();
}

/** The end of a file as text, beginning with a whole character; `from`: how many bytes were left out before it. */
export async function readTail(path: string, maxBytes: number): Promise<{ text: string; from: number }> {
  const file = openOrNull(path);
  if (file === null) return { text: "", from: 0 };
  try {
    const { size } = fstatSync(file);
    const start = Math.max(0, size - maxBytes);
    const buffer = Buffer.alloc(Math.min(size, maxBytes));
    const bytesRead = readSync(file, buffer, 0, buffer.length, start);
    const skipped = start > 0 ? firstCharacter(buffer) : 0;
    return { text: buffer.subarray(skipped, bytesRead).toString("utf8"), from: start + skipped };
  } finally {
    closeSync(file);
  }
}

/** The first bytes of a file, piece by piece; a piece is good until the next one is asked for. */
export async function* readBeginning(path: string, bytes: number): AsyncGenerator<Buffer> {
  let left = bytes;
  for await (const chunk of readFrom(path, 0)) {
    if (left <= 0) return;
    yield chunk.subarray(0, left);
    left -= chunk.length;
  }
}

/** null: there is nothing to read. Without waiting, should somebody have put a pipe there. */
function openOrNull(path: string): number | null {
  if (isEmpty(path)) return null;
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}

/** Bytes 10xxxxxx go on with a character that began before. */
function firstCharacter(bytes: Buffer): number {
  let index = 0;
  while (index < 4 && ((bytes[index] ?? 0) & 0xc0) === 0x80) index++;
  return index;
}

const chunkBytes = 64 * 1024;
/** For what comes while it is read. */
const spareBytes = 1024;
/** After this much the event loop has its turn. */
const chunksAtOnce = 8;

/**
 * Read at once: most outputs are small, and each trip through the thread pool takes longer than reading them. A chunk is
 * good until the next one is asked for.
 */
async function* readFrom(path: string, start: number): AsyncGenerator<Buffer> {
  const file = openOrNull(path);
  if (file === null) return;
  try {
    // Most files are far smaller than a chunk, and memory outside of the heap stays until the next collection.
    const size = fstatSync(file).size - start;
    const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, Math.max(size, 0) + spareBytes));
    let position = start;
    for (let chunks = 1; ; chunks++) {
      const length = readSync(file, buffer, 0, buffer.length, position);
      if (length === 0) return;
      position += length;
      yield buffer.subarray(0, length);
      if (chunks % chunksAtOnce === 0) await turnOfLoop();
    }
  } finally {
    closeSync(file);
  }
}

/** Chunks to lines. What is kept of a line that goes on is text of its own: chunks are read into one and the same buffer. */
class LineSplitter {
  readonly #decoder = new StringDecoder("utf8");
  readonly #longest: number;
  readonly #isEnough: ((beginning: string) => boolean) | undefined;
  #parts: string[] = [];
  #length = 0;
  /** What `isEnough` said of the line; null: not asked yet. */
  #enough: boolean | null = null;

  constructor({ longest, isEnough }: LineOptions) {
    this.#longest = longest ?? usualLongest;
    this.#isEnough = isEnough;
  }

  *add(chunk: Buffer): Generator<string> {
    let from = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      this.#take(chunk.subarray(from, end));
      const line = this.#finish();
      yield line.endsWith("\r") ? line.slice(0, -1) : line;
      from = end + 1;
    }
    this.#take(chunk.subarray(from));
    if (this.#length < this.#longest) return;
    yield this.#parts.join("");
    [this.#parts, this.#length] = [[], 0];
  }

  *end(): Generator<string> {
    const line = this.#finish();
    if (line !== "") yield line;
  }

  #take(bytes: Buffer): void {
    if (this.#enough) return;
    const text = this.#decoder.write(bytes);
    this.#parts.push(text);
    this.#length += text.length;
    if (this.#enough !== null || this.#isEnough === undefined || this.#length < beginningLength) return;
    const beginning = this.#parts.join("").slice(0, beginningLength);
    this.#enough = this.#isEnough(beginning);
    if (!this.#enough) return;
    [this.#parts, this.#length] = [[beginning], beginning.length];
    // Half a character may be left in it.
    this.#decoder.end();
  }

  #finish(): string {
    const line = this.#parts.join("") + this.#decoder.end();
    [this.#parts, this.#length, this.#enough] = [[], 0, null];
    return line;
  }
}

/** Resolves when the file goes on after `position`, at the abort, or after a while: watchers lose events. */
function changed(path: string, position: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let watcher: FSWatcher | null = null;
    const done = (): void => {
      watcher?.close();
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    watcher = watchOrNull(path, done);
    // What is not there yet cannot be watched, so it is looked for more often.
    const timer = setTimeout(done, watcher === null ? lookMs / 20 : lookMs);
    signal.addEventListener("abort", done);
    // Asked last: whatever comes after this the watcher sees.
    if (signal.aborted || (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > position) done();
  });
}

function watchOrNull(path: string, onChange: () => void): FSWatcher | null {
  try {
    return watch(path, onChange).on("error", onChange);
  } catch (error) {
    if (["ENOENT", "ENOSPC", "EMFILE"].includes(codeOf(error) ?? "")) return null;
    throw error;
  }
}
