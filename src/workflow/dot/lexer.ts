import type { Position } from "../graph.js";
import type { Problems } from "../problems.js";
import { Token, type TokenType } from "./token.js";
import { htmlText, unquote } from "./value.js";

const space = /\s+/y;
const word =
  /(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*|-?(?:\d+(?:\.\d*)?|\.\d+)\w*)(?:\.[A-Za-z_][\w\u0080-\uffff]*)*/y;
/** Values may go without quotes where other readers want them: model names, `summary:high`, paths. */
const bareValue = /(?:[\w\u0080-\uffff.:/@$%*!~]|-(?![>-]))+/y;
const unknown = /[^\s"<{}[\];,=:+#/\w-]+/y;
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
  /** One for all tokens, which copy it. */
  private readonly place = { line: 1, column: 1, offset: 0, end: 0, opensLine: true };
  /** Read already. */
  private next: Token | null = null;
  /** Given back before `next`, the last one comes next after it. */
  private readonly later: Token[] = [];

  constructor(source: string, problems: Problems) {
    this.source = source;
    this.problems = problems;
    this.lineEnd = endOfLine(source, 0);
  }

  peek(): Token {
    this.next ??= this.later.pop() ?? this.read(word);
    return this.next;
  }

  take(): Token {
    const token = this.peek();
    this.next = null;
    return token;
  }

  /** The next token as a value; only right after `=` or `+`, where nothing was peeked. */
  takeValue(): Token {
    return this.next === null && this.later.length === 0 ? this.read(bareValue) : this.take();
  }

  /** Whoever expected something else leaves the token to the next reader. */
  giveBack(token: Token): void {
    if (this.next !== null) this.later.push(this.next);
    this.next = token;
  }

  /** Nothing more is read: the file is too broken or too big. */
  stop(): void {
    this.offset = this.source.length;
    this.next = null;
    this.later.length = 0;
  }

  private read(bare: RegExp): Token {
    for (;;) {
      this.skipSpace();
      const { source, offset } = this;
      if (offset >= source.length) return this.token("end", "", offset);
      if (this.count++ >= mostTokens) {
        const message = `more than ${mostTokens} words and signs`;
        this.problems.error({ at: this.position(), rule: "too-big", message });
        this.stop();
        continue;
      }
      const character = source[offset];
      if (character === '"' || character === "<") {
        const token = character === "<" ? this.readHtml() : this.readQuoted();
        if (token !== null) return token;
        continue;
      }
      const mark = markAt(source, offset);
      if (mark !== null) {
        const token = this.token("mark", mark, offset + mark.length);
        this.offset += mark.length;
        return token;
      }
      const end = this.endOf(bare) ?? this.endOf(word);
      if (end !== null) {
        const token = this.token("word", source.slice(offset, end), end);
        this.offset = end;
        return token;
      }
      this.skipUnknown(this.position());
    }
  }

  /** Of what begins here; `end` is that of its content. */
  private token(type: TokenType, text: string, end: number): Token {
    const { place } = this;
    place.line = this.line;
    place.column = this.offset - this.lineStart + 1;
    place.offset = type === "quoted" || type === "html" ? this.offset + 1 : this.offset;
    place.end = end;
    place.opensLine = this.opensLine;
    this.opensLine = false;
    return new Token(type, text, place);
  }

  private position(): Position {
    return { line: this.line, column: this.offset - this.lineStart + 1 };
  }

  /** Where a match that begins here ends. Only its place: a match of its own for every word would be most of the garbage. */
  private endOf(pattern: RegExp): number | null {
    pattern.lastIndex = this.offset;
    return pattern.test(this.source) ? pattern.lastIndex : null;
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
      const end = this.endOf(space);
      if (end !== null) this.moveTo(end);
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

  private readQuoted(): Token | null {
    const { source, offset } = this;
    let end = offset + 1;
    while (end < source.length && source[end] !== '"') end += source[end] === "\\" ? 2 : 1;
    if (end >= source.length) {
      this.tellUnclosed(this.position(), "this string is never closed", 'end it with "');
      return null;
    }
    const token = this.token("quoted", unquote(source, offset + 1, end), end);
    this.moveTo(end + 1);
    this.opensLine = false;
    return token;
  }

  private readHtml(): Token | null {
    const { source, offset } = this;
    let depth = 0;
    for (let end = offset; end < source.length; end++) {
      if (source[end] === "<") depth++;
      else if (source[end] === ">") depth--;
      if (depth > 0) continue;
      const token = this.token("html", htmlText(source.slice(offset + 1, end)), end);
      this.moveTo(end + 1);
      this.opensLine = false;
      return token;
    }
    this.tellUnclosed(this.position(), "this <…> label is never closed", "end it with >");
    return null;
  }

  private skipUnknown(at: Position): void {
    const end = this.endOf(unknown) ?? this.offset + 1;
    const run = this.source.slice(this.offset, end);
    this.problems.error({
      at,
      rule: "syntax",
      message: `"${run.slice(0, 20)}" means nothing here`,
      hint: "put texts with such characters in double quotes",
    });
    this.moveTo(end);
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
