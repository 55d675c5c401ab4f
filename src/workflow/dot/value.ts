import type { Position } from "../graph.js";
import { contentOf, type Token, type TokenType } from "./token.js";

/** A piece of a value as it stands in the file; `"a" + "b"` has two. */
interface Piece {
  readonly type: TokenType;
  readonly offset: number;
  readonly end: number;
  readonly contentAt: Position;
}

/**
 * The value of an attribute, and enough to find each of its characters in the file again. Numbers rather than the tokens
 * it was made of: a large file has many values, and they live as long as the file is being read.
 */
export class Value implements Piece {
  readonly text: string;
  readonly type: TokenType;
  readonly offset: number;
  readonly end: number;
  private readonly line: number;
  private readonly column: number;
  private readonly keyLine: number;
  private readonly keyColumn: number;
  private readonly more: readonly Token[];

  constructor(key: Token, first: Token, more: readonly Token[]) {
    this.text = more.length === 0 ? first.text : `${first.text}${more.map(({ text }) => text).join("")}`;
    this.type = first.type;
    this.offset = first.offset;
    this.end = first.end;
    this.line = first.line;
    this.column = first.column;
    this.keyLine = key.line;
    this.keyColumn = key.column;
    this.more = more;
  }

  get at(): Position {
    return { line: this.line, column: this.column };
  }

  get keyAt(): Position {
    return { line: this.keyLine, column: this.keyColumn };
  }

  get contentAt(): Position {
    return contentOf(this.type, this.at);
  }

  get pieces(): readonly Piece[] {
    return [this, ...this.more];
  }
}

interface Step {
  readonly text: string;
  readonly length: number;
}

const escapes: Readonly<Record<string, string>> = {
  n: "\n",
  l: "\n",
  r: "\n",
  t: "\t",
  '"': '"',
  "\\": "\\",
  "\n": "",
};

/** One character of a quoted string. What is no escape of DOT stays: a command's `\d` is its own. */
function readStep(source: string, offset: number): Step {
  const character = source[offset] ?? "";
  if (character === "\r" && source[offset + 1] === "\n") return { text: "\n", length: 2 };
  if (character !== "\\") return { text: character, length: 1 };
  const next = source[offset + 1] ?? "";
  if (next === "\r" && source[offset + 2] === "\n") return { text: "", length: 3 };
  const meaning = Object.hasOwn(escapes, next) ? escapes[next] : undefined;
  return { text: meaning ?? `\\${next}`, length: 1 + next.length };
}

/** The content of a quoted string, between its quotes. */
export function unquote(source: string, offset: number, end: number): string {
  const raw = source.slice(offset, end);
  if (!/[\\\r]/.test(raw)) return raw;
  const parts: string[] = [];
  let plainFrom = offset;
  for (let at = offset; at < end; ) {
    const character = source[at];
    if (character !== "\\" && character !== "\r") {
      at++;
      continue;
    }
    const step = readStep(source, at);
    parts.push(source.slice(plainFrom, at), step.text);
    at += step.length;
    plainFrom = at;
  }
  parts.push(source.slice(plainFrom, end));
  return parts.join("");
}

/** Where the character `index` of a value stands in the file. */
export function positionIn(source: string, value: Value, index: number): Position {
  return placesIn(source, value)(index);
}

/** The same for many: whoever asks from the beginning to the end pays for one pass. */
export function placesIn(source: string, value: Value): (index: number) => Position {
  const { pieces } = value;
  let cursor = new Cursor(source, pieces);
  return (index) => {
    if (index < cursor.passed) cursor = new Cursor(source, pieces);
    return cursor.goTo(index);
  };
}

class Cursor {
  /** How many characters of the value are behind it. */
  passed = 0;
  readonly #source: string;
  readonly #pieces: readonly Piece[];
  #piece = -1;
  #at = 0;
  #place: Position = { line: 1, column: 1 };

  constructor(source: string, pieces: readonly Piece[]) {
    this.#source = source;
    this.#pieces = pieces;
    this.#enterNext();
  }

  goTo(index: number): Position {
    for (;;) {
      const piece = this.#pieces[this.#piece];
      while (piece !== undefined && this.#at < piece.end) {
        const step =
          piece.type === "quoted"
            ? readStep(this.#source, this.#at)
            : { text: this.#source[this.#at] ?? "", length: 1 };
        if (index - this.passed < step.text.length) return this.#place;
        this.#take(step);
      }
      if (!this.#enterNext()) return this.#place;
    }
  }

  #take({ text, length }: Step): void {
    let { line, column } = this.#place;
    for (const character of this.#source.slice(this.#at, this.#at + length)) {
      line = character === "\n" ? line + 1 : line;
      column = character === "\n" ? 1 : column + character.length;
    }
    this.passed += text.length;
    this.#at += length;
    this.#place = { line, column };
  }

  #enterNext(): boolean {
    const next = this.#pieces[this.#piece + 1];
    if (next === undefined) return false;
    this.#piece += 1;
    this.#at = next.offset;
    this.#place = next.contentAt;
    return true;
  }
}

const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'", nbsp: " " };

/** An HTML-like label as the text that a person would see. */
export function htmlText(html: string): string {
  return html
    .replace(/<br\b[^<>]*>|<\/(?:tr|p|div)\s*>/gi, "\n")
    .replace(/<[^<>]*>/g, "")
    .replace(/&(?:#(\d{1,7})|([a-z]{2,5}));/gi, (whole, code: string | undefined, name: string | undefined) => {
      if (code !== undefined) return Number(code) <= 0x10ffff ? String.fromCodePoint(Number(code)) : whole;
      return entities[name?.toLowerCase() ?? ""] ?? whole;
    })
    .trim();
}
