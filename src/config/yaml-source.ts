import { Composer, isAlias, isMap, isScalar, isSeq, Lexer, LineCounter, type Pair, Parser, type YAMLMap } from "yaml";
import { type Diagnostic, diagnosticAt, quoted } from "./diagnostic.js";
import { emptyMapping, isMapping, type Mapping, type Path, type Place, type Source, setPlace } from "./source.js";

/**
 * Text to a source. Whatever the text is, this ends soon and says what is wrong: the size, the depth and the number of
 * values (aliases spread out) are bounded before anything recurses into them.
 */
export const maxConfigBytes = 128 * 1024;
const maxDepth = 64;
const maxValues = 20_000;

export interface ReadText {
  /** null: so broken that nothing else can be checked. */
  readonly source: Source | null;
  readonly diagnostics: readonly Diagnostic[];
}

export function readYamlSource(text: string, file: string): ReadText {
  const lines = new LineCounter();
  const at = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(line, 1), column: Math.max(col, 1), key: null };
  };
  const broken = (place: Place, message: string): ReadText => ({
    source: null,
    diagnostics: [diagnosticAt(place, { path: [], message })],
  });
  const start: Place = { file, line: 1, column: 1, key: null };
  const size = Buffer.byteLength(text);
  if (size > maxConfigBytes) return broken(start, tooLarge(size));
  const plain = text.startsWith("\uFEFF") ? text.slice(1) : text;
  const nul = plain.indexOf("\0");
  if (nul >= 0) {
    const before = plain.slice(0, nul).split("\n");
    const column = (before.at(-1)?.length ?? 0) + 1;
    return broken({ ...start, line: before.length, column }, "expected text, found a NUL byte");
  }
  const parsed = parse(plain, lines);
  if ("message" in parsed) return broken(at(parsed.offset), parsed.message);
  const reader = new Reader({ file, at });
  return { source: reader.read(parsed.contents), diagnostics: reader.diagnostics };
}

/** A single value, as an environment variable or a flag has it; undefined where the text is no YAML. */
export function readYamlValue(text: string): unknown {
  if (text.length > maxConfigBytes || text.includes("\0")) return undefined;
  const parsed = parse(text, new LineCounter());
  if ("message" in parsed) return undefined;
  const reader = new Reader({ file: "", at: () => ({ file: "", line: null, column: null, key: null }) });
  const value = reader.value(parsed.contents);
  return reader.diagnostics.length === 0 ? value : undefined;
}

export function tooLarge(bytes: number): string {
  return `expected a file of at most ${maxConfigBytes / 1024} KiB, found ${Math.ceil(bytes / 1024)} KiB`;
}

function parse(text: string, lines: LineCounter): { contents: unknown } | { offset: number; message: string } {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  const tokens = [];
  let offset = 0;
  for (const lexeme of new Lexer().lex(text)) {
    const next = [...parser.next(lexeme)];
    tokens.push(...next);
    // Only the first problem is told: what follows from it need not be read.
    if (next.some(({ type }) => type === "error")) break;
    if (parser.stack.length > maxDepth) return { offset, message: tooDeep };
    offset = parser.offset;
  }
  tokens.push(...parser.end());
  const options = { lineCounter: lines, prettyErrors: false, uniqueKeys: false, version: "1.2", merge: false } as const;
  const documents = [...new Composer(options).compose(tokens, true, text.length)];
  const [first, second] = documents;
  const problem = [...(first?.errors ?? []), ...(first?.warnings ?? [])].sort((a, b) => a.pos[0] - b.pos[0])[0];
  if (problem !== undefined) return { offset: problem.pos[0], message: sentence(problem.code, problem.message) };
  if (second !== undefined) {
    return { offset: second.range?.[0] ?? 0, message: "expected one YAML document, found a second one" };
  }
  return { contents: first?.contents ?? null };
}

const tooDeep = `nested too deeply: at most ${maxDepth} levels are read`;

function sentence(code: string, message: string): string {
  const line = message.split("\n")[0]?.trim() ?? "";
  if (code === "TAB_AS_INDENT") return "not valid YAML: indent with spaces, found a tab";
  if (code === "TAG_RESOLVE_FAILED") return `not a plain value: ${line}`;
  return `not valid YAML: ${line}`;
}

/** Turns nodes into plain values, and notes where each was. */
class Reader {
  readonly diagnostics: Diagnostic[] = [];
  readonly #anchors = new Map<string, unknown>();
  readonly #source: Source;
  readonly #at: (offset: number) => Place;
  #values = 0;

  constructor({ file, at }: { file: string; at: (offset: number) => Place }) {
    this.#at = at;
    this.#source = { file, root: emptyMapping(), places: new Map() };
  }

