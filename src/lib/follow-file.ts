import { createReadStream, type FSWatcher, watch } from "node:fs";
import { open } from "node:fs/promises";
import { StringDecoder } from "node:string_decoder";
import { codeOf } from "./errors.js";

/** A longer line is handed out in pieces: a program that prints 100 MB without a newline costs no memory. */
const usualLongest = 1024 * 1024;
const lookMs = 2000;

/** The lines of a file as it is now, without their ends; a missing file has none. */
export async function* readLines(path: string, longest = usualLongest): AsyncGenerator<string> {
  const splitter = new LineSplitter(longest);
  for await (const chunk of readFrom(path, 0)) yield* splitter.add(chunk);
  yield* splitter.end();
}

/** The lines of a file and those still to come, until `signal`; what has no line end by then comes last. */
export async function* followLines(path: string, signal: AbortSignal, longest = usualLongest): AsyncGenerator<string> {
  const splitter = new LineSplitter(longest);
  let position = 0;
  for (;;) {
    // Asked before reading, so that whatever was written before the abort is still read.
    const last = signal.aborted;
    for await (const chunk of readFrom(path, position)) {
      position += chunk.length;
      yield* splitter.add(chunk);
    }
    if (last) break;
    await changed(path, signal);
  }
  yield* splitter.end();
}

/** The end of a file as text, beginning with a whole character; `whole`: nothing was left out. */
export async function readTail(path: string, maxBytes: number): Promise<{ text: string; whole: boolean }> {
  const file = await openOrNull(path);
  if (file === null) return { text: "", whole: true };
  try {
    const { size } = await file.stat();
    const start = Math.max(0, size - maxBytes);
    const buffer = Buffer.alloc(Math.min(size, maxBytes));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, start);
    const bytes = buffer.subarray(start > 0 ? firstCharacter(buffer) : 0, bytesRead);
    return { text: bytes.toString("utf8"), whole: start === 0 };
  } finally {
    await file.close();
  }
}

async function openOrNull(path: string) {
  try {
    return await open(path, "r");
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

async function* readFrom(path: string, start: number): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of createReadStream(path, { start })) if (Buffer.isBuffer(chunk)) yield chunk;
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

class LineSplitter {
  readonly #decoder = new StringDecoder("utf8");
  readonly #longest: number;
  #rest = "";

  constructor(longest: number) {
    this.#longest = longest;
  }

  *add(chunk: Buffer): Generator<string> {
    yield* this.#split(this.#rest + this.#decoder.write(chunk));
  }

  *end(): Generator<string> {
    yield* this.#split(this.#rest + this.#decoder.end());
    if (this.#rest !== "") yield this.#rest;
    this.#rest = "";
  }

  *#split(text: string): Generator<string> {
    let from = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", from)) {
      yield text.slice(from, text[end - 1] === "\r" && end > from ? end - 1 : end);
      from = end + 1;
    }
    this.#rest = text.slice(from);
    if (this.#rest.length < this.#longest) return;
    yield this.#rest;
    this.#rest = "";
  }
}

/** Resolves when the file changed, at the abort, or after a while: watchers lose events. */
function changed(path: string, signal: AbortSignal): Promise<void> {
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
    if (signal.aborted) done();
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
