import type * as z from "zod";
import { type Diagnostic, diagnosticAt, keyText, valueText } from "./diagnostic.js";
import { nameInRatchet } from "./mala.js";
import { allowedWords, placesOfKey, schemaAt, shapeOf } from "./schema/walk.js";
import { type Path, placeOf, type Source, valueAt } from "./source.js";
import { editDistance, nearest } from "./suggest.js";

type Issue = z.core.$ZodIssue;

/** What the schema found wrong, in words: the key, what was found there and what is allowed. */
export function explainIssues(source: Source, issues: readonly Issue[]): Diagnostic[] {
  return issues.flatMap((issue) => explain(source, issue, []));
}

function explain(source: Source, issue: Issue, above: Path): Diagnostic[] {
  const path = [...above, ...issue.path.map(partOf)];
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => unknownKey(source, [...path, key]));
    case "invalid_union": {
      const option = optionMeant(issue.errors);
      return option === null ? [wrongValue(source, path)] : option.flatMap((inner) => explain(source, inner, path));
    }
    case "invalid_key": {
      const message = `expected ${nameWords(path)}, found ${valueText(path.at(-1))}`;
      return [diagnosticAt(placeOf(source, path, "key"), { path, message })];
    }
    default:
      return [wrongValue(source, path)];
  }
}

/** Of several forms a value may have, the one its writer tried: the only one that is not wrong from the start. */
function optionMeant(options: readonly (readonly Issue[])[]): readonly Issue[] | null {
  const tried = options.filter((issues) => issues.some((issue) => issue.path.length > 0 || isAboutContent(issue)));
  return tried.length === 1 ? (tried[0] ?? null) : null;
}

function isAboutContent(issue: Issue): boolean {
  return !["invalid_type", "invalid_value", "invalid_union"].includes(issue.code);
}

function wrongValue(source: Source, path: Path): Diagnostic {
  const schema = schemaAt(path);
  const words = schema === null ? "another value" : allowedWords(schema);
  const value = valueAt(source.root, path);
  const message = `expected ${words}, found ${valueText(value)}`;
  return diagnosticAt(placeOf(source, path), { path, message });
}

function nameWords(path: Path): string {
  if (path[0] === "commands") return "a name of 1 to 64 characters without spaces";
  return "the name of a variable";
}

function unknownKey(source: Source, path: Path): Diagnostic {
  const key = String(path.at(-1));
  const around = path.slice(0, -1);
  const schema = schemaAt(around);
  const allowed = Object.keys((schema === null ? null : shapeOf(schema)) ?? {});
  const elsewhere = placesOfKey(key).map((place) => place.join("."));
  const near = nearest(key, around.length === 0 ? [...allowed, ...(source.moreKeys ?? [])] : allowed);
  const meant = suggestion({ key, near, elsewhere, around });
  const message = `unknown key; allowed ${placeWords(around)}: ${allowed.join(", ")}`;
  return diagnosticAt(placeOf(source, path, "key"), { path, message, hint: meant ?? undefined });
}

interface Guess {
  readonly key: string;
  readonly near: string | null;
  readonly elsewhere: readonly string[];
  readonly around: Path;
}

/** A slip of one or two letters is the likeliest; then a key at the wrong level; then a mala.yaml's key; then a guess. */
function suggestion({ key, near, elsewhere, around }: Guess): string | null {
  const [first, ...others] = elsewhere;
  if (near !== null && (first === undefined || editDistance(key, near) <= 2)) return `did you mean ${near}?`;
  if (first === undefined) return around.length === 0 ? nameInRatchet(key) : null;
  if (!first.includes(".") && around.length > 0) return `${first} belongs at the top level`;
  const more = others.length === 0 ? "" : ` or ${others.slice(0, 2).join(", ")}${others.length > 2 ? ", ..." : ""}`;
  return `did you mean ${first}${more}?`;
}

function placeWords(around: Path): string {
  return around.length === 0 ? "at the top level" : `in ${keyText(around)}`;
}

function partOf(part: PropertyKey): string | number {
  return typeof part === "symbol" ? String(part) : part;
}
