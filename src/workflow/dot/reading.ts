import type { Problems } from "../problems.js";
import type { Lexer } from "./lexer.js";
import type { Token } from "./token.js";

/** What every part of the reader works with. */
export interface Reading {
  readonly lexer: Lexer;
  readonly problems: Problems;
}

export function isMark(token: Token, mark: string): boolean {
  return token.type === "mark" && token.text === mark;
}

export function isKeyword(token: Token, keyword: string): boolean {
  if (token.type !== "word" || token.text.length !== keyword.length) return false;
  return token.text === keyword || token.text.toLowerCase() === keyword;
}

/** A token as a message shows it. */
export function nameOf(token: Token): string {
  if (token.type === "end") return "the end of the file";
  const text = token.text.length > 30 ? `${token.text.slice(0, 30)}…` : token.text;
  return token.type === "quoted" ? `"${text}"` : text;
}

export function tellUnexpected({ problems }: Reading, token: Token, expected: string): void {
  problems.error({ at: token.at, rule: "syntax", message: `expected ${expected}, found ${nameOf(token)}` });
}

/** Tells what was expected in place of the next token and goes on with the next statement. */
export function skipStatement(reading: Reading, expected: string): void {
  const { lexer } = reading;
  tellUnexpected(reading, lexer.peek(), expected);
  for (let first = true; ; first = false) {
    const token = lexer.peek();
    if (token.type === "end" || isMark(token, "}") || (!first && (token.opensLine || isMark(token, "{")))) return;
    lexer.take();
    if (isMark(token, ";")) return;
  }
}
