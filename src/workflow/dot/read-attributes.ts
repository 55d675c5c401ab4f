import { nearest } from "../../core/suggest.js";
import type { Position } from "../graph.js";
import { attributeMeaning, knownAttributes, type Owner, sameName } from "./attributes.js";
import { isMark, nameOf, type Reading, tellUnexpected } from "./reading.js";
import type { Token } from "./token.js";
import { Value } from "./value.js";

export type Attributes = Map<string, Value>;

const none: readonly Token[] = [];
/** What every reading of DOT takes without quotes. */
const plainWord = /^[\w\u0080-\uffff.-]*$/;

/** All `[ … ]` blocks that follow; a later attribute wins. */
export function readAttributes(reading: Reading, owner: Owner): Attributes {
  const { lexer, problems } = reading;
  const attributes: Attributes = new Map();
  while (isMark(lexer.peek(), "[") && !problems.isFull()) {
    const opened = lexer.take();
    readBlock(reading, { owner, opened: opened.at, attributes });
  }
  return attributes;
}

function readBlock(
  reading: Reading,
  { owner, opened, attributes }: { readonly owner: Owner; readonly opened: Position; readonly attributes: Attributes },
): void {
  const { lexer, problems } = reading;
  while (!problems.isFull()) {
    const token = lexer.peek();
    if (isMark(token, "]")) {
      lexer.take();
      return;
    }
    if (isMark(token, ",") || isMark(token, ";")) {
      lexer.take();
      continue;
    }
    if (token.type === "end" || isMark(token, "{") || isMark(token, "}") || isMark(token, "->")) {
      tellOpen(reading, token, opened);
      return;
    }
    lexer.take();
    if (token.opensLine && token.type !== "mark" && !isMark(lexer.peek(), "=")) {
      // A statement rather than an attribute: it is read as what it is.
      lexer.giveBack(token);
      tellOpen(reading, token, opened);
      return;
    }
    if (token.type === "mark" || token.type === "html") {
      tellUnexpected(reading, token, 'an attribute such as label="…"');
      continue;
    }
    const value = readAttribute(reading, token);
    if (value !== null && keepsAttribute(reading, owner, { key: token.text, value }))
      attributes.set(sameName(token.text), value);
  }
}

function tellOpen({ problems }: Reading, { at }: Token, opened: Position): void {
  problems.error({ at, rule: "syntax", message: `the [ of line ${opened.line} is never closed`, hint: "add a ]" });
}

function readAttribute(reading: Reading, key: Token): Value | null {
  const { lexer } = reading;
  if (isMark(lexer.peek(), "=")) {
    lexer.take();
    return readValue(reading, key);
  }
  reading.problems.error({
    at: key.at,
    rule: "syntax",
    message: `${nameOf(key)} has no value`,
    hint: `write ${key.text.slice(0, 40)}=true or ${key.text.slice(0, 40)}="…"`,
  });
  return null;
}

/** After `=`: a word, a string, strings joined by +, or an HTML label. */
export function readValue(reading: Reading, key: Token): Value | null {
  const { lexer, problems } = reading;
  const first = lexer.takeValue();
  if (!first.isText) {
    lexer.giveBack(first);
    tellUnexpected(reading, first, "a value");
    return null;
  }
  if (first.type === "word" && !plainWord.test(first.text))
    problems.warning({
      at: first.at,
      rule: "unquoted",
      message: `${first.text.slice(0, 40)} should be quoted: other readings of DOT refuse it`,
      hint: `write "${first.text.slice(0, 40)}"`,
    });
  let more: Token[] | null = null;
  while (isMark(lexer.peek(), "+")) {
    lexer.take();
    const next = lexer.takeValue();
    if (!next.isText) {
      lexer.giveBack(next);
      tellUnexpected(reading, next, "a string after +");
      break;
    }
    more ??= [];
    more.push(next);
  }
  return new Value(key, first, more ?? none);
}

/** Unknown attributes are told, looks are passed over: public files carry both. */
export function keepsAttribute(
  reading: Reading,
  owner: Owner,
  { key, value }: { readonly key: string; readonly value: Value },
): boolean {
  const meaning = attributeMeaning(owner, key);
  if (meaning !== "unknown") return meaning === "known";
  const meant = nearest(key, knownAttributes(owner));
  reading.problems.warning({
    at: value.keyAt,
    rule: "unknown-attribute",
    message: `unknown ${owner} attribute "${key.slice(0, 60)}": it changes nothing`,
    ...(meant === null ? {} : { hint: `did you mean ${meant}?` }),
  });
  return false;
}
