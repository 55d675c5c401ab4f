/**
 * A quick look over a KDL text, before the parser sees it. It knows strings and comments of both versions of KDL, and
 * nothing else. It finds what the parser would not survive (deep nesting, which it recurses into) and where files differ
 * from the letter of KDL in a way that people rely on: bare `true` in version 2, `{ a; b }` without a last `;` in version 1.
 */
export interface Scan {
  /** Bare true, false and null among the values. */
  readonly keywords: readonly number[];
  /** Ends of blocks whose last node has no end of its own. */
  readonly openEnds: readonly number[];
  /** Line ends between nodes of the first block, at some distance from each other: where a long text may be cut. */
  readonly breaks: readonly number[];
  /** What is still open at the end: a string, a comment, else the innermost block. */
  readonly unclosed: { readonly offset: number; readonly what: "string" | "comment" | "block" } | null;
  /** Escapes in strings that neither version of KDL knows: its parser of version 1 would keep them as they are. */
  readonly escapes: readonly number[];
  /** Raw strings as `r"…"`, or line breaks in plain strings. */
  readonly isVersion1: boolean;
  readonly refused: Refusal | null;
}
export interface Refusal {
  readonly offset: number;
  readonly message: string;
  readonly hint: string;
}

const wordSigns = /[^\s\\/(){};[\]"#=]+/y;
const hashWord = /#+[^\s\\/(){};[\]"#=]*/y;
const rawOpening = /#*"/y;
const hashOpening = /#+"(?:"")?/y;
const stringSign = /["\\]/g;
const deepest = 64;
const pieceLength = 2 ** 13;
/** The parser copies all text since the last node for each `/-`. */
const mostSlashdashes = 500;

export function scanKdl(text: string): Scan {
  const scanner = new Scanner(text);
  scanner.run();
  return {
    keywords: scanner.keywords,
    openEnds: scanner.openEnds,
    breaks: scanner.breaks,
    escapes: scanner.escapes,
    unclosed: scanner.unclosed(),
    isVersion1: scanner.isVersion1,
    refused: scanner.refused,
  };
}

class Scanner {
  readonly keywords: number[] = [];
  readonly openEnds: number[] = [];
  readonly breaks: number[] = [];
  readonly escapes: number[] = [];
  readonly open: number[] = [];
  isVersion1 = false;
  refused: Refusal | null = null;
  private openText: Scan["unclosed"] = null;
  private readonly text: string;
  private index = 0;
  private inNode = false;
  private isContinued = false;
  private slashdashes = 0;
  /** Begun so far, those inside of others not counted. */
  private blocks = 0;

  constructor(text: string) {
    this.text = text;
  }

  run(): void {
    while (this.index < this.text.length && this.refused === null) this.step(this.text[this.index] ?? "");
  }

  unclosed(): Scan["unclosed"] {
    const block = this.open.at(-1);
    return this.openText ?? (block === undefined ? null : { offset: block, what: "block" });
  }

  private step(sign: string): void {
    if (sign === '"') this.quoted();
    else if (sign === "#") this.hash();
    else if (sign === "/") this.slash();
    else if (sign === "{") this.openBlock();
    else if (sign === "}") this.closeBlock();
    else {
      const end = endAt(wordSigns, this.text, this.index);
      if (end === null) this.sign(sign);
      else this.word(end);
    }
  }

  private sign(sign: string): void {
    if (sign === "\\") this.isContinued = true;
    if (sign === "\n") {
      if (!this.isContinued) this.endLine(this.index + 1);
      this.isContinued = false;
    }
    if (sign === ";") this.inNode = false;
    this.index++;
  }

  private endLine(next: number): void {
    this.inNode = false;
    const isInFirst = this.blocks === 1 && this.open.length === 1;
    if (isInFirst && next - (this.breaks.at(-1) ?? 0) >= pieceLength) this.breaks.push(next);
  }

  private openBlock(): void {
    if (this.open.length >= deepest)
      this.refused = { offset: this.index, message: "blocks are nested too deeply", hint: "a } may be missing above" };
    if (this.open.length === 0) this.blocks++;
    this.open.push(this.index++);
    this.inNode = false;
  }

  private closeBlock(): void {
    this.open.pop();
    if (this.inNode) this.openEnds.push(this.index);
    this.inNode = true;
    this.index++;
  }

  private word(end: number): void {
    const isRaw = this.isWord("r", end) && endAt(rawOpening, this.text, end) !== null;
    if (isRaw) {
      this.isVersion1 = true;
      this.index = end;
      if (this.text[end] === '"') this.skipTo('"', end + 1);
      return;
    }
    const isKeyword = this.isWord("true", end) || this.isWord("false", end) || this.isWord("null", end);
    if (isKeyword && this.inNode && this.text[end] !== "=") this.keywords.push(this.index);
    this.inNode = true;
    this.index = end;
  }

  private isWord(word: string, end: number): boolean {
    return end - this.index === word.length && this.text.startsWith(word, this.index);
  }

  private quoted(): void {
    this.inNode = true;
    const start = this.index;
    const quote = this.text.startsWith('"""', start) ? '"""' : '"';
    this.index = this.endOr(endOfString(this.text, start, quote), { offset: start, what: "string" });
    const written = this.text.slice(start, this.index);
    if (quote === '"' && written.includes("\n")) this.isVersion1 = true;
    for (const offset of wrongEscapes(written)) this.escapes.push(start + offset);
  }

  private hash(): void {
    this.inNode = true;
    const opening = matchAt(hashOpening, this.text, this.index);
    if (opening === null) {
      this.index = endAt(hashWord, this.text, this.index) ?? this.index + 1;
      return;
    }
    const hashes = opening.replaceAll('"', "");
    this.skipTo(`${opening.slice(hashes.length)}${hashes}`, this.index + opening.length);
  }

  private slash(): void {
    const next = this.text[this.index + 1];
    if (next === "/") {
      const end = this.text.indexOf("\n", this.index);
      this.index = end === -1 ? this.text.length : end;
    } else if (next === "*") this.blockComment();
    else {
      if (next === "-" && ++this.slashdashes > mostSlashdashes)
        this.refused = { offset: this.index, message: "too many /- comments", hint: "use /* and */ for long parts" };
      this.index += next === "-" ? 2 : 1;
    }
  }

  private blockComment(): void {
    const edge = /\/\*|\*\//g;
    edge.lastIndex = this.index;
    let depth = 0;
    for (let match = edge.exec(this.text); match !== null; match = edge.exec(this.text)) {
      depth += match[0] === "/*" ? 1 : -1;
      if (depth > 0) continue;
      this.index = edge.lastIndex;
      return;
    }
    this.index = this.endOr(null, { offset: this.index, what: "comment" });
  }

  private skipTo(closing: string, from: number): void {
    const end = this.text.indexOf(closing, from);
    this.index = this.endOr(end === -1 ? null : end + closing.length, { offset: this.index, what: "string" });
    this.inNode = true;
  }

  private endOr(end: number | null, open: Scan["unclosed"]): number {
    if (end === null) this.openText = open;
    return end ?? this.text.length;
  }
}

function endOfString(text: string, start: number, quote: string): number | null {
  stringSign.lastIndex = start + quote.length;
  while (stringSign.test(text)) {
    const at = stringSign.lastIndex - 1;
    if (text[at] === "\\") stringSign.lastIndex = at + 2;
    else if (text.startsWith(quote, at)) return at + quote.length;
  }
  return null;
}

function wrongEscapes(written: string): number[] {
  if (!written.includes("\\")) return [];
  const found = written.matchAll(/\\(?:[nrtbfs\\/"\s]|u\{([\da-fA-F]{1,6})\})?/g);
  return [...found].flatMap(({ 0: sign, 1: code, index }) =>
    sign === "\\" || (code !== undefined && !isScalar(Number.parseInt(code, 16))) ? [index] : [],
  );
}

/** Half of a pair is no character. */
function isScalar(code: number): boolean {
  return code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

/** Where the match that begins here ends. */
function endAt(pattern: RegExp, text: string, index: number): number | null {
  pattern.lastIndex = index;
  return pattern.test(text) ? pattern.lastIndex : null;
}

function matchAt(pattern: RegExp, text: string, index: number): string | null {
  pattern.lastIndex = index;
  return pattern.exec(text)?.[0] ?? null;
}
