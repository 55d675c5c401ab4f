import type { Expression } from "./expression.js";

/** What conditions can ask for. */
export interface ExpressionView {
  /** Of the stage's last visit; "" when it has not run. */
  outcome(stage: string): string;
  /** Of the stage that has just ended. */
  readonly lastOutcome: string;
  readonly preferredLabel: string | null;
  value(key: string): unknown;
  has(key: string): boolean;
}

type Scalar = string | number | boolean;

/** Whether the condition holds. */
export function evaluate(expression: Expression, view: ExpressionView): boolean {
  switch (expression.type) {
    case "and":
      return evaluate(expression.left, view) && evaluate(expression.right, view);
    case "or":
      return evaluate(expression.left, view) || evaluate(expression.right, view);
    case "not":
      return !evaluate(expression.operand, view);
    case "exists":
      return view.has(expression.key);
    case "equal":
      return areEqual(scalarOf(expression.left, view), scalarOf(expression.right, view));
    case "not-equal":
      return !areEqual(scalarOf(expression.left, view), scalarOf(expression.right, view));
    default:
      return scalarOf(expression, view) === true;
  }
}

function scalarOf(expression: Expression, view: ExpressionView): Scalar {
  switch (expression.type) {
    case "literal":
      return expression.value;
    case "outcome":
      return expression.stage === null ? view.lastOutcome : view.outcome(expression.stage);
    case "preferred-label":
      return view.preferredLabel ?? "";
    case "output":
    case "context":
      return toScalar(view.value(expression.key));
    default:
      return evaluate(expression, view);
  }
}

function toScalar(value: unknown): Scalar {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

/** What a program prints is text: "3" is the number 3 and "true" is true, when they are compared with one. */
function areEqual(left: Scalar, right: Scalar): boolean {
  if (typeof left === typeof right) return left === right;
  if (typeof left === "string") return isText(left, right);
  return typeof right === "string" && isText(right, left);
}

function isText(text: string, value: Scalar): boolean {
  const word = text.trim();
  if (typeof value === "number") return word !== "" && Number(word) === value;
  return word === String(value);
}
