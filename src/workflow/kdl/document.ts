import { type Document, type Entry, getLocation, InvalidKdlError, type Node, parse } from "@bgotink/kdl";
import { parse as parseVersion1 } from "@bgotink/kdl/v1-compat";
import type { Position } from "../position.js";
import type { Problems } from "../problems.js";
import { beforeInserting, Lines, placesInString } from "./places.js";
import { type Scan, scanKdl } from "./scan.js";

/**
 * KDL as our own small nodes, with places in the file as it is written. A text is read as version 2 with `#` put in front of
 * bare keywords, else as version 1 with the `;` that it wants before `}`: together these take the files that people have.
 */
export interface KdlNode {
  readonly name: string;
  readonly at: Position;
  readonly args: readonly KdlValue[];
  readonly properties: readonly KdlProperty[];
  readonly children: readonly KdlNode[];
}
export interface KdlProperty {
  readonly name: string;
  readonly at: Position;
  readonly value: KdlValue;
}
export interface KdlValue {
  readonly value: string | number | boolean | null;
  readonly at: Position;
  /** Of a character of the value. */
  readonly place: (index: number) => Position;
}

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
  const attempt = firstThatParses(text, scan);
  if (attempt.document === null) tellErrors(attempt, { text, scan, lines, problems });
  return attempt.document === null ? null : new Converter(text, { lines, attempt, problems }).nodes(attempt.document);
}

interface Attempt {
  readonly document: Document | null;
  readonly errors: readonly InvalidKdlError[];
  readonly original: (offset: number) => number;
}

function firstThatParses(text: string, scan: Scan): Attempt {
  const version2 = attempt(parse, text, { sign: "#", offsets: scan.keywords });
  if (version2.document !== null) return version2;
  const version1 = attempt(parseVersion1, text, { sign: ";", offsets: scan.openEnds });
  return version1.document !== null || scan.isVersion1 ? version1 : version2;
}

type Parse = (text: string, options: { storeLocations: boolean }) => Document;
interface Inserts {
  readonly sign: string;
  readonly offsets: readonly number[];
}

function attempt(read: Parse, text: string, inserts: Inserts): Attempt {
  const original = beforeInserting(inserts.offsets);
  // The library makes an error of every mistake. Their stacks, which nobody sees, would take most of the time.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return { document: read(insert(text, inserts), { storeLocations: true }), errors: [], original };
  } catch (error) {
    // The library stumbles over some texts that end too early, with an error that says nothing of the text.
    if (error instanceof TypeError || error instanceof RangeError) return { document: null, errors: [], original };
    if (!(error instanceof InvalidKdlError)) throw error;
    return { document: null, errors: [...error.flat()].filter(isAboutText), original };
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function isAboutText({ message }: InvalidKdlError): boolean {
  return !message.startsWith("An unexpected error occurred");
}

function insert(text: string, { sign, offsets }: Inserts): string {
  const parts = offsets.map((offset, index) => text.slice(offsets[index - 1] ?? 0, offset) + sign);
  return parts.join("") + text.slice(offsets.at(-1) ?? 0);
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

function unclosed({ what }: NonNullable<Scan["unclosed"]>): string {
  return `the ${what} is not closed`;
}

/** Without the library's own place, which counts what was inserted. */
function plainMessage(message: string): string {
  const plain = message.replace(/ at (?:\d+:\d+|end of input)$/, "");
  return plain.length > 300 ? `${plain.slice(0, 300)}…` : plain;
}

class Converter {
  private readonly text: string;
  private readonly lines: Lines;
  private readonly original: Attempt["original"];
  private readonly problems: Problems;

  constructor(text: string, { lines, attempt, problems }: { lines: Lines; attempt: Attempt; problems: Problems }) {
    this.text = text;
    this.lines = lines;
    this.original = attempt.original;
    this.problems = problems;
  }

  nodes(document: Document): KdlNode[] {
    return document.nodes.map((node) => this.node(node));
  }

  private node(node: Node): KdlNode {
    const at = this.lines.at(this.range(node).start);
    if (node.tag !== null) this.refuseType(at);
    const properties = new Map<string, KdlProperty>();
    const args: KdlValue[] = [];
    for (const entry of node.entries) {
      const name = entry.getName();
      const value = this.value(entry);
      if (name === null) args.push(value);
      else this.property(properties, { name, at: this.lines.at(this.range(entry).start), value });
    }
    const children = node.children === null ? [] : this.nodes(node.children);
    return { name: node.getName(), at, args, properties: [...properties.values()], children };
  }

  private property(properties: Map<string, KdlProperty>, property: KdlProperty): void {
    const { name, at } = property;
    if (properties.has(name)) {
      const hint = "keep one of them";
      this.problems.error({ at, rule: "duplicate-property", message: `"${name}" is given twice`, hint });
    } else properties.set(name, property);
  }

  private value(entry: Entry): KdlValue {
    const value = entry.getValue();
    const { start, end } = this.range(entry.value, this.range(entry));
    if (entry.getTag() !== null) this.refuseType(this.lines.at(start));
    let places: number[] | null | undefined;
    const place = (index: number): Position => {
      if (places === undefined)
        places = typeof value === "string" ? placesInString(this.text.slice(start, end), value) : null;
      const last = places?.at(-1) ?? -1;
      return this.lines.at(start + (places?.[index] ?? last + 1));
    };
    return { value, at: this.lines.at(start), place };
  }

  private refuseType(at: Position): void {
    this.problems.error({
      at,
      rule: "syntax",
      message: "types such as (string) have no meaning here",
      hint: "remove it",
    });
  }

  private range(
    element: Parameters<typeof getLocation>[0],
    otherwise = { start: 0, end: 0 },
  ): { start: number; end: number } {
    const found = getLocation(element);
    if (found === undefined) return otherwise;
    return { start: this.original(found.start.offset), end: this.original(found.end.offset) };
  }
}
