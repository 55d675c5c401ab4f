import { type Diagnostic, diagnosticAt, keyText } from "./diagnostic.js";
import { schemaAt, shapeOf } from "./schema/walk.js";
import { emptyMapping, forgetBelow, isMapping, type Path, type Place, type Source, setPlace } from "./source.js";
import { nearest } from "./suggest.js";
import { readYamlValue } from "./yaml-source.js";

/** What the command line may set. Numbers may come as they were typed. */
export interface ConfigFlags {
  readonly maxAgents?: number | string | undefined;
  readonly maxIssues?: number | string | undefined;
  /** `--max-review-retries`. */
  readonly maxReviewRetries?: number | string | undefined;
  /** `--disable-validations review,session_end`. */
  readonly disableValidations?: readonly string[] | undefined;
}

const prefix = "RATCHET_";
/** What Ratchet tells the programs it starts, where its state is, and what `serve` believes: never settings. */
const protocol = new Set(
  (
    "HOME TURN SLOT ROLE RUN_ID ISSUE_ID PROMPT_KIND ATTEMPT STAGE_ID SESSION_ID RESULT_FILE REVIEWER " +
    "BASE_SHA HEAD_SHA MODEL EFFORT WEBHOOK_SECRET"
  )
    .split(" ")
    .map((name) => prefix + name),
);

/** Lays the environment over the file: `RATCHET_AGENT__TYPE=command` is `agent: {type: command}`. */
export function overlayEnvironment(source: Source, env: Readonly<Record<string, string | undefined>>): Diagnostic[] {
  const given = Object.entries(env)
    .filter(([name, value]) => name.startsWith(prefix) && !protocol.has(name) && value !== undefined && value !== "")
    .map(([name, value]) => ({ name, value: value ?? "", path: name.slice(prefix.length).toLowerCase().split("__") }))
    .sort((a, b) => a.path.length - b.path.length || (a.name < b.name ? -1 : 1));
  return given.flatMap(({ name, value, path }) => {
    const place: Place = { file: "environment", line: null, column: null, key: name };
    // In other letters it would be a second name for the same setting.
    if (schemaAt(path) === null || name !== name.toUpperCase()) return [unknownVariable(place, path)];
    return put(source, path, { place, value: scalarOf(value) });
  });
}

/** Lays the command line over everything; what is no single setting is left to whoever resolves it. */
export function overlayFlags(source: Source, flags: ConfigFlags): Diagnostic[] {
  const given: [string, string, number | string | undefined][] = [
    ["--max-agents", "max_agents", flags.maxAgents],
    ["--max-issues", "max_issues", flags.maxIssues],
  ];
  return given.flatMap(([flag, key, value]) => {
    if (value === undefined) return [];
    return put(source, [key], { place: placeOfFlag(flag), value: typeof value === "number" ? value : scalarOf(value) });
  });
}

export function placeOfFlag(flag: string): Place {
  return { file: "command line", line: null, column: null, key: flag };
}

function put(source: Source, path: string[], { place, value }: { place: Place; value: unknown }): Diagnostic[] {
  let mapping = source.root;
  for (const [index, part] of path.slice(0, -1).entries()) {
    const above = path.slice(0, index + 1);
    if (!Object.hasOwn(mapping, part)) {
      mapping[part] = emptyMapping();
      const around: Place = { ...place, around: true };
      setPlace(source, above, { key: around, value: around });
    }
    const next = mapping[part];
    if (!isMapping(next)) {
      const message = `cannot be set here: ${keyText(above)} is not a mapping in ${source.file}`;
      return [diagnosticAt(place, { path, message })];
    }
    mapping = next;
  }
  mapping[path.at(-1) ?? ""] = value;
  forgetBelow(source, path);
  setPlace(source, path, { key: place, value: place });
  return [];
}

/** A YAML scalar, or a list or mapping in brackets; what is neither is taken as the text it is. */
function scalarOf(text: string): unknown {
  const value = readYamlValue(text);
  if (value === undefined) return text;
  const isCollection = typeof value === "object" && value !== null;
  return isCollection && !/^\s*[[{]/.test(text) ? text : value;
}

function unknownVariable(place: Place, path: Path): Diagnostic {
  const known = knownVariables();
  const name = place.key?.slice(prefix.length).toUpperCase() ?? "";
  const near = schemaAt(path) === null ? (sameWords(name, known) ?? nearest(name, known)) : name;
  const message = `not a setting, ignored${near === null ? "" : `; did you mean ${prefix}${near}?`}`;
  return diagnosticAt(place, { path, message, severity: "warning" });
}

/** The one that has every word of the name and fewest besides: the section or its level was left out. */
function sameWords(name: string, known: readonly string[]): string | null {
  const words = name.split(/_+/);
  const having = known
    .map((candidate) => ({ candidate, parts: candidate.split(/_+/) }))
    .filter(({ parts }) => words.every((word) => parts.includes(word)));
  const fewest = Math.min(...having.map(({ parts }) => parts.length));
  const [only, another] = having.filter(({ parts }) => parts.length === fewest);
  return only && !another ? only.candidate : null;
}

let variables: string[] | null = null;

function knownVariables(): string[] {
  variables ??= listVariables();
  return variables;
}

function listVariables(): string[] {
  const names: string[] = [];
  const visit = (path: string[]): void => {
    const schema = schemaAt(path);
    const shape = schema === null ? null : shapeOf(schema);
    for (const key of Object.keys(shape ?? {})) {
      names.push([...path, key].join("__").toUpperCase());
      visit([...path, key]);
    }
  };
  visit([]);
  return names;
}
