import { defects, isSettledKey, wordsOf } from "./key-words.js";

/**
 * The key beside a pass whose value denies it without naming a finding; null: there is none. A member's word, or a later
 * thought, counts however deep; further down a mere `status` may be said of anything.
 */
export function findDenial(answer: Readonly<Record<string, unknown>>): string | null {
  const said = Object.entries(answer).filter(([key]) => !isSettledKey(key));
  return said.find(([key, value]) => deniesOnTop(wordsOf(key), value) || deniesWithin({ [key]: value }))?.[0] ?? null;
}

function deniesOnTop(words: string, value: unknown): boolean {
  if (/\b(?:status|result|outcome|conclusion|overall)$/.test(words)) return isFail(value);
  if (/^(?:passed|passes|ok|success)$/.test(words)) return isNo(value);
  return counted.test(words) && isSome(value);
}

function deniesWithin(answer: Readonly<Record<string, unknown>>): boolean {
  const places: unknown[] = [answer];
  for (const place of places) {
    if (typeof place !== "object" || place === null) continue;
    for (const [key, inside] of Object.entries(place)) {
      if (isSettledKey(key)) continue;
      if (deniesAnywhere(wordsOf(key), inside)) return true;
      places.push(inside);
    }
  }
  return false;
}

function deniesAnywhere(words: string, value: unknown): boolean {
  if (/\b(?:verdict|decision|recommendation)$/.test(words)) return isFail(value);
  if (/^(?:is )?(?:approved?|lgtm|mergeable)$/.test(words)) return isNo(value);
  return /^(?:is )?(?:blocking|must ?fix)$/.test(words) && value === true;
}

const counted = new RegExp(
  `^(?:has |is |num |number of )?(?:block(?:ed|ers?|ing)|critical|must ?fix)(?: (?:${defects}))?(?: count| found)?$`,
);

function isFail(value: unknown): boolean {
  return typeof value === "string" && fail.test(saidFirst(value));
}

/** Before it says why. */
function saidFirst(text: string): string {
  return wordsOf(text.split(/[:;,.()\n–—]|\s-|\b(?:as|because|before|due|since|until)\b/i)[0] ?? "");
}
const fail =
  /^(?:(?:has |is )?(?:fail(?:ed|s|ure)?|reject(?:ed|s)?|block(?:ed|s)?|denied|not approved|not pass(?:ed)?)|(?:needs |requires? )?changes(?: requested| required| needed)?|request(?:ed)? changes|needs work|do not (?:land|merge))$/;

function isNo(value: unknown): boolean {
  return (
    value === false ||
    value === 0 ||
    (typeof value === "string" && /^(?:false|no|not(?: yet)?|0)$/.test(saidFirst(value)))
  );
}

function isSome(value: unknown): boolean {
  return value === true || (typeof value === "number" && value > 0);
}
