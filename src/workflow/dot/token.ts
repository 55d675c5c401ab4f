import type { Position } from "../position.js";

export type TokenType = "word" | "quoted" | "html" | "mark" | "end";

/** Where a token was found. */
export interface Place {
  readonly line: number;
  readonly column: number;
  /** Of its content, which is what stands between the signs of a string. */
  readonly offset: number;
  readonly end: number;
  /** The first of its line: where reading may go on after an error. */
  readonly opensLine: boolean;
}

/** A word or sign of a DOT file. There are very many of them: its place is an object only for who asks. */
export class Token {
  readonly type: TokenType;
  /** A mark as it is written; a word; the content of a string. */
  readonly text: string;
  readonly offset: number;
  readonly end: number;
  readonly opensLine: boolean;
  readonly line: number;
  readonly column: number;

  constructor(type: TokenType, text: string, place: Place) {
    this.type = type;
    this.text = text;
    this.offset = place.offset;
    this.end = place.end;
    this.opensLine = place.opensLine;
    this.line = place.line;
    this.column = place.column;
  }

  get at(): Position {
    return { line: this.line, column: this.column };
  }

  /** Of the first character of its content. */
  get contentAt(): Position {
    return contentOf(this.type, this.at);
  }

  /** What may be a value, or a part of one. */
  get isText(): boolean {
    return this.type === "word" || this.type === "quoted" || this.type === "html";
  }
}

/** Where the content of a token begins. */
export function contentOf(type: TokenType, { line, column }: Position): Position {
  return { line, column: type === "quoted" || type === "html" ? column + 1 : column };
}
