import type { ParameterExpansionPart, ParameterOperation, Word } from "unbash";
import { matchesPattern } from "../secrets.js";
import type { Shell, State } from "./session.js";
import { isKnown, isOpaque, unknown } from "./unknown.js";

interface Context {
  readonly state: State;
  readonly shell: Shell;
  expand(word: Word): readonly string[];
}

/** A variable's values, as far as the line or the environment tells; anything otherwise. */
export function valuesOf(name: string, state: State, shell: Shell): readonly string[] {
  const known = state.vars.get(name);
  if (known !== undefined) return known;
  if (name === "PWD") return state.cwds;
  if (name === "HOME") return [shell.session.place.home];
  if (name === "TMPDIR") return [shell.session.place.tmp];
  if (name === "!") return [unknown.ownPid];
  if (["?", "#", "$", "RANDOM", "SECONDS", "LINENO", "UID", "EUID", "PPID", "BASHPID"].includes(name))
    return [unknown.name];
  const { env } = shell.session.place;
  return [(Object.hasOwn(env, name) ? env[name] : undefined) ?? unknown.any];
}

export function expandParameter(part: ParameterExpansionPart, context: Context): readonly string[] {
  const { state, shell, expand } = context;
  const { parameter, prefix, index, operation } = part;
  if (index !== undefined && index.text !== "@" && index.text !== "*") expand(index);
  if (prefix === "#") return [unknown.name];
  if (prefix === "!") return indirect(part, context);
  const isSet =
    state.vars.has(parameter) ||
    Object.hasOwn(shell.session.place.env, parameter) ||
    ["HOME", "PWD", "TMPDIR"].includes(parameter);
  const values = elementsOf(valuesOf(parameter, state, shell), index?.text);
  if (operation === undefined) return values;
  if (operation.type === "Default") return defaulted({ operation, values, isSet, name: parameter }, context);
  return values.flatMap((value) => changed(value, operation, context)).slice(0, 16);
}

function elementsOf(values: readonly string[], index: string | undefined): readonly string[] {
  if (index === "@" || index === "*") return values;
  if (index === undefined) return values;
  return values.flatMap((value) => (value.includes(unknown.split) ? value.split(unknown.split) : [value])).slice(0, 16);
}

function indirect(
  { parameter, operation, index }: ParameterExpansionPart,
  { state, shell }: Context,
): readonly string[] {
  if (operation !== undefined || index !== undefined) return [unknown.any];
  return valuesOf(parameter, state, shell).flatMap((name) =>
    isKnown(name) ? valuesOf(name, state, shell) : [unknown.any],
  );
}

interface Defaulted {
  readonly operation: Extract<ParameterOperation, { type: "Default" }>;
  readonly values: readonly string[];
  readonly isSet: boolean;
  readonly name: string;
}

function defaulted({ operation, values, isSet, name }: Defaulted, { state, expand }: Context): readonly string[] {
  const operand = expand(operation.operand);
  if (operation.operator.endsWith("+")) return [...operand, ""];
  if (operation.operator.endsWith("?")) return values.filter((value) => value !== "");
  const orDefault = isSet ? values.flatMap((value) => (value === "" ? operand : [value])) : operand;
  if (operation.operator.endsWith("=")) state.vars.set(name, orDefault);
  return orDefault;
}

function changed(value: string, operation: ParameterOperation, { expand }: Context): readonly string[] {
  const text = (word: Word | undefined) => (word === undefined ? "" : (expand(word)[0] ?? ""));
  switch (operation.type) {
    case "Remove":
      return [removed(value, operation.operator, text(operation.operand))];
    case "Replace":
      return [
        replaced(value, operation.operator, { pattern: text(operation.pattern), by: text(operation.replacement) }),
      ];
    case "CaseModification":
      if (!isKnown(value)) return [value];
      return [value, value.toUpperCase(), value.toLowerCase()];
    case "Slice":
      text(operation.offset);
      text(operation.length);
      return [unknown.any];
    case "Transform":
      text(operation.operand);
      return [unknown.any];
    default:
      return [unknown.any];
  }
}

/** Each field on its own. Cutting at an end leaves what goes down only going down only. */
function removed(value: string, operator: string, pattern: string): string {
  if (isOpaque(value) || isOpaque(pattern) || value.length > 4096) return unknown.any;
  const fields = value.split(unknown.split);
  return fields
    .map((field) => (isKnown(field) ? cut(field, operator, pattern) : cutUnknown(field, operator, pattern)))
    .join(unknown.split);
}

function cutUnknown(field: string, operator: string, pattern: string): string {
  if (operator.startsWith("#")) return pattern.endsWith("/") ? unknown.below : unknown.any;
  return pattern.includes("..") ? unknown.any : field;
}

function cut(field: string, operator: string, pattern: string): string {
  const fromStart = operator.startsWith("#");
  const lengths = Array.from({ length: field.length + 1 }, (_, at) => at);
  if (operator.length === 2) lengths.reverse();
  for (const length of lengths) {
    const piece = fromStart ? field.slice(0, length) : field.slice(field.length - length);
    if (matchesPattern(pattern, piece)) return fromStart ? field.slice(length) : field.slice(0, field.length - length);
  }
  return field;
}

function replaced(value: string, operator: string, { pattern, by }: { pattern: string; by: string }): string {
  if (!isKnown(pattern) || isOpaque(by)) return unknown.any;
  if (isKnown(value)) {
    if (operator === "//") return value.replaceAll(pattern, () => by);
    return operator === "/" ? value.replace(pattern, () => by) : unknown.any;
  }
  return !isOpaque(value) && !/[./]/.test(pattern) && !by.includes("/") && !by.includes(".") ? value : unknown.any;
}
