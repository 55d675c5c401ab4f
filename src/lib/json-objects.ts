/**
 * JSON objects inside prose. A reviewer's answer stands between sentences, in code fences, after other objects and with
 * braces in its strings; only a parser that starts at a brace can tell what is an object. It starts at every brace, from
 * the last to the first, and remembers where each object ends: a start further left steps over the objects that are
 * known already, and gives up where one is known to be broken. So the whole costs one pass.
 */
export interface FoundObject {
  readonly start: number;
  /** Behind the closing brace. */
  readonly end: number;
  /** It has the key as a key of its own, in whatever case. */
  readonly hasKey: boolean;
}

/**
 * `key`: in lower case. Every object of the text that is not part of another one, whole or broken, and not empty; the first to the last. So the
 * inside of an answer that was cut off is never taken for an answer.
 */
export function findObjects(text: string, key: string): FoundObject[] {
  const ends = new Map<number, number>();
  const found: FoundObject[] = [];
  for (let start = text.lastIndexOf("{"); start !== -1; start = start === 0 ? -1 : text.lastIndexOf("{", start - 1)) {
    const parser = new ObjectParser(text, ends, key);
    const end = parser.objectAt(start);
    const inside = end === -1 ? parser.reached : end;
    while ((found.at(-1)?.start ?? Number.POSITIVE_INFINITY) < inside) found.pop();
    if (end === -1) continue;
    ends.set(start, end);
    if (!parser.isEmpty) found.push({ start, end, hasKey: parser.hasKey });
  }
  return found.reverse();
}

/**
 * Whether an object stands within another that is broken, as where somebody forgot to escape the quotes around it: before
 * it one begins that nothing closes, or what follows closes more than it opens, and not as a brace in prose does. What
 * other whole objects have in them does not count. `isWhole`: nothing of the text's beginning was left out.
 */
export function isWithinAnother(
  { text, isWhole }: { readonly text: string; readonly isWhole: boolean },
  all: readonly FoundObject[],
  one: FoundObject,
): boolean {
  if (isMember.test(text.slice(0, one.start).trimEnd().slice(-100))) return true;
  const before = between(text, all, { from: 0, to: one.start });
  const open = openBraces(before);
  if (open.some((at) => isBeginning(before, at))) return true;
  const after = between(text, all, { from: one.end, to: text.length });
  return closesMore(after) && (!isWhole || open.length > 0 || goesOn.test(after));
}

/** Behind a key, as an object's value is. */
const isMember = /["']\s*:$/;

/** As an object or a list does behind one of its values, or a text behind the quotes within it. */
const goesOn = /^\s*["',}\]]/;

/** Whether one with the key stands before it in the same list, however deep in it. */
export function isListedWithAnother(text: string, all: readonly FoundObject[], one: FoundObject): boolean {
  const other = all.findLast(({ end, hasKey }) => hasKey && end <= one.start);
  if (other === undefined) return false;
  return inList.test(between(text, all, { from: other.end, to: one.start }).replace(otherValue, ""));
}

const inList = /^[\s[\]]*,[\s,[\]]*$/;
/** What else a list can have in it; a text that nothing closes goes to the end, so that the whole is looked at once. */
const otherValue = /"(?:[^"\\]|\\.)*"?|\{\s*\}|-?\d[\d.eE+-]*|true|false|null/gs;

/** Whether it stands in a list behind something else, whole or broken, or cut off with the list's beginning or, where that is not there, its end. */
export function isLaterInList(
  { text, isWhole }: { readonly text: string; readonly isWhole: boolean },
  one: FoundObject,
): boolean {
  const before = text.slice(0, one.start).trimEnd();
  if (!isWhole && /[,[]$/.test(before)) return true;
  return /(?:,[\s[]*|[}\]])$/.test(before) && listGoesOn.test(text.slice(one.end));
}

