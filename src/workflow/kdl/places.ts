import type { Position } from "../position.js";

/** Offsets in a text → lines and columns. */
export class Lines {
  private readonly starts: number[];

  constructor(text: string) {
    this.starts = [text.startsWith("\ufeff") ? 1 : 0];
    for (const { index, 0: end } of text.matchAll(/\r\n|\n|\r/g)) this.starts.push(index + end.length);
  }

  at(offset: number): Position {
    const line = countAtMost(this.starts, offset);
    return { line, column: offset - (this.starts[line - 1] ?? 0) + 1 };
  }
}

/** Offsets in a text that one character each was inserted into → offsets in the text as it was. */
export function beforeInserting(inserted: readonly number[]): (offset: number) => number {
  const shifted = inserted.map((offset, before) => offset + before);
  return (offset) => offset - countAtMost(shifted, offset - 1);
}

/** How many of the rising numbers are not above the limit. */
export function countAtMost(numbers: readonly number[], limit: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? Number.POSITIVE_INFINITY) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Where each character of a string's value is in its source, so that an error inside of a condition is told at its own
 * column, whatever quotes and escapes are in front of it. null when the source is not understood: the string's start will do.
 */
export function placesInString(source: string, value: string): number[] | null {
  const places = readPlaces(source);
  return places !== null && places.text === value ? places.offsets : null;
}

interface Places {
  text: string;
  readonly offsets: number[];
}

function readPlaces(source: string): Places | null {
  const opening = /^(r?#*)("(?:"")?)/.exec(source);
  const places: Places = { text: "", offsets: [] };
  if (opening === null) {
    copy(places, { source, from: 0, to: source.length });
    return places;
  }
  const [whole, prefix = "", quotes = ""] = opening;
  const isRaw = prefix !== "";
  const isMultiline = quotes.length === 3 && source.length >= whole.length * 2 && !prefix.startsWith("r");
  const from = prefix.length + (isMultiline ? 3 : 1);
  const to = source.length - from + (prefix.startsWith("r") ? 1 : 0);
  if (to < from) return null;
  if (isMultiline) return readMultiline(source, { from, to, isRaw });
  if (isRaw) copy(places, { source, from, to });
  else copyUnescaped(places, { source, from, to });
  return places;
}

interface Part {
  readonly source: string;
  readonly from: number;
  readonly to: number;
}

function copy(places: Places, { source, from, to }: Part): void {
  places.text += source.slice(from, to);
  for (let offset = from; offset < to; offset++) places.offsets.push(offset);
}

const escapes: Readonly<Record<string, string>> = {
  n: "\n",
  r: "\r",
  t: "\t",
  s: " ",
  b: "\b",
  f: "\f",
  "\\": "\\",
  "/": "/",
  '"': '"',
};

function copyUnescaped(places: Places, { source, from, to }: Part): void {
  const part = /\\u\{([0-9a-fA-F]{1,6})\}|\\([nrtsbf\\/"])|\\(\s+)|[^\\]+|\\/gy;
  part.lastIndex = from;
  while (part.lastIndex < to) {
    const start = part.lastIndex;
    const match = part.exec(source);
    if (match === null) return;
    const [whole, code, letter, space] = match;
    if (space !== undefined) continue;
    if (code === undefined && letter === undefined) {
      copy(places, { source, from: start, to: Math.min(start + whole.length, to) });
      continue;
    }
    const value = code === undefined ? (escapes[letter ?? ""] ?? "") : codePoint(Number.parseInt(code, 16));
    places.text += value;
    for (let unit = 0; unit < value.length; unit++) places.offsets.push(start);
  }
}

function codePoint(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : "";
}

/** The last line's indentation goes from every line; lines of nothing but space are empty. */
function readMultiline(source: string, { from, to, isRaw }: Omit<Part, "source"> & { isRaw: boolean }): Places | null {
  const lines = [...source.slice(from, to).matchAll(/([^\r\n]*)(\r\n|\n|\r|$)/g)];
  const indent = lines.find(({ 2: end }) => end === "")?.[1] ?? "";
  const places: Places = { text: "", offsets: [] };
  for (const [number, { index, 1: line = "", 2: end = "" }] of lines.entries()) {
    if (number === 0) continue;
    if (end === "") break;
    if (number > 1) {
      places.text += "\n";
      places.offsets.push(from + index - 1);
    }
    const start = from + index + (line.trim() === "" ? line.length : indent.length);
    const part = { source, from: start, to: from + index + line.length };
    if (isRaw) copy(places, part);
    else copyUnescaped(places, part);
  }
  return places;
}
