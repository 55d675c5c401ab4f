import { nearest } from "../../core/suggest.js";
import type { Diagnostic } from "../diagnostic.js";
import type { Position } from "../position.js";
import { type ExpressionView, evaluate } from "./evaluate.js";
import type { Expression } from "./expression.js";
import { type ExpressionProblem, readToken, type Token } from "./tokens.js";

/**
 * `outcome("s") == "success" && !exists("k")`. A condition must be a yes or a no: `outcome("s")` alone is an error, because
 * every text would count as one or the other. Nesting and length are bounded, so that no file can exhaust the stack of who
 * parses, evaluates or prints it.
 */
export interface ParsedExpression {
  /** null: there is an error. */
  readonly expression: Expression | null;
  readonly diagnostics: readonly Diagnostic[];
}
/** Where the text begins, or where each of its characters is, when escapes lie between. */
export type Place = Position | ((index: number) => Position);

const deepest = 100;
const longest = 1000;
const functions = ["outcome", "output", "exists", "context"] as const;

export function parseExpression(text: string, place: Place): ParsedExpression {
  const where = typeof place === "function" ? place : (index: number) => advance(place, text.slice(0, index));
  try {
    return { expression: new Parser(text, where).whole(), diagnostics: [] };
  } catch (error) {
    if (!(error instanceof Unparsable)) throw error;
    const { message, hint, index } = error.problem;
    const { line, column } = where(index);
    const extra = hint === undefined ? {} : { hint };
    return {
      expression: null,
      diagnostics: [{ severity: "error", rule: "condition", message, ...extra, line, column }],
    };
  }
}

/** Thrown and caught in this file alone: the way out of the descent. */
class Unparsable extends Error {
  readonly problem: ExpressionProblem;

  constructor(problem: ExpressionProblem) {
    super(problem.message);
    this.problem = problem;
  }
}

interface Operand {
  readonly expression: Expression;
  readonly index: number;
}

class Parser {
  private readonly text: string;
  private readonly where: (index: number) => Position;
  private current: Token;
  private next = 0;
  private depth = 0;
  private parts = 0;

  constructor(text: string, where: (index: number) => Position) {
    this.text = text;
    this.where = where;
    this.current = this.read();
  }

  whole(): Expression {
    if (this.isEnd()) throw this.problem("the condition is empty", 'write "true" for a way always open');
    const operand = this.any();
    if (!this.isEnd()) throw this.problem(`unexpected ${this.shown()}`, "join conditions by && or ||");
    const condition = yesOrNo(operand);
    return isConstant(condition) ? { type: "literal", value: evaluate(condition, nothing) } : condition;
  }

  private any(): Operand {
    let left = this.every();
    while (this.accept("||"))
      left = { index: left.index, expression: { type: "or", left: yesOrNo(left), right: yesOrNo(this.every()) } };
    return left;
  }

  private every(): Operand {
    let left = this.comparison();
    while (this.accept("&&"))
      left = { index: left.index, expression: { type: "and", left: yesOrNo(left), right: yesOrNo(this.comparison()) } };
    return left;
  }

  private comparison(): Operand {
    const left = this.operand();
    const type = this.accept("==") ? "equal" : this.accept("!=") ? "not-equal" : null;
    if (type === null) return left;
    const right = this.operand();
    if (this.isOperator("==") || this.isOperator("!="))
      throw this.problem("comparisons do not chain", "compare two values, and join comparisons by &&");
    return { index: left.index, expression: { type, left: left.expression, right: right.expression } };
  }

  private operand(): Operand {
    const { type, text, index } = this.current;
    if (++this.parts > longest) throw this.problem(`the condition has more than ${longest} parts`);
    if (this.accept("!")) {
      const operand = this.deeper(() => this.operand());
      return { index, expression: { type: "not", operand: yesOrNo(operand) } };
    }
    if (this.accept("(")) {
      const inner = this.deeper(() => this.any());
      this.expect(")", "the parenthesis is not closed");
      return { index, expression: inner.expression };
    }
    if (type === "word") return this.word();
    if (type !== "string" && type !== "number")
      throw this.problem(`expected a value, found ${this.shown()}`, valueHint);
    this.take();
    return { index, expression: { type: "literal", value: type === "number" ? Number(text) : text } };
  }

