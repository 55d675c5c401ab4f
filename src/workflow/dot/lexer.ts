import type { Position } from "../graph.js";
import type { Problems } from "../problems.js";
import { htmlText, type Piece, unquote } from "./value.js";

export type TokenType = "word" | "quoted" | "html" | "mark" | "end";
export interface Token {
  readonly type: TokenType;
  /** A mark as it is written; a word; the content of a string. */
  readonly text: string;
  readonly at: Position;
  /** The first of its line: where reading may go on after an error. */
  readonly opensLine: boolean;
  /** Of a word or string. */
  readonly piece: Piece | null;
}

const space = /\s+/y;
const word =
  /(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*|-?(?:\d+(?:\.\d*)?|\.\d+)\w*)(?:\.[A-Za-z_][\w\u0080-\uffff]*)*/y;
/** Values may go without quotes where other readers want them: model names, `summary:high`, paths. */
const bareValue = /(?:[\w\u0080-\uffff.:/@$%*!~]|-(?![>-]))+/y;
const marks = "{}[];,=:+";
/** Each of them was looked for up to the end of the file. */
const mostUnclosed = 5;
const mostTokens = 1_000_000;

/**
 * The words of a DOT file, each with its place. It never fails: what cannot be read is told and left out. It goes over
 * the text once; only an unclosed string is read a second time, and only a few of them.
 */
export class Lexer {
  private readonly source: string;
  private readonly problems: Problems;
  private offset = 0;
  private line = 1;
  private lineStart = 0;
  private opensLine = true;
  private lineEnd: number;
  private unclosed = 0;
  private count = 0;
  /** Read already, the next one last. */
  private ahead: Token[] = [];

  constructor(source: string, problems: Problems) {
    this.source = source;
    this.problems = problems;
    this.lineEnd = endOfLine(source, 0);
  }

  peek(): Token {
    const known = this.ahead.at(-1);
    if (known !== undefined) return known;
    const token = this.read(word);
    this.ahead.push(token);
    return token;
  }

  take(): Token {
    const token = this.peek();
    this.ahead.pop();
    return token;
  }

  /** The next token as a value; only right after `=` or `+`, where nothing was peeked. */
  takeValue(): Token {
    return this.ahead.length === 0 ? this.read(bareValue) : this.take();
  }

  /** Whoever expected something else leaves the token to the next reader. */
  giveBack(token: Token): void {
    this.ahead.push(token);
  }

  /** Nothing more is read: the file is too broken or too big. */
  stop(): void {
    this.offset = this.source.length;
    this.ahead = [];
  }

  private read(bare: RegExp): Token {
    for (;;) {
      this.skipSpace();
      const { source, offset } = this;
      const at = this.position();
      if (offset >= source.length) return this.token("end", "", at);
      if (this.count++ >= mostTokens) {
        this.problems.error({ at, rule: "too-big", message: `more than ${mostTokens} words and signs` });
        this.stop();
        continue;
      }
      const character = source[offset];
      if (character === '"') {
        const token = this.readQuoted(at);
        if (token !== null) return token;
        continue;
      }
      if (character === "<") {
        const token = this.readHtml(at);
        if (token !== null) return token;
        continue;
      }
      const mark = markAt(source, offset);
      if (mark !== null) {
        this.offset += mark.length;
        return this.token("mark", mark, at);
      }
      const text = this.match(bare) ?? this.match(word);
      if (text !== null) {
        const piece: Piece = { form: "bare", offset, end: offset + text.length, at };
        this.offset += text.length;
        return this.token("word", text, at, piece);
      }
      this.skipUnknown(at);
    }
  }

  private token(type: TokenType, text: string, at: Position, piece: Piece | null = null): Token {
    const token: Token = { type, text, at, opensLine: this.opensLine, piece };
    this.opensLine = false;
    return token;
  }

  private position(): Position {
    return { line: this.line, column: this.offset - this.lineStart + 1 };
  }

  private match(pattern: RegExp): string | null {
    pattern.lastIndex = this.offset;
    return pattern.exec(this.source)?.[0] ?? null;
  }

  /** Moves on and counts the lines on the way. */
  private moveTo(offset: number): void {
    while (this.lineEnd < offset) {
      this.line++;
      this.lineStart = this.lineEnd + 1;
      this.lineEnd = endOfLine(this.source, this.lineStart);
      this.opensLine = true;
    }
    this.offset = offset;
  }

  private skipSpace(): void {
    for (;;) {
      const blank = this.match(space);
      if (blank !== null) this.moveTo(this.offset + blank.length);
      else if (this.source[this.offset] === "#" || this.source.startsWith("//", this.offset)) this.moveTo(this.lineEnd);
      else if (this.source.startsWith("/*", this.offset)) this.skipBlock();
      else return;
    }
  }

  private skipBlock(): void {
    const end = this.source.indexOf("*/", this.offset + 2);
    if (end !== -1) {
      this.moveTo(end + 2);
      return;
    }
    this.tellUnclosed(this.position(), "this comment is never closed", "end it with */");
  }

  /** Goes on at the next line, so that what follows is still checked. */
  private tellUnclosed(at: Position, message: string, hint: string): void {
    this.problems.error({ at, rule: "syntax", message, hint });
    this.unclosed++;
    this.moveTo(this.unclosed > mostUnclosed ? this.source.length : this.lineEnd);
  }

  private readQuoted(at: Position): Token | null {
    const { source, offset } = this;
    let end = offset + 1;
    while (end < source.length && source[end] !== '"') end += source[end] === "\\" ? 2 : 1;
    if (end >= source.length) {
      this.tellUnclosed(at, "this string is never closed", 'end it with "');
      return null;
    }
    const piece = { form: "quoted", offset: offset + 1, end, at: { line: at.line, column: at.column + 1 } } as const;
    const token = this.token("quoted", unquote(source, offset + 1, end), at, piece);
    this.moveTo(end + 1);
    this.opensLine = false;
    return token;
  }

  private readHtml(at: Position): Token | null {
    const { source, offset } = this;
    let depth = 0;
    for (let end = offset; end < source.length; end++) {
      if (source[end] === "<") depth++;
      else if (source[end] === ">") depth--;
      if (depth > 0) continue;
      const piece = { form: "html", offset: offset + 1, end, at: { line: at.line, column: at.column + 1 } } as const;
      const token = this.token("html", htmlText(source.slice(offset + 1, end)), at, piece);
      this.moveTo(end + 1);
      this.opensLine = false;
      return token;
    }
    this.tellUnclosed(at, "this <…> label is never closed", "end it with >");
    return null;
  }

  private skipUnknown(at: Position): void {
    const run = this.match(/[^\s"<{}[\];,=:+#/\w-]+/y) ?? this.source[this.offset] ?? "";
    this.problems.error({
      at,
      rule: "syntax",
      message: `"${run.slice(0, 20)}" means nothing here`,
      hint: "put texts with such characters in double quotes",
    });
    this.moveTo(this.offset + run.length);
    if (this.problems.isFull()) this.stop();
  }
}

function markAt(source: string, offset: number): string | null {
  const character = source[offset] ?? "";
  if (marks.includes(character)) return character;
  const next = character === "-" ? source[offset + 1] : undefined;
  return next === ">" || next === "-" ? character + next : null;
}

function endOfLine(source: string, from: number): number {
  const end = source.indexOf("\n", from);
  return end === -1 ? source.length : end;
}
