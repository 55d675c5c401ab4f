import { associations } from "../core/pull-request/trust.js";
import { type Diagnostic, type Remark, valueText } from "./diagnostic.js";
import { valueAt } from "./source.js";
import { editDistance } from "./suggest.js";

const path = ["pull_requests", "trusted"];

/** A misspelt association would be somebody's login, and nobody else would be heard. */
export function trustedRules(root: unknown, say: (remark: Remark) => Diagnostic): Diagnostic[] {
  const written = valueAt(root, path);
  if (!Array.isArray(written)) return [];
  return written.flatMap((name: unknown, index) => {
    const meant = typeof name === "string" ? meantBy(name) : null;
    if (meant === null) return [];
    const message = `expected an association (${associations.join(", ")}) or a login, found ${valueText(name)}`;
    const hint = `did you mean ${meant}? A login of that name is written "@${name}"`;
    return [say({ path: [...path, index], message, hint })];
  });
}

/** The association that a name is too near to be a login without saying so; null: it is one, or far from all of them. */
function meantBy(name: string): string | null {
  if (associations.includes(name) || name.startsWith("@")) return null;
  const near = associations.filter((one) => editDistance(plain(name), plain(one)) <= mistakesIn(one));
  return near.find((one) => plain(one) === plain(name)) ?? near[0] ?? null;
}

function plain(word: string): string {
  return word.toLowerCase().replace(/[-_ ]/g, "");
}

/** Short words are near to many names. */
function mistakesIn({ length }: string): number {
  return length < 5 ? 0 : length < 10 ? 1 : 2;
}