  private word(): Operand {
    const { text, index } = this.take();
    if (text === "true" || text === "false") return { index, expression: { type: "literal", value: text === "true" } };
    const name = functions.find((known) => known === text);
    if (name === undefined)
      throw new Unparsable({ index, message: `unknown name "${text.slice(0, 40)}"`, hint: hintFor(text) });
    this.expect("(", `${name} needs a name in parentheses`, `write ${name}("name")`);
    const argument = this.current;
    if (argument.type !== "string" || argument.text === "")
      throw this.problem(`${name} needs a name in quotes`, `write ${name}("name")`);
    this.take();
    this.expect(")", `expected ) after the name of ${name}`);
    return { index, expression: this.call(name, argument) };
  }

  private call(name: (typeof functions)[number], { text, index }: Token): Expression {
    return name === "outcome" ? { type: name, stage: text, at: this.where(index) } : { type: name, key: text };
  }

  private deeper(read: () => Operand): Operand {
    if (++this.depth > deepest) throw this.problem("the condition is nested too deeply");
    const operand = read();
    this.depth--;
    return operand;
  }

  private expect(sign: string, message: string, hint?: string): void {
    if (!this.accept(sign)) throw this.problem(message, hint);
  }

  private accept(sign: string): boolean {
    const there = this.isOperator(sign);
    if (there) this.take();
    return there;
  }

  private isEnd(): boolean {
    return this.current.type === "end";
  }

  private isOperator(sign: string): boolean {
    return this.current.type === "operator" && this.current.text === sign;
  }

  private take(): Token {
    const taken = this.current;
    this.current = this.read();
    return taken;
  }

  private read(): Token {
    const read = readToken(this.text, this.next);
    if ("problem" in read) throw new Unparsable(read.problem);
    this.next = read.next;
    return read.token;
  }

  private shown(): string {
    return this.isEnd() ? "the end" : `"${this.current.text.slice(0, 40)}"`;
  }

  private problem(message: string, hint?: string): Unparsable {
    return new Unparsable({ index: this.current.index, message, ...(hint === undefined ? {} : { hint }) });
  }
}

const valueHint = 'a value is outcome("stage"), output("key"), context("key"), exists("key"), "text", 3, true or false';

function hintFor(word: string): string {
  const signs: Readonly<Record<string, string>> = { and: "write &&", or: "write ||", not: "write !" };
  const sign = signs[word.toLowerCase()];
  if (sign !== undefined) return sign;
  const near = nearest(word, [...functions, "true", "false"]);
  return near === null ? `text is quoted: "${word.slice(0, 40)}"` : `did you mean ${near}?`;
}

function yesOrNo({ expression, index }: Operand): Expression {
  const { type } = expression;
  if (type === "literal" && typeof expression.value !== "boolean")
    throw new Unparsable({
      index,
      message: "a text or a number is neither true nor false",
      hint: "compare it by == or !=",
    });
  if (type === "outcome" || type === "output" || type === "context") {
    const example = type === "outcome" ? `== "success"` : `== true`;
    const name = type === "outcome" ? expression.stage : expression.key;
    const hint = `compare it: ${type}("${(name ?? "").slice(0, 40)}") ${example}`;
    throw new Unparsable({ index, message: `${type}(…) alone is neither true nor false`, hint });
  }
  return expression;
}

/** It asks for nothing: then it is as good as written "true" or "false", which every format knows. */
function isConstant(expression: Expression): boolean {
  if (expression.type === "not") return isConstant(expression.operand);
  if ("left" in expression) return isConstant(expression.left) && isConstant(expression.right);
  return expression.type === "literal";
}

const nothing: ExpressionView = {
  outcome: () => "",
  lastOutcome: "",
  preferredLabel: null,
  value: () => undefined,
  has: () => false,
};

function advance(from: Position, text: string): Position {
  const lines = text.split("\n");
  const last = lines.at(-1) ?? "";
  if (lines.length === 1) return { line: from.line, column: from.column + text.length };
  return { line: from.line + lines.length - 1, column: last.length + 1 };
}
