import { isFindingLike } from "./finding-priority.js";
import { defects, readOpening, saysNone } from "./finding-text.js";

/**
 * Findings where nobody reads them: a pass must not pass over them. An object says what it is by how bad it is, a text by the
 * priority that opens it, unless it stands by itself; under a key that names findings every text is one, however they are
 * grouped there.
 */
export type Misplaced =
  | { readonly type: "object"; readonly fields: Readonly<Record<string, unknown>> }
  /** null: it does not say. */
  | { readonly type: "text"; readonly priority: number | null };

/** However deep. What a finding has in it is its own. */
export function findMisplaced(key: string, value: unknown): Misplaced[] {
  const found: Misplaced[] = [];
  const left: Place[] = [{ key, value, isNamed: false, isAlone: true }];
  for (let place = left.pop(); place !== undefined; place = left.pop()) {
    const name = foldKey(place.key);
    if (isSettled.test(name)) continue;
    const naming = typeof place.value === "string" ? namesOne : names;
    const isNamed = !isSaidHarmless.test(name) && (place.isNamed || naming.test(name));
    const finding = readFinding({ ...place, isNamed });
    if (finding !== null) found.push(finding);
    else left.push(...placesIn(place.value, isNamed));
  }
  return found;
}

/** Of an earlier round, done with or only mentioned: nothing below such a key counts. */
export function isSettledKey(key: string): boolean {
  return isSettled.test(foldKey(key));
}

interface Place {
  readonly key: string;
  readonly value: unknown;
  /** By its own key, or by one around it. */
  readonly isNamed: boolean;
  /** Nothing is around it but the answer: a text there tells what was looked for. */
  readonly isAlone: boolean;
}

function placesIn(value: unknown, isNamed: boolean): Place[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).map(([key, inside]) => ({
    key: Array.isArray(value) ? "" : key,
    value: inside,
    isNamed,
    isAlone: false,
  }));
}

function readFinding({ value, isNamed, isAlone }: Place): Misplaced | null {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    const fields = { ...value };
    return isFindingLike(fields) ? { type: "object", fields } : null;
  }
  if (typeof value !== "string") return null;
  const opening = readOpening(value);
  if (!(isNamed || (!isAlone && opening !== null))) return null;
  return saysNone(opening?.rest ?? value) ? null : { type: "text", priority: opening?.priority ?? null };
}

/** `Blocking Issues`, `blocking_issues` and `blockingIssues` are one. */
export function foldKey(key: string): string {
  return key.toLowerCase().replace(/[^a-z0-9]/g, "");
}

/** An `issue` is what the change is about. */
const one = "finding|defect|blocker|violation|vulnerability|(?<!de)bug";
const demands = "blocking|mustfix|requiredchanges";
const names = new RegExp(`${defects}|${demands}|(?:critical|${one})$`);
/** What follows in the key may say that the text is about something else: `findings_summary`, `error_handling`. */
const namesOne = new RegExp(`(?:(?:${defects})(?:found)?|${demands}|critical|${one})$`);

/** Not `priority_issues`, nor `verified_issues`, which may be confirmed ones. */
const isSettled = new RegExp(
  "^(?:resolved|fixed|addressed|closed|settled|previous|prior(?!it)|earlier|linked|related|checked)" +
    `|^(?:${defects})(?:resolved|fixed|addressed|closed|settled|checked)$`,
);

/** Texts of a `non_blocking_issues` are what a pass may leave; one that says how bad it is counts as anywhere. */
const isSaidHarmless = /non(?:blocking|critical)/;
