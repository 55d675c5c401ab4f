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
  let left = index;
  const { pieces } = value;
  for (const piece of pieces) {
    const last = piece === pieces.at(-1);
    let { line, column } = piece.contentAt;
    for (let at = piece.offset; at < piece.end; ) {
      const step = piece.type === "quoted" ? readStep(source, at) : { text: source[at] ?? "", length: 1 };
      if (left < step.text.length) return { line, column };
      left -= step.text.length;
      for (const character of source.slice(at, at + step.length)) {
        line = character === "\n" ? line + 1 : line;
        column = character === "\n" ? 1 : column + character.length;
      }
      at += step.length;
    }
    if (last) return { line, column };
  }
  return value.at;
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
