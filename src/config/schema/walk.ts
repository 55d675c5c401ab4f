import * as z from "zod";
import type { Path } from "../source.js";
import { wordsOf } from "./kinds.js";
import { configSchema } from "./root.js";

type Wrapper = z.ZodDefault | z.ZodPrefault | z.ZodOptional | z.ZodNullable;

function isWrapper(schema: z.ZodType): schema is Wrapper {
  return [z.ZodDefault, z.ZodPrefault, z.ZodOptional, z.ZodNullable].some((wrapper) => schema instanceof wrapper);
}

/** A schema without its default, null and optional wrappers, and what those said. */
export function bare(schema: z.ZodType): { schema: z.ZodType; nullable: boolean; fallback: unknown } {
  let inner = schema;
  let nullable = false;
  let fallback: unknown;
  while (isWrapper(inner) && wordsOf(inner) === null) {
    if (inner instanceof z.ZodDefault) fallback = inner.def.defaultValue;
    if (inner instanceof z.ZodNullable) nullable = true;
    inner = asType(inner.unwrap());
  }
  return { schema: inner, nullable, fallback };
}

/** The words for what is allowed at a schema. */
export function allowedWords(schema: z.ZodType): string {
  const { schema: inner, nullable } = bare(schema);
  const words = wordsOf(inner) ?? `a mapping of ${Object.keys(shapeOf(inner) ?? {}).join(", ")}`;
  return nullable && !words.includes("null") ? `${words}, or null` : words;
}

/** The keys of a mapping with fixed keys; null for everything else. */
export function shapeOf(schema: z.ZodType): Record<string, z.ZodType> | null {
  for (const option of optionsOf(schema)) {
    if (option instanceof z.ZodObject)
      return Object.fromEntries(Object.entries(option.shape).map(([k, v]) => [k, asType(v)]));
  }
  return null;
}

/** What the entries of a list or of a mapping with free keys are; null where there are none. */
export function elementOf(schema: z.ZodType, kind: "list" | "mapping"): z.ZodType | null {
  for (const option of optionsOf(schema)) {
    if (kind === "list" && option instanceof z.ZodArray) return asType(option.element);
    if (kind === "mapping" && option instanceof z.ZodRecord) return asType(option.valueType);
  }
  return null;
}

/** The schema at a path; null where the configuration has no such place. */
export function schemaAt(path: Path): z.ZodType | null {
  let schema: z.ZodType | null = configSchema;
  for (const part of path) {
    if (schema === null) return null;
    schema = childOf(schema, part);
  }
  return schema;
}

function childOf(schema: z.ZodType, part: string | number): z.ZodType | null {
  if (typeof part === "number") return elementOf(schema, "list");
  const shape = shapeOf(schema);
  if (shape !== null) return Object.hasOwn(shape, part) ? (shape[part] ?? null) : null;
  return elementOf(schema, "mapping");
}

/** Every place with a fixed key of this name, nearest to the top first. */
export function placesOfKey(key: string): string[][] {
  const found: string[][] = [];
  const visit = (schema: z.ZodType, path: string[]): void => {
    for (const [name, child] of Object.entries(shapeOf(schema) ?? {})) {
      if (name === key) found.push([...path, name]);
      visit(child, [...path, name]);
    }
  };
  visit(configSchema, []);
  return found.sort((a, b) => a.length - b.length);
}

function optionsOf(schema: z.ZodType): z.ZodType[] {
  let inner = schema;
  while (isWrapper(inner)) inner = asType(inner.unwrap());
  return inner instanceof z.ZodUnion ? inner.options.flatMap((option) => optionsOf(asType(option))) : [inner];
}

/** zod types the insides of its schemas by their core; the classes made here are all full ones. */
function asType(schema: unknown): z.ZodType {
  if (schema instanceof z.ZodType) return schema;
  throw new TypeError("the configuration's schema is made of zod's own classes");
}
