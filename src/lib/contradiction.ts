/**
 * JSON allows a key to stand twice in one object, and whoever parses it sees the last value alone: `fail`, then `pass`,
 * would be a pass. Where the values differ nobody knows which one was meant.
 */

interface OpenObject {
  readonly values: Map<string, string>;
  /** null: the next string is one. */
  key: string | null;
  valueStart: number;
}

/**
 * The first key of valid JSON, at any depth, that its object has twice with different values; null: there is none.
 * `counts`: only what is under these keys of the outermost object, in whatever case, is looked at, the keys themselves included.
 */
export function contradictoryKey(json: string, counts: readonly string[] | null = null): string | null {
  const open: (OpenObject | null)[] = [];
  for (let at = 0; at < json.length; at++) {
    const object = open.at(-1) ?? null;
    const character = json[at];
    if (character === '"') {
      const end = stringEnd(json, at);
      if (object?.key === null) object.key = String(JSON.parse(json.slice(at, end)));
      at = end - 1;
    } else if (character === "{") open.push({ values: new Map(), key: null, valueStart: 0 });
    else if (character === "[") open.push(null);
    else if (character === ":" && object !== null) object.valueStart = at + 1;
    else if (character === "," || character === "}" || character === "]") {
      const under = open[0]?.key ?? null;
      const contradicted = object === null ? null : endMember(object, json.slice(object.valueStart, at).trim());
      if (contradicted !== null && (counts === null || under === null || counts.includes(under.toLowerCase())))
        return contradicted;
      if (character !== ",") open.pop();
    }
  }
  return null;
}

/** The key, where its object has it with another value. */
function endMember(object: OpenObject, value: string): string | null {
  const { values, key } = object;
  if (key === null) return null;
  const before = values.get(key);
  values.set(key, value);
  object.key = null;
  return before === undefined || before === value ? null : key;
}

/** Behind the closing quote of the string that starts here. */
function stringEnd(json: string, start: number): number {
  const notable = /["\\]/g;
  for (let at = start + 1; ; ) {
    notable.lastIndex = at;
    const hit = notable.exec(json);
    if (hit === null) return json.length;
    if (hit[0] === '"') return hit.index + 1;
    at = hit.index + 2;
  }
}
