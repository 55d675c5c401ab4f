import type { Document, Entry, Node } from "@bgotink/kdl";
import type { Position } from "../position.js";
import type { Problems } from "../problems.js";
import type { Attempt } from "./attempt.js";
import type { KdlNode, KdlProperty, KdlValue } from "./node.js";
import { type Lines, placesInString } from "./places.js";

/** The text as it is written. */
export interface Written {
  readonly text: string;
  readonly lines: Lines;
}

/** Most places are never asked for: they are found when they are. */
class PlacedProperty implements KdlProperty {
  readonly name: string;
  readonly value: KdlValue;
  private readonly start: number;
  private readonly lines: Lines;

  constructor({ name, value, start, lines }: { name: string; value: KdlValue; start: number; lines: Lines }) {
    this.name = name;
    this.value = value;
    this.start = start;
    this.lines = lines;
  }

  get at(): Position {
    return this.lines.at(this.start);
  }
}

class PlacedValue implements KdlValue {
  readonly value: KdlValue["value"];
  private readonly start: number;
  private readonly end: number;
  private readonly source: Written;
  private places: readonly number[] | null | undefined;

  constructor(value: KdlValue["value"], { start, end }: { start: number; end: number }, source: Written) {
    this.value = value;
    this.start = start;
    this.end = end;
    this.source = source;
  }

  get at(): Position {
    return this.source.lines.at(this.start);
  }

  place(index: number): Position {
    const { text, lines } = this.source;
    const { value, start, end } = this;
    if (typeof value !== "string") return this.at;
    // Without escapes, the value is what stands between the quotes.
    const quote = text[start] === "#" || text[start] === '"' ? text.indexOf('"', start) + 1 - start : 0;
    if (end - start === value.length + 2 * quote && text.startsWith(value, start + quote))
      return lines.at(start + quote + Math.min(index, value.length));
    if (this.places === undefined) this.places = placesInString(text.slice(start, end), value);
    return lines.at(start + (this.places?.[index] ?? (this.places?.at(-1) ?? -1) + 1));
  }
}

/** The names of one node's properties. Most nodes have a few: those need no set. */
class Names {
  private readonly few: string[] = [];
  private readonly many: Set<string> | null;

  constructor(most: number) {
    this.many = most > 16 ? new Set() : null;
  }

  /** False: it is there already. */
  add(name: string): boolean {
    if (this.many?.has(name) || this.few.includes(name)) return false;
    if (this.many === null) this.few.push(name);
    else this.many.add(name);
    return true;
  }
}

/** What the parser made of a text, as our own nodes. */
export class Converter {
  private readonly source: Written;
  private readonly attempt: Attempt;
  private readonly problems: Problems;
  private taken = 0;

  constructor(source: Written, attempt: Attempt, problems: Problems) {
    this.source = source;
    this.attempt = attempt;
    this.problems = problems;
  }

  nodes(document: Document): KdlNode[] {
    return document.nodes.map((node) => this.node(node));
  }

  private node(node: Node): KdlNode {
    const at = this.source.lines.at(this.takeOffset());
    if (node.tag !== null) this.refuseType(at);
    const properties: KdlProperty[] = [];
    const args: KdlValue[] = [];
    const names = new Names(node.entries.length);
    for (const entry of node.entries) {
      const name = entry.getName();
      const start = this.takeOffset();
      const value = this.value(entry);
      if (name === null) args.push(value);
      else if (names.add(name)) properties.push(new PlacedProperty({ name, value, start, lines: this.source.lines }));
      else this.tellTwice(name, start);
    }
    const children = node.children === null ? [] : this.nodes(node.children);
    return { name: node.getName(), at, args, properties, children };
  }

  private tellTwice(name: string, start: number): void {
    this.problems.error({
      at: this.source.lines.at(start),
      rule: "duplicate-property",
      message: `"${name}" is given twice`,
      hint: "keep one of them",
    });
  }

  private value(entry: Entry): KdlValue {
    const start = this.takeOffset();
    const value = new PlacedValue(entry.getValue(), { start, end: this.takeOffset() }, this.source);
    if (entry.getTag() !== null) this.refuseType(value.at);
    return value;
  }

  private refuseType(at: Position): void {
    this.problems.error({
      at,
      rule: "syntax",
      message: "types such as (string) have no meaning here",
      hint: "remove it",
    });
  }

  /** In the file as it is written. */
  private takeOffset(): number {
    return this.attempt.original(this.attempt.offsets[this.taken++] ?? 0);
  }
}
