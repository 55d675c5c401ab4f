import { isFindingLike } from "./finding-priority.js";
import { readOpening, saysNone } from "./finding-text.js";

/**
 * Findings where nobody reads them: a pass must not pass over them. An object says what it is by how bad it is, a text of
 * a list by the priority that opens it; under a key that names findings every text is one, however they are grouped there.
 */
export type Misplaced =
  | { readonly type: "object"; readonly fields: Readonly<Record<string, unknown>> }
  /** null: it does not say. */
  | { readonly type: "text"; readonly priority: number | null };

/** However deep. What a finding has in it is its own. */
export function findMisplaced(key: string, value: unknown): Misplaced[] {
  const found: Misplaced[] = [];
  const left: Place[] = [{ key, value, isNamed: false, isListed: false }];
  for (let place = left.pop(); place !== undefined; place = left.pop()) {
    const name = fold(place.key);
    if (isSettled.test(name)) continue;
    const isNamed = !isSaidHarmless.test(name) && (place.isNamed || names.test(name));
    const finding = readFinding({ ...place, isNamed });
    if (finding !== null) found.push(finding);
    else left.push(...placesIn(place.value, isNamed));
  }
  return found;
}

interface Place {
  readonly key: string;
  readonly value: unknown;
  /** By its own key, or by one around it. */
  readonly isNamed: boolean;
  readonly isListed: boolean;
}

function placesIn(value: unknown, isNamed: boolean): Place[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.map((each) => ({ key: "", value: each, isNamed, isListed: true }));
  return Object.entries(value).map(([key, inside]) => ({ key, value: inside, isNamed, isListed: false }));
}

function readFinding({ value, isNamed, isListed }: Place): Misplaced | null {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    const fields = { ...value };
    return isFindingLike(fields) ? { type: "object", fields } : null;
  }
  if (typeof value !== "string") return null;
  const opening = readOpening(value);
  if (!(isNamed || (isListed && opening !== null))) return null;
  return saysNone(opening?.rest ?? value) ? null : { type: "text", priority: opening?.priority ?? null };
}

/** `Blocking Issues`, `blocking_issues` and `blockingIssues` are one. */
function fold(key: string): string {
  return key.toLowerCase().replace(/[^a-z0-9]/g, "");
}

const names = /(?:findings|issues|defects|problems|bugs|blockers)(?:found)?$/;

/** Of an earlier round and done with, or only mentioned; not `priority_issues`, nor `verified_issues`, which may be confirmed ones. */
const isSettled = /^(?:resolved|fixed|addressed|closed|settled|previous|prior(?!it)|earlier|linked|related|checked)/;

/** Texts of a `non_blocking_issues` are what a pass may leave; one that says how bad it is counts as anywhere. */
const isSaidHarmless = /^nonblocking/;
