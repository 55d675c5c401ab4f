import { isFindingLike } from "../finding-priority.js";
import { isSettledKey } from "../key-words.js";

type Fields = Readonly<Record<string, unknown>>;

/**
 * An answer without what belongs to earlier iterations, or is done with by the name of its key: both have counted. Of what
 * is numbered in another way than we know, all is kept.
 */
export function lastIteration(answer: Fields): Fields {
  return membersOf(answer, toNumber(answer.current_iteration));
}

/** The entries of a map that is sorted by iterations. */
export function isByIteration(key: string, map: Fields): boolean {
  return /^findings$|iteration/i.test(key) && Object.keys(map).every((name) => numberIn(name) !== null);
}

/** `number` may be that of a finding or a reviewer. */
export function numberOf(fields: Fields, key: string): number | null {
  return toNumber(fields.iteration ?? (/iteration/i.test(key) && !isFindingLike(fields) ? fields.number : null));
}

export function toNumber(value: unknown): number | null {
  const number = typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) ? number : null;
}

interface Place {
  readonly key: string;
  /** The number of the last iteration; null: nobody said. */
  readonly current: number | null;
}

function membersOf(map: Fields, current: number | null): Fields {
  const left = Object.entries(map).filter(([key]) => !isSettledKey(key));
  return Object.fromEntries(left.map(([key, value]) => [key, within(value, { key, current })]));
}

function within(value: unknown, place: Place): unknown {
  if (Array.isArray(value)) return lastOfList(value, place).map((each) => within(each, place));
  if (typeof value !== "object" || value === null || isFindingLike({ ...value })) return value;
  const map = { ...value };
  if (!isByIteration(place.key, map)) return membersOf(map, place.current);
  const last = lastOfNumbered(map, place.current);
  return Object.fromEntries(last.map(([name, each]) => [name, within(each, { ...place, key: "findings" })]));
}

/** A list's entries, without those of earlier iterations. */
function lastOfList(list: readonly unknown[], { key, current }: Place): readonly unknown[] {
  const entries = list.map((each) => (typeof each === "object" && !Array.isArray(each) ? { ...each } : {}));
  const numbers = entries.map((each: Fields) => numberOf(each, key));
  const known = numbers.filter((number) => number !== null);
  const areFindings = entries.some((each) => isFindingLike(each) || "title" in each);
  if (known.length === 0) return key === "iterations" && !areFindings ? list.slice(-1) : list;
  // Findings and a history may have none of the last iteration; iterations without it are counted in another way than we know.
  const isOfAll = /^iterations$/i.test(key) || known.includes(0);
  const highest = Math.max(...known);
  const isLast = current !== null && (areFindings || known.includes(current) || (!isOfAll && highest < current));
  const newest = isLast ? current : highest;
  return list.filter((_each, index) => (numbers[index] ?? newest) >= newest);
}

/** All of them where the last iteration is not among the numbers: they may number something else. */
function lastOfNumbered(map: Fields, current: number | null): [string, unknown][] {
  const numbers = Object.keys(map).map((name) => numberIn(name) ?? 0);
  const last = current ?? Math.max(...numbers);
  const isThere = numbers.includes(last);
  return Object.entries(map).filter((_each, index) => !isThere || (numbers[index] ?? last) >= last);
}

/** Of an iteration, in its name: `2`, `iteration_2`. Another word may number reviewers or rounds. */
function numberIn(name: string): number | null {
  return toNumber(/^(?:it(?:er(?:ation)?)?[\s_.#-]*)?(\d+)$/i.exec(name)?.[1]);
}
