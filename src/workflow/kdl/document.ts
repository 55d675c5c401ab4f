import type { Problems } from "../problems.js";
import { type Attempt, firstThatParses } from "./attempt.js";
import { Converter } from "./convert.js";
import type { KdlNode } from "./node.js";
import { readPieces } from "./pieces.js";
import { Lines } from "./places.js";
import { type Scan, scanKdl } from "./scan.js";

/** Two million characters are ten thousand stages. More is no workflow, and the parser needs a second for each million. */
const longest = 2 ** 21;
const mostErrors = 20;

/** null: no document; there is an error then. */
export function readDocument(text: string, problems: Problems): KdlNode[] | null {
  const top = { line: 1, column: 1 };
  if (text.length > longest) {
    const message = `the file has ${text.length} characters, at most ${longest} are read`;
    problems.error({ at: top, rule: "too-large", message, hint: "put long prompts into files: prompt_file" });
    return null;
  }
  const scan = scanKdl(text);
  const lines = new Lines(text);
  if (scan.refused !== null) {
    const { offset, message, hint } = scan.refused;
    problems.error({ at: lines.at(offset), rule: "syntax", message, hint });
    return null;
  }
  const pieces = readPieces({ text, lines }, scan);
  if (pieces !== null) return pieces;
  const attempt = firstThatParses(text, scan);
  if (attempt.document === null) tellErrors(attempt, { text, scan, lines, problems });
  else tellEscapes({ text, scan, lines, problems });
  return attempt.document === null || scan.escapes.length > 0
    ? null
    : new Converter({ text, lines }, attempt, problems).nodes(attempt.document);
}

interface Source {
  readonly text: string;
  readonly scan: Scan;
  readonly lines: Lines;
  readonly problems: Problems;
}

const closing = { string: "add the closing quote", comment: "add */", block: "add }" };

function tellErrors({ errors, original }: Attempt, { text, scan, lines, problems }: Source): void {
  if (errors.length === 0) {
    const open = scan.unclosed;
    const message = open === null ? "this is no KDL: what is before this place cannot be read" : unclosed(open);
    const hint = open === null ? "look for a \\, a # or a */ that is too many" : closing[open.what];
    problems.error({ at: lines.at(open?.offset ?? text.trimEnd().length), rule: "syntax", message, hint });
  }
  for (const error of errors.slice(0, mostErrors)) {
    const offset = Math.min(original(error.start?.offset ?? text.length), text.length);
    const open = text.slice(offset).trim() === "" ? scan.unclosed : null;
    const message = open === null ? plainMessage(error.message) : unclosed(open);
    const hint = open === null ? {} : { hint: closing[open.what] };
    problems.error({ at: lines.at(open?.offset ?? offset), rule: "syntax", message, ...hint });
    if (open !== null) return;
  }
}

function tellEscapes({ text, scan, lines, problems }: Source): void {
  for (const offset of scan.escapes.slice(0, mostErrors)) {
    const sign = /^\\u\{[^"}\s]{0,20}\}|^\\./su.exec(text.slice(offset, offset + 30))?.[0] ?? "\\";
    const hint = sign.startsWith("\\u")
      ? "a character is \\u{…} with its number, in hexadecimal"
      : "a backslash is \\\\";
    problems.error({ at: lines.at(offset), rule: "syntax", message: `unknown escape ${sign}`, hint });
  }
}

function unclosed({ what }: NonNullable<Scan["unclosed"]>): string {
  return `the ${what} is not closed`;
}

/** Without the library's own place, which counts what was inserted. */
function plainMessage(message: string): string {
  const plain = message.replace(/ at (?:\d+:\d+|end of input)$/, "");
  return plain.length > 300 ? `${plain.slice(0, 300)}…` : plain;
}
