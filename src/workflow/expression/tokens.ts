export type TokenType = "string" | "number" | "word" | "operator" | "end";
export interface Token {
  readonly type: TokenType;
  /** A string's value, anything else as it is written. */
  readonly text: string;
  /** In the text of the expression. */
  readonly index: number;
}
export interface ExpressionProblem {
  readonly index: number;
  readonly message: string;
  readonly hint?: string;
}
export type Read = { readonly token: Token; readonly next: number } | { readonly problem: ExpressionProblem };

const escapes: Readonly<Record<string, string>> = { '"': '"', "'": "'", "\\": "\\", n: "\n", t: "\t", r: "\r" };
const space = /\s+/y;
const numberSigns = /-?\d+(?:\.\d+)?/y;
const wordSigns = /[A-Za-z_][\w.-]*/y;
const plainSigns = /[^"'\\]+/y;
const operators = ["&&", "||", "==", "!=", "!", "(", ")", ","];
/** What people write in other languages. */
const others: Readonly<Record<string, string>> = {
  "===": "write ==",
  "!==": "write !=",
  "=": "write == to compare",
  "&": "write && for and",
  "|": "write || for or",
  "<": "there are == and != only",
  ">": "there are == and != only",
};

/** The token at or after `from`. */
export function readToken(text: string, from: number): Read {
  const index = skipSpace(text, from);
  const first = text[index];
  if (first === undefined) return { token: { type: "end", text: "", index }, next: index };
  if (first === '"' || first === "'") return readString(text, index);
  const number = matchAt(numberSigns, text, index);
  if (number !== null) return readNumber(number, text, index);
  const word = matchAt(wordSigns, text, index);
  if (word !== null) return { token: { type: "word", text: word, index }, next: index + word.length };
  return readOperator(text, index);
}

function readNumber(number: string, text: string, index: number): Read {
  const next = index + number.length;
  if (number.length <= 20 && !/[\w.]/.test(text[next] ?? ""))
    return { token: { type: "number", text: number, index }, next };
  const shown = `${number}${text[next] ?? ""}`.slice(0, 20);
  return { problem: { index, message: `"${shown}" is no number`, hint: "write 3, -1 or 0.5, or quote it" } };
}

function readOperator(text: string, index: number): Read {
  const three = text.slice(index, index + 3);
  const hint = others[three];
  if (hint !== undefined) return { problem: { index, message: `unexpected "${three}"`, hint } };
  const operator = operators.find((sign) => text.startsWith(sign, index));
  if (operator !== undefined)
    return { token: { type: "operator", text: operator, index }, next: index + operator.length };
  const sign = String.fromCodePoint(text.codePointAt(index) ?? 0);
  const known = others[sign];
  return { problem: { index, message: `unexpected "${sign}"`, ...(known === undefined ? {} : { hint: known }) } };
}

function readString(text: string, index: number): Read {
  const quote = text[index];
  const parts: string[] = [];
  let at = index + 1;
  for (;;) {
    const plain = matchAt(plainSigns, text, at);
    if (plain !== null) {
      parts.push(plain);
      at += plain.length;
    }
    const sign = text[at];
    if (sign === undefined) return { problem: { index, message: "the string is not closed", hint: `add ${quote}` } };
    at++;
    if (sign === quote) return { token: { type: "string", text: parts.join(""), index }, next: at };
    if (sign !== "\\") parts.push(sign);
    else {
      const escaped = escapes[text[at] ?? ""];
      if (escaped === undefined)
        return { problem: { index: at - 1, message: "unknown escape", hint: 'write \\" or \\\\' } };
      parts.push(escaped);
      at++;
    }
  }
}

function skipSpace(text: string, from: number): number {
  space.lastIndex = from;
  return space.test(text) ? space.lastIndex : from;
}

function matchAt(pattern: RegExp, text: string, index: number): string | null {
  pattern.lastIndex = index;
  return pattern.test(text) ? text.slice(index, pattern.lastIndex) : null;
}
