import { outcomes } from "../defaults.js";
import type { Expression } from "../expression/expression.js";
import type { Position } from "../graph.js";

export interface ConditionProblem {
  readonly severity: "error" | "warning";
  /** In the text of the condition. */
  readonly index: number;
  readonly message: string;
  readonly hint?: string;
}
export interface ParsedCondition {
  /** null: unconditional, or not readable; there is an error then. */
  readonly when: Expression | null;
  readonly problems: readonly ConditionProblem[];
}

interface Part {
  readonly text: string;
  readonly index: number;
  /** The operator before it. */
  readonly after: "&&" | "||" | null;
}

const form = "write key=value or key!=value, joined by && or ||";
const mostParts = 1000;
const none: readonly ConditionProblem[] = [];

/** A call such as `outcome("s")` makes it an expression as KDL has them. */
export function hasCall(text: string): boolean {
  return /\b(?:outcome|output|exists|context)\s*\(/.test(text);
}

/**
 * The conditions of Attractor's specification: `key=value` and `key!=value`, joined by `&&` (and, beyond it, `||`, which
 * binds less). `outcome` and `preferred_label` are those of the stage that has just ended, every other key is the
 * context's. A key alone holds when it has a value other than `false`.
 */
export function parseCondition(text: string, place: (index: number) => Position): ParsedCondition {
  const word = text.trim();
  if (word === "" || word === "true") return { when: null, problems: [] };
  if (word === "false") return { when: { type: "literal", value: false }, problems: [] };
  const problems: ConditionProblem[] = [];
  const parts = splitParts(text);
  if (parts.length > mostParts) {
    const index = parts[mostParts]?.index ?? 0;
    return { when: null, problems: [{ severity: "error", index, message: `more than ${mostParts} comparisons` }] };
  }
  let any: Expression | null = null;
  let every: Expression | null = null;
  for (const part of parts) {
    const clause = parseClause(part, place);
    problems.push(...clause.problems);
    if (clause.when === null) continue;
    if (part.after === "||") {
      any = join("or", any, every);
      every = clause.when;
    } else every = join("and", every, clause.when);
  }
  if (problems.some(({ severity }) => severity === "error")) return { when: null, problems };
  return { when: join("or", any, every), problems };
}

function join(type: "and" | "or", left: Expression | null, right: Expression | null): Expression | null {
  if (left === null || right === null) return left ?? right;
  return { type, left, right };
}

/** At `&&` and `||`, but not inside of quotes. */
function splitParts(text: string): Part[] {
  if (!text.includes("&&") && !text.includes("||")) return [{ text, index: 0, after: null }];
  const parts: Part[] = [];
  let start = 0;
  let after: Part["after"] = null;
  for (const match of text.matchAll(/"[^"]*"|'[^']*'|&&|\|\|/g)) {
    if (match[0] !== "&&" && match[0] !== "||") continue;
    parts.push({ text: text.slice(start, match.index), index: start, after });
    start = match.index + 2;
    after = match[0];
  }
  parts.push({ text: text.slice(start), index: start, after });
  return parts;
}

function parseClause(part: Part, place: (index: number) => Position): ParsedCondition {
  const start = part.index + part.text.length - part.text.trimStart().length;
  const text = part.text.trim();
  const fail = (index: number, message: string): ParsedCondition => ({
    when: null,
    problems: [{ severity: "error", index, message, hint: form }],
  });
  if (text === "") return fail(part.index, "a comparison is missing");
  const operator = /!==?|={1,3}/.exec(text);
  const key = (operator === null ? text : text.slice(0, operator.index)).trim();
  if (!/^[A-Za-z_][\w.-]*$/.test(key))
    return fail(start, key === "" ? "a key is missing" : `"${key.slice(0, 40)}" is no key`);
  const left = keyExpression(key, place(start));
  if (operator === null) {
    if (left.type === "outcome") return fail(start, "outcome must be compared");
    return { when: isSet(left), problems: [] };
  }
  const rest = text.slice(operator.index + operator[0].length);
  const valueAt = start + operator.index + operator[0].length + rest.length - rest.trimStart().length;
  const value = readLiteral(rest.trim());
  if (value === null) return fail(valueAt, `"${rest.trim().slice(0, 40)}" is no value`);
  const type = operator[0].startsWith("!") ? "not-equal" : "equal";
  const when: Expression = { type, left, right: { type: "literal", value } };
  return { when, problems: left.type === "outcome" ? outcomeProblems(value, valueAt) : none };
}

/** Quoted, or everything up to the next operator; a sign in it is more likely a mistake than meant. */
function readLiteral(text: string): string | null {
  const quoted = /^"([^"]*)"$|^'([^']*)'$/.exec(text);
  if (quoted !== null) return quoted[1] ?? quoted[2] ?? "";
  return text === "" || /[=!<>&|"'()]/.test(text) ? null : text;
}

function keyExpression(key: string, at: Position): Expression {
  if (key === "outcome") return { type: "outcome", stage: null, at };
  if (key === "preferred_label") return { type: "preferred-label" };
  return { type: "context", key: key.startsWith("context.") ? key.slice("context.".length) : key };
}

function isSet(left: Expression): Expression {
  const unlike = (value: string): Expression => ({ type: "not-equal", left, right: { type: "literal", value } });
  return { type: "and", left: unlike(""), right: unlike("false") };
}

function outcomeProblems(value: string, index: number): readonly ConditionProblem[] {
  if (outcomes.some((outcome) => outcome === value)) return none;
  return [
    {
      severity: "warning",
      index,
      message: `no stage ever has the outcome "${value.slice(0, 40)}"`,
      hint: `there are ${outcomes.join(", ")}`,
    },
  ];
}
