import * as z from "zod";

/**
 * The kinds of values settings are made of. Each carries the words for what it allows, so that a message, the reference
 * and the check never disagree.
 */
const allowed = z.registry<{ readonly allowed: string }>();
const shown = z.registry<{ readonly shown: string }>();

export function allow<S extends z.ZodType>(schema: S, words: string): S {
  allowed.add(schema, { allowed: words });
  return schema;
}

export function wordsOf(schema: z.ZodType): string | null {
  return allowed.get(schema)?.allowed ?? null;
}

/** For defaults that depend on something else: what the reference says in their place. */
export function showDefault<S extends z.ZodType>(schema: S, words: string): S {
  shown.add(schema, { shown: words });
  return schema;
}

export function shownDefault(schema: z.ZodType): string | null {
  return shown.get(schema)?.shown ?? null;
}

export const aWeekInSeconds = 604_800;

export const flag = () => allow(z.boolean(), "true or false");

export function oneOf<const V extends readonly [string, ...string[]]>(values: V) {
  return allow(z.enum(values), values.length === 1 ? values[0] : `one of ${values.join(", ")}`);
}

export function wholeNumber(min: number) {
  return allow(z.int().min(min), `a whole number of ${min} or more`);
}

/** A time after which something is stopped; a week is as good as never and still fits every timer. */
export function seconds() {
  const words = `seconds, more than 0 and at most ${aWeekInSeconds}`;
  return allow(z.number().gt(0).max(aWeekInSeconds), words);
}

export function positiveNumber() {
  return allow(z.number().gt(0), "a number of more than 0");
}

export function text(words = "a text that is not empty") {
  return allow(z.string().min(1), words);
}

export function textLike(pattern: RegExp, words: string) {
  return allow(z.string().regex(pattern), words);
}

export function listOf<E extends z.ZodType>(element: E, words: string) {
  return allow(z.array(element), `a list of ${words}`);
}

/** The words of a command line: a program and its arguments. */
export function programAndArguments() {
  return listOf(allow(z.string(), "a text"), "a program and its arguments, such as [node, agent.js]");
}
