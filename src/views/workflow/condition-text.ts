import type { Expression } from "../../workflow/expression/expression.js";

/** A condition as KDL has it: `outcome("s") == "success" && !exists("k")`. */
export function toKdlCondition(when: Expression): string {
  return print(when, 0);
}

/** A condition as DOT has it, `key=value && …`, where it can be said so; else as in KDL, which DOT may carry too. */
export function toDotCondition(when: Expression): string {
  if (when.type === "literal") return String(when.value);
  return clauses(when, true) ?? toKdlCondition(when);
}

/** How tightly an operator binds. */
const ranks = { or: 1, and: 2, "not-equal": 3, equal: 3, not: 4 } as const;

function print(when: Expression, around: number): string {
  switch (when.type) {
    case "literal":
      return typeof when.value === "string" ? quote(when.value) : String(when.value);
    case "outcome":
      return when.stage === null ? "outcome" : `outcome(${quote(when.stage)})`;
    case "preferred-label":
      return "preferred_label";
    case "output":
    case "context":
    case "exists":
      return `${when.type}(${quote(when.key)})`;
    case "not":
      return `!${print(when.operand, ranks.not)}`;
    default:
      return printPair(when, around);
  }
}

function printPair(when: Extract<Expression, { readonly left: Expression }>, around: number): string {
  const rank = ranks[when.type];
  const sign = { or: "||", and: "&&", equal: "==", "not-equal": "!=" }[when.type];
  // Operators group to the left: the right side of the same rank needs its parentheses.
  const text = `${print(when.left, rank)} ${sign} ${print(when.right, rank + 1)}`;
  return rank < around ? `(${text})` : text;
}

function quote(text: string): string {
  const inner = text.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n").replace(/\t/g, "\\t").replace(/\r/g, "\\r");
  return `"${inner}"`;
}

/** null: it is more than comparisons of keys with texts. `mayJoin`: an `or` may stand here. */
function clauses(when: Expression, mayJoin: boolean): string | null {
  if (when.type === "or" && !mayJoin) return null;
  if (when.type === "and" || when.type === "or") {
    const left = clauses(when.left, when.type === "or");
    const right = when.right.type === when.type ? null : clauses(when.right, false);
    return left === null || right === null ? null : `${left} ${when.type === "and" ? "&&" : "||"} ${right}`;
  }
  if (when.type !== "equal" && when.type !== "not-equal") return null;
  const key = keyOf(when.left);
  const value = when.right.type === "literal" && typeof when.right.value === "string" ? plain(when.right.value) : null;
  return key === null || value === null ? null : `${key}${when.type === "equal" ? "=" : "!="}${value}`;
}

function keyOf(left: Expression): string | null {
  if (left.type === "outcome") return left.stage === null ? "outcome" : null;
  if (left.type === "preferred-label") return "preferred_label";
  return left.type === "context" && /^[\w.-]+$/.test(left.key) ? `context.${left.key}` : null;
}

function plain(value: string): string | null {
  if (/^[^\s=!<>&|"'()]+(?: [^\s=!<>&|"'()]+)*$/.test(value)) return value;
  if (/\b(?:outcome|output|exists|context)\s*\(/.test(value)) return null;
  if (!value.includes('"')) return `"${value}"`;
  return value.includes("'") ? null : `'${value}'`;
}
