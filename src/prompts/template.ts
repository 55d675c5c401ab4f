/**
 * Templates know `{{name}}` and nothing else. Values are inserted once and never read again, so whatever an issue or a
 * finding contains reaches the agent byte for byte.
 */
const placeholder = /\{\{([^{}]*)\}\}/;

interface Line {
  /** Text and names in turns, text first. */
  readonly parts: readonly string[];
  /** The name that stands alone on it. */
  readonly alone: string | undefined;
  readonly blank: boolean;
}

interface Parsed {
  readonly lines: readonly Line[];
  /** Every name used, once, in order. */
  readonly names: readonly string[];
}

/** A run has ten of them and fills them for every turn. */
const known = new Map<string, Parsed>();

/** An empty value that stands alone on its line takes the line, and the empty one after it, away. */
export function renderTemplate(template: string, values: Readonly<Record<string, string>>): string {
  const { lines, names } = parse(template);
  const unknown = names.filter((name) => !Object.hasOwn(values, name));
  if (unknown.length > 0) throw new Error(`no value for ${unknown.map((name) => `{{${name}}}`).join(", ")}`);
  const kept: string[] = [];
  let swallow = false;
  for (const { parts, alone, blank } of lines) {
    const isEmpty = alone !== undefined && values[alone] === "";
    if (!isEmpty && !(swallow && blank))
      kept.push(parts.map((part, index) => (index % 2 === 0 ? part : (values[part] ?? ""))).join(""));
    swallow = isEmpty;
  }
  while (kept.at(-1) === "") kept.pop();
  return `${kept.join("\n")}\n`;
}

/** Every name used, once, in order. */
export function namesIn(template: string): readonly string[] {
  return parse(template).names;
}

function parse(template: string): Parsed {
  const before = known.get(template);
  if (before !== undefined) return before;
  const lines = template.replaceAll("\r\n", "\n").split("\n").map(parseLine);
  // Of the whole text, so that one that is broken over two lines is refused and not taken for words.
  const used = [...template.matchAll(new RegExp(placeholder, "g"))].map((match) => match[1] ?? "");
  const parsed = { lines, names: [...new Set(used)] };
  known.set(template, parsed);
  return parsed;
}

function parseLine(line: string): Line {
  const parts = line.split(placeholder);
  const [before = "", name, after = "", ...more] = parts;
  const isAlone = more.length === 0 && before.trim() === "" && after.trim() === "";
  return { parts, alone: isAlone ? name : undefined, blank: line.trim() === "" };
}
