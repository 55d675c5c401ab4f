import { nearest } from "../../core/suggest.js";
import { fidelities } from "../defaults.js";
import { durationHint, parseDuration } from "../duration.js";
import type { Fidelity } from "../graph.js";
import type { Named, Position } from "../position.js";
import type { Problems } from "../problems.js";
import type { KdlNode, KdlValue } from "./node.js";

/** A value as what it stands for, or what it should have been. */
export type Reader<T> = (
  value: KdlValue["value"],
) => { readonly ok: T } | { readonly wanted: string; readonly hint?: string };
/** The properties that a node may have. Everything else is an error. */
export type Table<V> = { readonly [K in keyof V]: Reader<V[K]> };
export interface Located<T> {
  readonly value: T;
  readonly at: Position;
  readonly source: KdlValue;
}

class Read<T> implements Located<T> {
  readonly value: T;
  readonly source: KdlValue;

  constructor(value: T, source: KdlValue) {
    this.value = value;
    this.source = source;
  }

  get at(): Position {
    return this.source.at;
  }
}
export type Get<V> = <K extends keyof V>(name: K) => Located<V[K]> | null;

export const text: Reader<string> = (value) =>
  typeof value === "string" ? { ok: value } : { wanted: "a text in quotes" };

export const name: Reader<string> = (value) =>
  typeof value === "string" && value.trim() !== "" ? { ok: value } : { wanted: "a name in quotes" };

/** Text that somebody is to read. */
export const words: Reader<string> = (value) =>
  typeof value === "string" && value.trim() !== "" ? { ok: value } : { wanted: "a text in quotes that is not empty" };

/** `auto_status="true"` is what files of other runners have. */
export const flag: Reader<boolean> = (value) => {
  if (value === "true" || value === "false") return { ok: value === "true" };
  return typeof value === "boolean" ? { ok: value } : { wanted: "true or false" };
};

export const whole: Reader<number> = (value) =>
  typeof value === "number" && Number.isSafeInteger(value)
    ? { ok: value }
    : { wanted: "a whole number", ...unquote(value) };

export const count: Reader<number> = (value) =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 1 && value <= 1_000_000
    ? { ok: value }
    : { wanted: "a whole number from 1 to 1000000", ...unquote(value) };

export const duration: Reader<number> = (value) => {
  const ms = typeof value === "string" ? parseDuration(value) : null;
  if (ms !== null) return { ok: ms };
  const hint = typeof value === "number" ? `write "${value}s" for ${value} seconds` : durationHint;
  return { wanted: "a duration with its unit, in quotes", hint };
};

/** A time that something may take: none at all is a mistake. */
export const limit: Reader<number> = (value) => {
  const read = duration(value);
  return "ok" in read && read.ok === 0 ? { wanted: "a duration above 0" } : read;
};

/** A condition: text, or a bare true or false. */
export const condition: Reader<string | boolean> = (value) =>
  typeof value === "string" || typeof value === "boolean" ? { ok: value } : { wanted: "a condition in quotes" };

export function oneOf<T extends string>(...allowed: readonly T[]): Reader<T> {
  return (value) => {
    const found = allowed.find((word) => word === value);
    if (found !== undefined) return { ok: found };
    const near = typeof value === "string" ? nearest(value, allowed) : null;
    return { wanted: `one of ${allowed.join(", ")}`, ...(near === null ? {} : { hint: `did you mean "${near}"?` }) };
  };
}

export const fidelity: Reader<Fidelity> = oneOf(...fidelities);

function unquote(value: KdlValue["value"]): { hint?: string } {
  return typeof value === "string" && /^-?\d+$/.test(value) ? { hint: `write ${value} without quotes` } : {};
}

export interface NodeTable<V> {
  /** For messages: `stage "x"`. */
  readonly what: string;
  readonly properties: Table<V>;
  /** Children that are read elsewhere, though properties have their names. */
  readonly lists?: readonly string[];
}

