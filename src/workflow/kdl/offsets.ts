import { type Document, type Entry, getLocation, type Node } from "@bgotink/kdl";

/**
 * Where the parts of a document stand in its text: for every node its start, then for each of its entries the start, the
 * start of the value and the end of the value, then its children. One list of numbers for the whole document.
 *
 * The parser would keep a place for each part in a weak map, which costs more than all of its parsing. But each part
 * knows what was written in front of and behind it, so places can be counted.
 */
export function countOffsets(document: Document, text: string): number[] | null {
  const counter = new Counter(text);
  counter.document(document);
  return counter.offset === text.length && counter.fits ? counter.offsets : null;
}

/** The same from a document that was parsed with places. */
export function storedOffsets(document: Document): number[] {
  const offsets: number[] = [];
  const add = (nodes: readonly Node[]): void => {
    for (const node of nodes) {
      offsets.push(rangeOf(node).start);
      for (const entry of node.entries) {
        const range = rangeOf(entry);
        const { start, end } = rangeOf(entry.value, range);
        offsets.push(range.start, start, end);
      }
      if (node.children !== null) add(node.children.nodes);
    }
  };
  add(document.nodes);
  return offsets;
}

function rangeOf(
  element: Parameters<typeof getLocation>[0],
  otherwise = { start: 0, end: 0 },
): { readonly start: number; readonly end: number } {
  const found = getLocation(element);
  return found === undefined ? otherwise : { start: found.start.offset, end: found.end.offset };
}

/** Goes along the text, and looks whether each name and value stands where it was counted to be. */
class Counter {
  readonly offsets: number[] = [];
  offset = 0;
  fits = true;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  document({ nodes, trailing }: Document): void {
    for (const node of nodes) this.node(node);
    this.skip(trailing);
  }

  private node({ leading, tag, name, entries, children, beforeChildren, trailing }: Node): void {
    // Types are refused anyway; where they stand is the parser's to say.
    if (tag !== null) this.fits = false;
    this.skip(leading);
    this.offsets.push(this.offset);
    this.expect(name.representation);
    for (const entry of entries) this.entry(entry);
    if (children !== null) {
      this.skip(beforeChildren);
      this.expect("{");
      this.document(children);
      this.expect("}");
    }
    this.skip(trailing);
  }

  private entry({ leading, name, equals, value, trailing }: Entry): void {
    if (value.tag !== null) this.fits = false;
    this.skip(leading);
    this.offsets.push(this.offset);
    if (name !== null) {
      this.expect(name.representation);
      this.skip(equals);
    }
    this.offsets.push(this.offset);
    this.expect(value.representation);
    this.offsets.push(this.offset);
    this.skip(trailing);
  }

  private skip(space: string | undefined): void {
    this.offset += space?.length ?? 0;
  }

  private expect(written: string | undefined): void {
    if (written === undefined || !this.text.startsWith(written, this.offset)) this.fits = false;
    this.offset += written?.length ?? 0;
  }
}
