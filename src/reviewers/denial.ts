import { foldKey, isSettledKey } from "./finding-places.js";

/** The key beside a pass whose value denies it without naming a finding; null: there is none. */
export function findDenial(answer: Readonly<Record<string, unknown>>): string | null {
  const said = Object.entries(answer).filter(([key]) => !isSettledKey(key));
  return said.find(([key, value]) => denies(foldKey(key), value) || hasFail(value))?.[0] ?? null;
}

/** Of the answer itself: further down it may be said of anything. */
function denies(key: string, value: unknown): boolean {
  if (/^(?:status|result|outcome|decision|conclusion)$/.test(key)) return isFail(value);
  if (/^(?:approved|passed|ok)$/.test(key)) return value === false;
  if (!/^(?:has|is)?block(?:ed|ers?|ing)(?:issues|findings)?$/.test(key)) return false;
  return value === true || (typeof value === "number" && value > 0);
}

/** A verdict of fail is one however deep: a member's, or a later thought. */
function hasFail(value: unknown): boolean {
  const places = [value];
  for (const place of places) {
    if (typeof place !== "object" || place === null) continue;
    for (const [key, inside] of Object.entries(place)) {
      if (foldKey(key) === "verdict" && isFail(inside)) return true;
      if (!isSettledKey(key)) places.push(inside);
    }
  }
  return false;
}

function isFail(value: unknown): boolean {
  return (
    typeof value === "string" && /^(?:fail(?:ed|ure)?|rejected|requestchanges|changesrequested)$/.test(foldKey(value))
  );
}
