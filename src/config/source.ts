/**
 * The configuration as it was written, before it is known to be right, with the place each part was read from: a line
 * of the file, an environment variable or a flag. Everything that is said about a setting is said at such a place.
 */
export type Path = readonly (string | number)[];
export type Mapping = { [key: string]: unknown };

export interface Place {
  readonly file: string;
  readonly line: number | null;
  readonly column: number | null;
  /** What the writer calls it, where that is not the setting's own name: RATCHET_MAX_AGENTS, --max-agents, coder. */
  readonly key: string | null;
  /** It is of something that only came to be around what `key` sets: what is said there has to name its own setting. */
  readonly around?: true;
}

export interface Source {
  readonly file: string;
  readonly root: Mapping;
  /** Keys the top level may have besides the settings', for suggestions. */
  readonly moreKeys?: readonly string[];
  readonly places: Map<string, { readonly key: Place; readonly value: Place }>;
}

/** The place of a setting, or of the nearest thing around it that was written. */
export function placeOf(source: Source, path: Path, side: "key" | "value" = "value"): Place {
  for (let length = path.length; length >= 0; length--) {
    const found = source.places.get(pathId(path.slice(0, length)));
    if (found !== undefined) return found[length === path.length ? side : "key"];
  }
  return { file: source.file, line: null, column: null, key: null };
}

export function setPlace(source: Pick<Source, "places">, path: Path, place: { key: Place; value: Place }): void {
  source.places.set(pathId(path), place);
}

/** Forgets the places of everything below a path, because something else is written there now. */
export function forgetBelow(source: Source, path: Path): void {
  const prefix = `${pathId(path)},`;
  for (const id of source.places.keys()) if (id.startsWith(prefix)) source.places.delete(id);
}

export function isMapping(value: unknown): value is Mapping {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A mapping that inherits nothing: `constructor` is no key of it. */
export function emptyMapping(): Mapping {
  const mapping: Mapping = Object.create(null);
  return mapping;
}

export function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const part of path) {
    if (Array.isArray(value) && typeof part === "number") value = value[part];
    else if (isMapping(value) && Object.hasOwn(value, part)) value = value[part];
    else return undefined;
  }
  return value;
}

/** The mapping at a path, or an empty one: for checks that do not mind what is not there. */
export function mappingAt(root: unknown, path: Path): Mapping {
  const value = valueAt(root, path);
  return isMapping(value) ? value : emptyMapping();
}

function pathId(path: Path): string {
  return JSON.stringify(path).slice(0, -1);
}
