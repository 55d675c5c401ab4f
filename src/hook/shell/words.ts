import { type Assignment, forEachChild, type SyntaxNode, type Word, type WordPart } from "unbash";
import { isSubscript } from "../commands/environment.js";
import { refuse } from "../refusal.js";
import { expandBraces } from "./braces.js";
import { expandParameter, valuesOf } from "./parameters.js";
import { deeper, type Shell, type State, step } from "./session.js";
import { isKnown, mustBePlain, unknown } from "./unknown.js";

const mostWays = 32;
const longest = 100_000;

/** What a word may come out as; the fields of one way are joined by `unknown.split`. */
export function expandWord(word: Word, state: State, shell: Shell): readonly string[] {
  step(shell.session);
  if (word.parts === undefined) return [expandTilde(word.text, word.value, shell)];
  return joinWays(word.parts.map((part, at) => partOf(part, { state, shell, quoted: false, first: at === 0 })));
}

/** Heredocs and quoted text: nothing is split. */
export function expandQuoted(parts: readonly WordPart[], state: State, shell: Shell): readonly string[] {
  return joinWays(parts.map((part) => partOf(part, { state, shell, quoted: true, first: false })));
}

/** One text for a place where the ways do not matter apart; several become anything. */
export function oneText(ways: readonly string[]): string {
  const [first] = ways;
  return ways.length === 1 && first !== undefined ? first : unknown.any;
}

export function fieldsOf(text: string): string[] {
  return text.includes(unknown.split) ? text.split(unknown.split).filter((field) => field !== "") : [text];
}

/** The new values of an assignment: `A=x`, `A+=x`, `A=(x y)`. */
export function assign(assignment: Assignment, state: State, shell: Shell): void {
  const { name, value, append, index } = assignment;
  let values: readonly string[];
  if (value.type === "ArrayValue") {
    const elements = value.elements.map((word) => oneText(expandWord(word, state, shell)));
    values = [elements.join(unknown.split)];
  } else values = expandWord(value, state, shell);
  if (index !== undefined) {
    expandWord(index, state, shell);
    values = [unknown.any];
  }
  if (append) {
    const glue = value.type === "ArrayValue" ? unknown.split : "";
    const before = valuesOf(name, state, shell);
    values =
      before.length * values.length > mostWays
        ? [unknown.any]
        : before.flatMap((old) => values.map((add) => old + glue + add));
  }
  state.vars.set(name, values);
}

/** Looks for commands inside syntax of which nothing else is of interest, such as arithmetic. */
export function runNested(node: SyntaxNode, state: State, shell: Shell): void {
  step(shell.session);
  if (
    node.type === "CommandExpansion" ||
    node.type === "ArithmeticCommandExpansion" ||
    node.type === "ProcessSubstitution"
  ) {
    shell.runScript(node.script, state, null);
    return;
  }
  if (node.type === "Word" && isSubscript(node.value)) refuse("a subscript that runs a command; run the command first");
  deeper(shell.session, () => forEachChild(node, (child) => runNested(child, state, shell)));
}

interface PartContext {
  readonly state: State;
  readonly shell: Shell;
  readonly quoted: boolean;
  readonly first: boolean;
}

function partOf(part: WordPart, context: PartContext): readonly string[] {
  const { state, shell, quoted, first } = context;
  switch (part.type) {
    case "Literal":
      return [first ? expandTilde(part.text, part.value, shell) : part.value];
    case "SingleQuoted":
      return [part.value];
    case "AnsiCQuoted":
      return [mustBePlain(part.value)];
    case "DoubleQuoted":
    case "LocaleString":
      return expandQuoted(part.parts, state, shell);
    case "SimpleExpansion":
      return valuesOf(part.text.slice(1), state, shell).map((value) => split(value, quoted, part.text === "$@"));
    case "ParameterExpansion": {
      const whole = /\[@\]|^\$\{@/.test(part.text);
      const expand = (word: Word) => expandWord(word, state, shell);
      return expandParameter(part, { state, shell, expand }).map((value) => split(value, quoted, whole));
    }
    case "CommandExpansion":
      return [split(shell.runScript(part.script, state, null).replace(/\n+$/, ""), quoted, false)];
    case "ProcessSubstitution":
      return [processText(shell.runScript(part.script, state, part.operator === ">" ? unknown.any : null))];
    case "ArithmeticExpansion":
      if (part.expression !== undefined) runNested(part.expression, state, shell);
      return [unknown.name];
    case "Glob":
    case "ExtendedGlob":
      runNested(part, state, shell);
      return [unknown.glob];
    case "BraceExpansion":
      runNested(part, state, shell);
      return [
        expandBraces(part.text)
          .map((text) => text.replace(/[*?]/g, unknown.glob))
          .join(unknown.split),
      ];
  }
}

/** As an argument it is a file of the system's; who reads it as a script has to know what is in it. */
function processText(output: string): string {
  return output.includes(unknown.download) ? `/dev/fd/63${unknown.download}` : "/dev/fd/63";
}

/** Unquoted expansions are split at white space and matched against files; quoted ones are not, but for "$@". */
function split(value: string, quoted: boolean, whole: boolean): string {
  if (quoted) return whole ? value : value.replaceAll(unknown.split, " ");
  const fields = value.replace(/[ \t\n]+/g, unknown.split);
  return /[*?[]/.test(fields) ? fields.replace(/[*?]|\[[^\]]*\]/g, unknown.glob) : fields;
}

function joinWays(parts: readonly (readonly string[])[]): readonly string[] {
  let ways: string[] = [""];
  for (const part of parts) {
    if (ways.length * part.length > mostWays) return [unknown.any];
    ways = ways.flatMap((before) => part.map((after) => glue(before, after)));
    if (ways.some((way) => way.length > longest)) return [unknown.any];
  }
  return ways;
}

/** `src/{a,b}.ts`: what stands before and behind a list of fields belongs to each of them. */
function glue(before: string, after: string): string {
  if (before === "" || !after.includes(unknown.split)) return spread(before, after);
  const fields = after.split(unknown.split);
  return before.includes(unknown.split) ? before + after : fields.map((field) => before + field).join(unknown.split);
}

function spread(before: string, after: string): string {
  if (after === "" || !before.includes(unknown.split)) return before + after;
  return before
    .split(unknown.split)
    .map((field) => field + after)
    .join(unknown.split);
}

function expandTilde(text: string, value: string, shell: Shell): string {
  if (!text.startsWith("~")) return value;
  const { home } = shell.session.place;
  const user = /^~([^/]*)/.exec(text)?.[1] ?? "";
  const rest = value.slice(user.length + 1);
  if (user === "") return home + rest;
  if (user === "root") return `/root${rest}`;
  return isKnown(user) && /^[A-Za-z_][\w.-]*$/.test(user) ? `/home/${user}${rest}` : unknown.any + rest;
}
