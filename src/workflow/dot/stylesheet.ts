/** What a stylesheet may set: `ModelChoice`, by the names of the attributes. */
export type StyleProperty = "llm_model" | "llm_provider" | "reasoning_effort";
export type Style = Partial<Record<StyleProperty, string>>;

/** The rules by selector, a later one of the same selector on top. */
export interface Stylesheet {
  readonly all: Style;
  readonly shapes: ReadonlyMap<string, Style>;
  readonly classes: ReadonlyMap<string, RankedStyle>;
  readonly ids: ReadonlyMap<string, Style>;
}
/** Two classes of one node may set the same property: the later rule wins. */
type RankedStyle = Partial<Record<StyleProperty, { readonly value: string; readonly rank: number }>>;

export interface StyleProblem {
  readonly severity: "error" | "warning";
  /** In the text of the stylesheet. */
  readonly index: number;
  readonly message: string;
  readonly hint?: string;
}

const properties: readonly StyleProperty[] = ["llm_model", "llm_provider", "reasoning_effort"];
const mostProblems = 20;
const blank = /(?:\s+|\/\*[\s\S]*?\*\/)*/y;
const selector = /\*|[.#]?[\w-]+/y;
const propertyName = /[\w-]+/y;
const propertyValue = /"([^"\n]*)"|'([^'\n]*)'|([^;{}"'\n]*)/y;

interface Scan {
  readonly text: string;
  readonly problems: StyleProblem[];
  at: number;
}

/** `* {…} box {…} .class {…} #id {…}`: every rule that can be read counts, every mistake is told. */
export function parseStylesheet(text: string): {
  readonly sheet: Stylesheet;
  readonly problems: readonly StyleProblem[];
} {
  const scan: Scan = { text, problems: [], at: 0 };
  const all: Style = {};
  const shapes = new Map<string, Style>();
  const classes = new Map<string, RankedStyle>();
  const ids = new Map<string, Style>();
  for (let rank = 1; ; rank++) {
    skipBlank(scan);
    if (scan.at >= text.length || scan.problems.length >= mostProblems) break;
    const selectors = readSelectors(scan);
    const style = readBlock(scan);
    for (const name of selectors) {
      if (name === "*") Object.assign(all, style);
      else if (name.startsWith("#")) merge(ids, name.slice(1), style);
      else if (name.startsWith(".")) merge(classes, name.slice(1), ranked(style, rank));
      else merge(shapes, name, style);
    }
  }
  return { sheet: { all, shapes, classes, ids }, problems: scan.problems };
}

/** It says nothing, of any node. */
export function isEmpty({ all, shapes, classes, ids }: Stylesheet): boolean {
  return shapes.size === 0 && classes.size === 0 && ids.size === 0 && Object.keys(all).length === 0;
}

/** The more special selector wins: id, then class, then shape, then `*`. */
export function styleOf(
  sheet: Stylesheet,
  node: { readonly id: string; readonly classes: readonly string[]; readonly shape: string },
): Style {
  const ofClasses: RankedStyle = {};
  for (const name of node.classes) {
    const style = sheet.classes.get(name);
    for (const property of properties) {
      const found = style?.[property];
      if (found !== undefined && found.rank > (ofClasses[property]?.rank ?? 0)) ofClasses[property] = found;
    }
  }
  const style: Style = { ...sheet.all, ...sheet.shapes.get(node.shape) };
  for (const property of properties) {
    const found = ofClasses[property];
    if (found !== undefined) style[property] = found.value;
  }
  return { ...style, ...sheet.ids.get(node.id) };
}

function ranked(style: Style, rank: number): RankedStyle {
  const result: RankedStyle = {};
  for (const property of properties) {
    const value = style[property];
    if (value !== undefined) result[property] = { value, rank };
  }
  return result;
}

function merge<T extends object>(map: Map<string, T>, key: string, style: T): void {
  map.set(key, { ...map.get(key), ...style });
}

function readSelectors(scan: Scan): string[] {
  const names: string[] = [];
  for (;;) {
    skipBlank(scan);
    const name = match(scan, selector);
    if (name === null) break;
    names.push(name[0]);
    skipBlank(scan);
    if (scan.text[scan.at] !== ",") break;
    scan.at++;
  }
  if (names.length === 0) tell(scan, "expected a selector", "write *, .class, #id or a shape such as box");
  return names;
}

/** `{ property: value; … }`; goes on after the next `}` when it is none. */
function readBlock(scan: Scan): Style {
  const style: Style = {};
  skipBlank(scan);
  if (scan.text[scan.at] !== "{") {
    if (scan.problems.at(-1)?.index !== scan.at) tell(scan, "expected { after the selector");
    skipPast(scan, "}");
    return style;
  }
  scan.at++;
  for (;;) {
    skipBlank(scan);
    const next = scan.text[scan.at];
    if (next === undefined) {
      tell(scan, "the { of this rule is never closed", "add a }");
      return style;
    }
    scan.at++;
    if (next === "}") return style;
    if (next === ";") continue;
    scan.at--;
    if (!readDeclaration(scan, style)) {
      skipPast(scan, "}");
      return style;
    }
  }
}

/** False: it cannot be read, and so neither can the rest of its rule. */
function readDeclaration(scan: Scan, style: Style): boolean {
  const start = scan.at;
  const name = match(scan, propertyName);
  skipBlank(scan);
  if (name === null || scan.text[scan.at] !== ":") {
    tell(scan, "expected a property and its value", "write llm_model: name;");
    return false;
  }
  scan.at++;
  skipBlank(scan);
  const valueAt = scan.at;
  const value = match(scan, propertyValue);
  const text = (value?.[1] ?? value?.[2] ?? value?.[3] ?? "").trim();
  const property = properties.find((candidate) => candidate === name[0]);
  if (property === undefined)
    scan.problems.push({
      severity: "warning",
      index: start,
      message: `unknown property "${name[0].slice(0, 40)}" in the stylesheet: it changes nothing`,
      hint: `there are ${properties.join(", ")}`,
    });
  else if (text === "") scan.problems.push({ severity: "error", index: valueAt, message: `${property} has no value` });
  else style[property] = text;
  skipBlank(scan);
  const next = scan.text[scan.at];
  if (next === ";" || next === "}" || next === undefined) return true;
  tell(scan, "expected ; or } after the value");
  return false;
}

function skipBlank(scan: Scan): void {
  match(scan, blank);
}

function skipPast(scan: Scan, mark: string): void {
  const found = scan.text.indexOf(mark, scan.at);
  scan.at = found === -1 ? scan.text.length : found + 1;
}

function match(scan: Scan, pattern: RegExp): RegExpExecArray | null {
  pattern.lastIndex = scan.at;
  const found = pattern.exec(scan.text);
  if (found !== null) scan.at += found[0].length;
  return found;
}

function tell(scan: Scan, message: string, hint?: string): void {
  scan.problems.push({ severity: "error", index: scan.at, message, ...(hint === undefined ? {} : { hint }) });
}
