import { isFindingLike } from "./finding-priority.js";

/**
 * Findings that a reviewer has written as texts, where nobody reads them. A pass must not pass over them: the key says
 * what they are, or the text itself does, as an entry of a list that begins with a priority.
 */
export interface FindingText {
  /** null: it does not say. */
  readonly priority: number | null;
}

/** However deep. What a finding has in it is its own. */
export function findTexts(key: string, value: unknown): FindingText[] {
  const found: FindingText[] = [];
  const left: Place[] = [{ key, value, isListed: false }];
  for (let place = left.pop(); place !== undefined; place = left.pop()) {
    if (isOver.test(place.key)) continue;
    const text = readText(place);
    if (text !== null) found.push(text);
    const { key, value } = place;
    if (typeof value !== "object" || value === null) continue;
    if (Array.isArray(value)) for (const each of value) left.push({ key, value: each, isListed: true });
    else if (!isFindingLike({ ...value }))
      for (const [name, inside] of Object.entries(value)) left.push({ key: name, value: inside, isListed: false });
  }
  return found;
}

interface Place {
  readonly key: string;
  readonly value: unknown;
  readonly isListed: boolean;
}

function readText({ key, value, isListed }: Place): FindingText | null {
  if (typeof value !== "string") return null;
  const opening = opened.exec(value.slice(0, looked));
  if (!(names.test(key) || (isListed && opening !== null))) return null;
  if (saysNone(value.slice(opening?.[0].length ?? 0))) return null;
  const level = opening?.[1] ?? opening?.[2];
  return { priority: level === undefined ? null : Number(level) };
}

const names = /(?:findings|issues|defects|problems|bugs|blockers)\s*$/i;

/** Of an earlier round, and done with. */
const isOver = /^\s*(?:resolved|fixed|addressed|closed|settled|previous|earlier)/i;

/** As much of a text is looked at: a priority opens it, and words that say there is nothing are few. */
const looked = 100;

/** `P0: …`, `[P1] …`, `**P2** …`, `P3 - …`; not `P1-P3 are looked at`. */
const opened = /^[\s*_>•-]*(?:[[(]\s*P([0-3])\s*[\])]|P([0-3])\b(?:\s*[:*]|\s+[–—-]\s))[\s:*]*/i;

const nothing =
  /^\W*(?:(?:none|no|nothing|nil|null|n\/?a|not applicable|0|(?:no|zero|0)(?: [\w-]+){0,3} (?:findings?|issues?|defects?|problems?|bugs?|blockers?))(?: (?:(?:was|were) )?(?:found|identified|detected|reported|seen|remain|left))?)?\W*$/i;

function saysNone(text: string): boolean {
  const words = text.trim();
  return words.length <= looked && nothing.test(words);
}
