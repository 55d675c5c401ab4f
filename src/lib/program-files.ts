import { open } from "node:fs/promises";
import { codeOf } from "./errors.js";
import { findExecutable } from "./executable.js";
import { readTail } from "./follow-file.js";
import { plainText } from "./output-digest.js";

const largestResult = 10 * 1024 * 1024;

/** What a foreign program wrote as JSON; null when there is nothing, too much of it, or something else. */
export async function readForeignJson(path: string): Promise<unknown> {
  try {
    const file = await open(path, "r");
    try {
      const stats = await file.stat();
      if (!stats.isFile() || stats.size > largestResult) return null;
      const value: unknown = JSON.parse(await file.readFile("utf8"));
      return value;
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof SyntaxError || ["ENOENT", "ELOOP", "EISDIR", "ENXIO"].includes(codeOf(error) ?? ""))
      return null;
    throw error;
  }
}

/** The last line a program left on stderr, short enough for a sentence; "" when it said nothing. */
export async function readLastWords(stderrPath: string): Promise<string> {
  const { text } = await readTail(stderrPath, 16 * 1024);
  const line = plainText(text)
    .split("\n")
    .findLast((each) => each.trim() !== "");
  return line === undefined ? "" : line.trim().slice(0, 300);
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
    return { message: `${setting}: ${seen.path} is not executable`, hint: `chmod +x ${seen.path}` };
  }
  const place = program.includes("/") ? "there is no such file" : "it is not on PATH";
  return {
    message: `${setting}: the program ${program} was not found, ${place}`,
    hint: `install ${program}, or correct its spelling in ${setting}`,
  };
}
