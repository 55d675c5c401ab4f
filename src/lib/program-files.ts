import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { contradictoryKey } from "./contradiction.js";
import { codeOf } from "./errors.js";
import { findExecutable } from "./executable.js";
import { isEmpty } from "./files.js";
import { readTail } from "./follow-file.js";
import { lastWord } from "./last-word.js";
import { plainText } from "./output-digest.js";
import { shellWord } from "./quoted.js";

const mebibyte = 1024 * 1024;
const largestResult = 10 * mebibyte;

/** The program wrote something there that is no word: half of one must not be taken for silence. */
export class Unreadable {
  /** What the file does, for a sentence. */
  readonly why: string;

  constructor(why = "cannot be read as JSON") {
    this.why = why;
  }
}

/** What a foreign program wrote as JSON; null when there is nothing or something else. `counts`: as in readWritten. */
export async function readForeignJson(path: string, counts: readonly string[] | null = null): Promise<unknown> {
  const value = await readWritten(path, counts);
  return value instanceof Unreadable ? null : value;
}

/**
 * The same, but telling a file that is there and cannot be read from one that is not; an empty one says nothing. `counts`:
 * the keys that its reader goes by; whatever else says two things does not make it unreadable.
 */
export async function readWritten(path: string, counts: readonly string[] | null = null): Promise<unknown> {
  try {
    if (isEmpty(path)) return null;
    // Without waiting, should the program have made a pipe of it.
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = fstatSync(file);
      if (!stats.isFile()) return null;
      if (stats.size > largestResult) return new Unreadable(`is larger than ${largestResult / mebibyte} MiB`);
      // Some programs begin every text with a byte order mark.
      const text = readFileSync(file, "utf8").replace(/^\ufeff/, "");
      if (text.trim() === "") return null;
      const value: unknown = JSON.parse(text);
      const key = contradictoryKey(text, counts);
      return key === null ? value : new Unreadable(`says ${JSON.stringify(key)} twice, and not the same`);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (error instanceof SyntaxError) return new Unreadable();
    if (["ENOENT", "ELOOP", "EISDIR", "ENXIO"].includes(codeOf(error) ?? "")) return null;
    throw error;
  }
}

/** What a program left on stderr last that says something, short enough for a sentence; "" when it said nothing. */
export async function readLastWords(stderrPath: string): Promise<string> {
  const { text } = await readTail(stderrPath, 16 * 1024);
  return (lastWord(plainText(text)) ?? "").slice(0, 300);
}

/** Why `program` could not be started, with a hint; null: it can. `setting`: the key of the configuration that names it. */
export function missingProgram(
  program: string | undefined,
  setting: string,
  dir = process.cwd(),
): { readonly message: string; readonly hint: string } | null {
  if (program === undefined || program === "") {
    return { message: `${setting} is empty`, hint: `name a program: ${setting}: [my-program, --flag]` };
  }
  const seen = findExecutable(program, process.env.PATH ?? "", dir);
  if (seen.state === "found") return null;
  if (seen.state === "not-executable") {
    return { message: `${setting}: ${seen.path} is not executable`, hint: `chmod +x ${shellWord(seen.path)}` };
  }
  const place = program.includes("/") ? "there is no such file" : "it is not on PATH";
  return {
    message: `${setting}: the program ${program} was not found, ${place}`,
    hint: `install ${program}, or correct its spelling in ${setting}`,
  };
}