  /** null: there is no mapping of settings to go on with. */
  read(contents: unknown): Source | null {
    const start = this.#at(offsetOf(contents));
    setPlace(this.#source, [], { key: start, value: start });
    const root = contents === null ? null : this.#value(contents, []);
    if (this.#values > maxValues) return null;
    if (root === null) return this.#source;
    if (!isMapping(root)) {
      const found = Array.isArray(root) ? "a list" : `the text ${quoted(String(root))}`;
      this.#say(start, [], `expected a mapping of settings (key: value), found ${found}`);
      return null;
    }
    return { ...this.#source, root };
  }

  /** Only the value, for what is no file. */
  value(contents: unknown): unknown {
    return this.#value(contents, []);
  }

  #say(place: Place, path: Path, message: string): void {
    this.diagnostics.push(diagnosticAt(place, { path, message }));
  }

  #value(node: unknown, path: Path): unknown {
    this.#values++;
    if (this.#values > maxValues || path.length > maxDepth) return this.#tooMuch(node);
    if (isAlias(node)) return this.#alias(node.source, path, offsetOf(node));
    if (isScalar(node) || isSeq(node) || isMap(node)) {
      if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    }
    if (isMap(node)) return this.#mapping(node, path);
    if (isSeq(node)) return node.items.map((item, index) => this.#item(item, [...path, index]));
    if (!isScalar(node)) return null;
    // It becomes an argument, a path or a variable somewhere, and none of these can have one.
    if (typeof node.value === "string" && node.value.includes("\0")) {
      this.#say(this.#at(offsetOf(node)), path, `expected text without a NUL byte, found ${quoted(node.value)}`);
    }
    return plainScalar(node.value);
  }

  #item(node: unknown, path: Path): unknown {
    const place = this.#at(offsetOf(node));
    setPlace(this.#source, path, { key: place, value: place });
    return this.#value(node, path);
  }

  #tooMuch(node: unknown): null {
    const message = this.#values > maxValues ? `too many values: at most ${maxValues} are read` : tooDeep;
    if (this.diagnostics.every((said) => said.message !== message)) this.#say(this.#at(offsetOf(node)), [], message);
    return null;
  }

  #alias(name: string, path: Path, offset: number): unknown {
    if (this.#anchors.has(name)) return this.#value(this.#anchors.get(name), path);
    this.#say(this.#at(offset), path, `expected the name of an anchor that stands before it, found *${name}`);
    return null;
  }

  #mapping(map: YAMLMap, path: Path): Mapping {
    const result = emptyMapping();
    const lines = new Map<string, number | null>();
    for (const pair of map.items) this.#pair(pair, { path, result, lines });
    return result;
  }

  #pair(pair: Pair, into: Filling): void {
    const keyPlace = this.#at(offsetOf(pair.key));
    const key = isScalar(pair.key) ? pair.key.value : undefined;
    const wrong = wrongKey(pair.key, into);
    if (typeof key !== "string" || wrong !== null) {
      const path = typeof key === "string" && key !== "__proto__" ? [...into.path, key] : into.path;
      this.#say(keyPlace, path, wrong ?? "");
      return;
    }
    const path = [...into.path, key];
    into.lines.set(key, keyPlace.line);
    const valuePlace = pair.value === null ? keyPlace : this.#at(offsetOf(pair.value) || offsetOf(pair.key));
    setPlace(this.#source, path, { key: keyPlace, value: valuePlace });
    into.result[key] = this.#value(pair.value, path);
  }
}

/** A mapping that is being read: its values, and the lines of the keys it already has. */
interface Filling {
  readonly path: Path;
  readonly result: Mapping;
  readonly lines: Map<string, number | null>;
}

function wrongKey(node: unknown, { lines }: Filling): string | null {
  if (!isScalar(node)) return "expected a key that is text, found a list, mapping or alias";
  const key = node.value;
  if (typeof key !== "string") return `expected a key that is text, found ${String(key)}${hintForKey(key)}`;
  if (key.includes("\0")) return "expected a key without a NUL byte";
  if (key === "__proto__") return "__proto__ cannot be the name of a setting";
  if (key === "<<") return "merge keys are not read: write the settings out";
  return lines.has(key) ? `given twice, first in line ${lines.get(key)}` : null;
}

function hintForKey(key: unknown): string {
  const simple = typeof key === "number" || typeof key === "boolean";
  return simple ? ` (write it in quotes: "${key}")` : "";
}

function plainScalar(value: unknown): unknown {
  if (value === null || ["string", "number", "boolean"].includes(typeof value)) return value;
  return String(value);
}

function offsetOf(node: unknown): number {
  if (isScalar(node) || isSeq(node) || isMap(node) || isAlias(node)) return node.range?.[0] ?? 0;
  return 0;
}