/** Reads the properties of a node. Each may also be a child of its name with one value: `prompt "…"`. */
export function readProperties<V>(node: KdlNode, table: NodeTable<V>, problems: Problems): Get<V> {
  const { what, properties } = table;
  const read: { [K in keyof V]?: Located<V[K]> } = {};
  const keep = (key: string, source: KdlValue): void => {
    if (!isKey(properties, key)) return;
    const result = properties[key](source.value);
    if ("ok" in result) read[key] = new Read(result.ok, source);
    else {
      const { wanted, ...hint } = result;
      problems.error({ at: source.at, rule: "wrong-value", message: `"${key}" of ${what} must be ${wanted}`, ...hint });
    }
  };
  for (const { name: key, value } of node.properties) keep(key, value);
  if (node.children.length > 0) for (const [key, value] of childValues(node, table, problems)) keep(key, value);
  return (key) => read[key] ?? null;
}

function isKey<V>(properties: Table<V>, key: string): key is keyof V & string {
  return Object.hasOwn(properties, key);
}

function childValues<V>(node: KdlNode, table: NodeTable<V>, problems: Problems): Map<string, KdlValue> {
  const { what, properties, lists = [] } = table;
  const given = new Set(node.properties.map((property) => property.name));
  const values = new Map<string, KdlValue>();
  for (const child of node.children) {
    const { name: key, at, args } = child;
    if (!isKey(properties, key) || lists.includes(key)) continue;
    const [value, extra] = args;
    if (given.has(key) || values.has(key))
      problems.error({
        at,
        rule: "duplicate-property",
        message: `"${key}" of ${what} is given twice`,
        hint: "keep one",
      });
    else if (value === undefined || extra !== undefined || child.properties.length + child.children.length > 0)
      problems.error({ at, rule: "wrong-value", message: `"${key}" of ${what} needs one value`, hint: endHint });
    else values.set(key, value);
  }
  return values;
}

export interface Known {
  readonly what: string;
  readonly properties: readonly string[];
  /** Nodes inside of it that are no properties. */
  readonly children: readonly string[];
  /** What else a name could belong to. */
  readonly elsewhere?: (name: string) => string | null;
}

/** Everything else that stands in a node is an error: a setting that does nothing is worse than none. */
export function refuseUnknown(node: KdlNode, known: Known, problems: Problems): void {
  for (const property of node.properties)
    if (!known.properties.includes(property.name))
      tellUnknown({ key: property.name, at: property.at, kind: "property" }, known, problems);
  for (const { name: key, at } of node.children)
    if (!known.properties.includes(key) && !known.children.includes(key))
      tellUnknown({ key, at, kind: "node" }, known, problems);
}

interface Unknown {
  readonly key: string;
  readonly at: Position;
  readonly kind: "property" | "node";
}

function tellUnknown({ key, at, kind }: Unknown, known: Known, problems: Problems): void {
  if (problems.isFull()) return;
  const near = nearest(key, [...known.properties, ...known.children]);
  const hint = known.elsewhere?.(key) ?? (near === null ? null : `did you mean "${near}"?`);
  const message = `unknown ${kind} "${key.slice(0, 60)}" of ${known.what}`;
  problems.error({ at, rule: `unknown-${kind}`, message, ...(hint === null ? {} : { hint }) });
}

const endHint = 'a node ends at a new line or at ";"';

/** The one name of a node such as `stage "x"`; null: there is none, and an error. */
export function readName(node: KdlNode, problems: Problems): Named | null {
  const names = readNames(node, problems);
  const second = node.args[1];
  if (second !== undefined) {
    const message = `"${node.name}" has one value, found ${JSON.stringify(second.value)?.slice(0, 60)}`;
    problems.error({ at: second.at, rule: "wrong-value", message, hint: endHint });
  }
  return names[0] ?? null;
}

/** At least one. */
export function readNames(node: KdlNode, problems: Problems): Named[] {
  const names: Named[] = [];
  for (const { value, at } of node.args) {
    if (typeof value === "string" && value.trim() !== "") names.push({ name: value, at });
    else problems.error({ at, rule: "wrong-value", message: `"${node.name}" needs a name in quotes` });
  }
  if (node.args.length === 0)
    problems.error({
      at: node.at,
      rule: "missing",
      message: `"${node.name}" needs a name`,
      hint: `write ${node.name} "name"`,
    });
  return names;
}

export function toNamed(located: Located<string> | null): Named | null {
  return located === null ? null : { name: located.value, at: located.at };
}
