import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type YAMLMap } from "yaml";

/** A script is a list of {when, do}; the first `when` that matches the turn acts. */
export interface Scene {
  readonly when: Readonly<Partial<Record<WhenKey, string>>>;
  readonly do: readonly Step[];
}
const whenKeys = ["issue", "role", "kind", "attempt", "stage"] as const;
export type WhenKey = (typeof whenKeys)[number];

export type Step =
  | { readonly type: "write"; readonly path: string; readonly text: string }
  | { readonly type: "run"; readonly command: string }
  | { readonly type: "commit"; readonly message: string }
  | { readonly type: "sleep"; readonly seconds: number }
  | { readonly type: "say"; readonly text: string }
  | { readonly type: "verdict"; readonly verdict: string; readonly findings: unknown }
  | { readonly type: "exit"; readonly code: number }
  | { readonly type: "crash" };

export interface ScriptProblem {
  readonly line: number;
  readonly message: string;
}
export type ParsedScript =
  | { readonly ok: true; readonly scenes: readonly Scene[] }
  | { readonly ok: false; readonly problems: readonly [ScriptProblem, ...ScriptProblem[]] };

export function validateScript(text: string): readonly ScriptProblem[] {
  const parsed = parseScript(text);
  return parsed.ok ? [] : parsed.problems;
}

export function parseScript(text: string): ParsedScript {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const reading = new Reading(lines);
  for (const error of document.errors) reading.add(error.pos[0], error.message.split("\n")[0] ?? "");
  const scenes = document.errors.length > 0 ? [] : readScenes(document.contents, reading);
  const [first, ...more] = reading.problems;
  return first === undefined ? { ok: true, scenes } : { ok: false, problems: [first, ...more] };
}

/** Collects every problem with its line; readers go on with a default, so that all are found at once. */
class Reading {
  readonly problems: ScriptProblem[] = [];
  readonly #lines: LineCounter;
  constructor(lines: LineCounter) {
    this.#lines = lines;
  }
  add(offset: number, message: string): void {
    this.problems.push({ line: Math.max(1, this.#lines.linePos(offset).line), message });
  }
  at(node: unknown, message: string): void {
    this.add(hasRange(node) ? node.range[0] : 0, message);
  }
}

function hasRange(node: unknown): node is { range: [number, number, number] } {
  return typeof node === "object" && node !== null && "range" in node && Array.isArray(node.range);
}

function readScenes(contents: Node | null, reading: Reading): Scene[] {
  if (contents === null) return [];
  if (!isSeq(contents)) {
    reading.at(contents, "a script is a list of {when, do}");
    return [];
  }
  return contents.items.flatMap((item) => readScene(item, reading));
}

function readScene(item: unknown, reading: Reading): Scene[] {
  if (!isMap(item)) {
    reading.at(item, "each entry is {when: {…}, do: […]}");
    return [];
  }
  requireKeys(item, ["when", "do"], reading);
  const steps = item.get("do", true);
  if (!isSeq(steps)) {
    reading.at(steps ?? item, "`do` is a list of steps");
    return [];
  }
  return [{ when: readWhen(item, reading), do: steps.items.flatMap((step) => readStep(step, reading)) }];
}

function readWhen(scene: YAMLMap, reading: Reading): Scene["when"] {
  const when: unknown = scene.get("when", true);
  if (when === undefined || (isScalar(when) && when.value === null)) return {};
  if (!isMap(when)) {
    reading.at(when, `\`when\` is a mapping of ${whenKeys.join(", ")}`);
    return {};
  }
  requireKeys(when, whenKeys, reading);
  const wanted: Partial<Record<WhenKey, string>> = {};
  for (const key of whenKeys) {
    const value = when.get(key);
    if (value === undefined) continue;
    if (typeof value === "string" || typeof value === "number") wanted[key] = String(value);
    else reading.at(when.get(key, true), `\`when.${key}\` is a text or a number`);
  }
  return wanted;
}

function requireKeys(map: YAMLMap, allowed: readonly string[], reading: Reading): void {
  for (const { key } of map.items) {
    const name = isScalar(key) ? String(key.value) : "?";
    if (!allowed.includes(name)) reading.at(key, `unknown key \`${name}\`, allowed: ${allowed.join(", ")}`);
  }
}

/** One reader per kind of step: the step, or what is wrong with it. */
const stepReaders: Readonly<
  Record<string, (value: unknown, step: Readonly<Record<string, unknown>>) => Step | string>
> = {
  write: (value) => {
    const { path, text } = isRecord(value) ? value : {};
    if (typeof path !== "string" || path === "") return "`write` is {path, text}";
    return typeof text === "string" ? { type: "write", path, text } : "`write.text` is a text";
  },
  run: (value) => (isText(value) ? { type: "run", command: value } : "`run` is a shell command"),
  commit: (value) => (isText(value) ? { type: "commit", message: value } : "`commit` is a message"),
  sleep: (value) => (isAmount(value) ? { type: "sleep", seconds: value } : "`sleep` is a number of seconds"),
  say: (value) => (typeof value === "string" ? { type: "say", text: value } : "`say` is a text"),
  verdict: (value, step) =>
    value === "pass" || value === "fail"
      ? { type: "verdict", verdict: value, findings: step.findings ?? [] }
      : "`verdict` is pass or fail",
  exit: (value) =>
    isAmount(value) && Number.isInteger(value) && value < 256 ? { type: "exit", code: value } : "`exit` is 0 to 255",
  crash: (value) => (value === true ? { type: "crash" } : "`crash` is true"),
};

function readStep(node: unknown, reading: Reading): Step[] {
  const names = isMap(node) ? node.items.map(({ key }) => (isScalar(key) ? String(key.value) : "?")) : [];
  const name = names.find((each) => each !== "findings");
  const reader = name === undefined || !Object.hasOwn(stepReaders, name) ? undefined : stepReaders[name];
  if (!isMap(node) || name === undefined || reader === undefined) {
    reading.at(node, `a step is one of ${Object.keys(stepReaders).join(", ")}`);
    return [];
  }
  requireKeys(node, name === "verdict" ? ["verdict", "findings"] : [name], reading);
  const value: unknown = node.toJSON();
  const fields = isRecord(value) ? value : {};
  const step = reader(fields[name], fields);
  if (typeof step !== "string") return [step];
  reading.at(node.get(name, true) ?? node, step);
  return [];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
function isAmount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