const listGoesOn = /^\s*(?:\]|,\s*(?:[[{"'\d-]|true|false|null))/;

/** The text without the whole objects in it. */
function between(text: string, all: readonly FoundObject[], { from, to }: { from: number; to: number }): string {
  let [left, at] = ["", from];
  for (const { start, end } of all) {
    if (start < from || end > to) continue;
    left += text.slice(at, start);
    at = end;
  }
  return left + text.slice(at, to);
}

/** Of those that nothing closes. */
function openBraces(text: string): number[] {
  const open: number[] = [];
  let closed = 0;
  for (let at = text.length - 1; at >= 0; at--) {
    if (text[at] === "}") closed++;
    else if (text[at] === "{" && closed > 0) closed--;
    else if (text[at] === "{") open.push(at);
  }
  return open;
}

/** As far as its first key. */
const beginning = /\{\s*["']/y;

function isBeginning(text: string, at: number): boolean {
  beginning.lastIndex = at;
  return beginning.test(text);
}

function closesMore(text: string): boolean {
  let open = 0;
  for (const brace of text.match(/[{}]/g) ?? []) {
    open += brace === "{" ? 1 : -1;
    if (open < 0) return true;
  }
  return false;
}

/** What ends a string or may not stand in one: a quote, an escape, a control character. */
const notable = /[\\"]|[^\P{Cc}\u007f-\u009f]/gu;
const numberOrWord = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

class ObjectParser {
  hasKey = false;
  isEmpty = false;
  /** Where the last object ends that this one has in it. */
  reached = -1;
  readonly #text: string;
  readonly #ends: ReadonlyMap<number, number>;
  readonly #key: string;

  constructor(text: string, ends: ReadonlyMap<number, number>, key: string) {
    this.#text = text;
    this.#ends = ends;
    this.#key = key;
  }

  /** Where the object that starts here ends; -1: it is none. */
  objectAt(start: number): number {
    let at = this.#skipSpace(start + 1);
    this.isEmpty = this.#text[at] === "}";
    if (this.isEmpty) return at + 1;
    while (at !== -1) {
      const keyEnd = this.#stringAt(at);
      if (keyEnd === -1) return -1;
      this.hasKey ||= this.#isKey(at + 1, keyEnd - 1);
      at = this.#skipSpace(keyEnd);
      if (this.#text[at] !== ":") return -1;
      at = this.#skipSpace(this.#valueAt(this.#skipSpace(at + 1)));
      if (this.#text[at] === "}") return at + 1;
      at = this.#text[at] === "," ? this.#skipSpace(at + 1) : -1;
    }
    return -1;
  }

  #isKey(start: number, end: number): boolean {
    return end - start === this.#key.length && this.#text.slice(start, end).toLowerCase() === this.#key;
  }

  /** Arrays are counted, not recursed into: depth is the writer's choice, the stack is ours. */
  #valueAt(start: number): number {
    let depth = 0;
    let at = start;
    for (;;) {
      if (this.#text[at] === "[") {
        const next = this.#skipSpace(at + 1);
        depth++;
        if (this.#text[next] !== "]") {
          at = next;
          continue;
        }
        at = next;
      } else {
        at = this.#plainAt(at);
        if (at === -1 || depth === 0) return at;
        at = this.#skipSpace(at);
      }
      while (depth > 0 && this.#text[at] === "]") {
        depth--;
        if (depth === 0) return at + 1;
        at = this.#skipSpace(at + 1);
      }
      if (this.#text[at] !== ",") return -1;
      at = this.#skipSpace(at + 1);
    }
  }

  /** A string, a number, a word or an object that is known already. */
  #plainAt(at: number): number {
    const first = this.#text[at];
    if (first === '"') return this.#stringAt(at);
    if (first === "{") {
      const end = this.#ends.get(at) ?? -1;
      this.reached = Math.max(this.reached, end);
      return end;
    }
    numberOrWord.lastIndex = at;
    return numberOrWord.test(this.#text) ? numberOrWord.lastIndex : -1;
  }

  #stringAt(start: number): number {
    if (this.#text[start] !== '"') return -1;
    for (let at = start + 1; ; ) {
      notable.lastIndex = at;
      const hit = notable.exec(this.#text);
      if (hit?.[0] === '"') return hit.index + 1;
      if (hit?.[0] !== "\\") return -1;
      at = hit.index + 2;
    }
  }

  #skipSpace(start: number): number {
    if (start < 0) return -1;
    let at = start;
    while (at < this.#text.length && " \t\n\r".includes(this.#text[at] ?? "x")) at++;
    return at;
  }
}
