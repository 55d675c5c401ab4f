/**
 * What makes one JSON value another. Values of machines are never changed in place, so what is the same object is the same
 * value, and finding the few parts that differ takes no more than a look at the others. Keys keep their order: the patched
 * value is written and read as the value itself would be.
 */
export type Patch =
  | { readonly is: unknown }
  /** A list: `drop` entries from `at` on give way to `put`. */
  | { readonly at: number; readonly drop: number; readonly put: readonly unknown[] }
  /** A list whose entries from `at` on are changed, one by one; null: that one is not. */
  | { readonly at: number; readonly each: readonly (Patch | null)[] }
  /** A list that lost entries here and there and got others behind: `cut` are places and how many from there on. */
  | { readonly cut: readonly (readonly [number, number])[]; readonly push: readonly unknown[] }
  /** An object: what is not `gone` stays, in its place, changed as `in` says; then comes what is added. */
  | {
      readonly gone?: readonly string[];
      readonly in?: Readonly<Record<string, Patch>>;
      readonly add?: Readonly<Record<string, unknown>>;
    };

type Fields = Readonly<Record<string, unknown>>;

/** null: nothing differs. */
export function patchBetween(before: unknown, after: unknown): Patch | null {
  if (before === after) return null;
  if (Array.isArray(before) && Array.isArray(after)) return patchLists(before, after);
  return isFields(before) && isFields(after) ? patchFields(before, after) : { is: after };
}

export function applyPatch(before: unknown, patch: Patch): unknown {
  if ("is" in patch) return patch.is;
  if ("put" in patch) {
    const list: readonly unknown[] = Array.isArray(before) ? before : [];
    return [...list.slice(0, patch.at), ...patch.put, ...list.slice(patch.at + patch.drop)];
  }
  if ("each" in patch) {
    const list: readonly unknown[] = Array.isArray(before) ? before : [];
    return list.map((entry, index) => {
      const change = patch.each[index - patch.at] ?? null;
      return change === null ? entry : applyPatch(entry, change);
    });
  }
  if ("cut" in patch) {
    const list: readonly unknown[] = Array.isArray(before) ? before : [];
    const stays = (_: unknown, index: number) => !patch.cut.some(([at, count]) => index >= at && index < at + count);
    return [...list.filter(stays), ...patch.push];
  }
  const gone = new Set(patch.gone);
  const changes = patch.in ?? {};
  const stay = Object.entries(isFields(before) ? before : {}).flatMap(([key, value]): [string, unknown][] => {
    if (gone.has(key)) return [];
    const change = Object.hasOwn(changes, key) ? changes[key] : undefined;
    return [[key, change === undefined ? value : applyPatch(value, change)]];
  });
  // Made of entries, so that no name is a special one.
  return Object.fromEntries([...stay, ...Object.entries(patch.add ?? {})]);
}

function patchLists(before: readonly unknown[], after: readonly unknown[]): Patch | null {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const [drop, put] = [before.length - start - end, after.slice(start, after.length - end)];
  if (drop === 0 && put.length === 0) return null;
  const shifted = drop > 0 && put.length > 0 ? cutAndPush(before, after, start) : null;
  if (shifted !== null && shifted.push.length < put.length) return shifted;
  const old = before.slice(start, start + drop);
  if (drop !== put.length || ![...old, ...put].every(isFields)) return { at: start, drop, put };
  return { at: start, each: put.map((entry, index) => patchBetween(old[index], entry)) };
}

/** As a queue changes: what stays is in its order, and what is new comes behind it. `start`: so many stay in any case. */
function cutAndPush(before: readonly unknown[], after: readonly unknown[], start: number) {
  const cut: [number, number][] = [];
  let [place, kept] = [start, start];
  for (; kept < after.length; kept += 1) {
    const found = before.indexOf(after[kept], place);
    if (found < 0) break;
    if (found > place) cut.push([place, found - place]);
    place = found + 1;
  }
  if (place < before.length) cut.push([place, before.length - place]);
  return { cut, push: after.slice(kept) };
}

/** As far as the keys are in the order they had, they stay; from the first that is new or has moved, all are added. */
function patchFields(before: Fields, after: Fields): Patch | null {
  const [old, now] = [listFields(before), listFields(after)];
  const gone: string[] = [];
  const changed: [string, Patch][] = [];
  let place = 0;
  let kept = 0;
  for (; kept < now.keys.length; kept += 1) {
    const key = now.keys[kept] ?? "";
    const found = old.keys[place] === key ? place : Object.hasOwn(before, key) ? old.keys.indexOf(key, place) : -1;
    if (found < 0) break;
    for (; place < found; place += 1) gone.push(old.keys[place] ?? "");
    place = found + 1;
    const patch = patchBetween(old.values[found], now.values[kept]);
    if (patch !== null) changed.push([key, patch]);
  }
  gone.push(...old.keys.slice(place));
  const added = now.keys.slice(kept).map((key, at): [string, unknown] => [key, now.values[kept + at]]);
  if (gone.length + changed.length + added.length === 0) return null;
  return {
    ...(gone.length === 0 ? {} : { gone }),
    ...(changed.length === 0 ? {} : { in: Object.fromEntries(changed) }),
    ...(added.length === 0 ? {} : { add: Object.fromEntries(added) }),
  };
}

/** Apart, because looking thousands of names up takes longer. What is undefined is not there, in JSON. */
function listFields(fields: Fields): { readonly keys: string[]; readonly values: unknown[] } {
  const [keys, values] = [Object.keys(fields), Object.values(fields)];
  if (!values.includes(undefined)) return { keys, values };
  return {
    keys: keys.filter((_, at) => values[at] !== undefined),
    values: values.filter((value) => value !== undefined),
  };
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
