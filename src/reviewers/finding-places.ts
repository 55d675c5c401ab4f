import { isFindingLike } from "./finding-priority.js";
import { readOpening, saysNone } from "./finding-text.js";
import { isSettledKey, namesFindings } from "./key-words.js";

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
    if (isSettledKey(place.key)) continue;
    const how = { isWithin: place.isNamed, isText: typeof place.value === "string" };
    const isNamed = namesFindings(place.key, how);
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
