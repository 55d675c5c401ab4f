import type { Expression } from "../expression/expression.js";
import { parseExpression } from "../expression/parse.js";
import type { Transition } from "../graph.js";
import type { Problems } from "../problems.js";
import { hasCall, parseCondition } from "./condition.js";
import type { DotEdge } from "./document.js";
import { Fields } from "./fields.js";
import { isOption } from "./gates.js";
import type { Planned } from "./plan.js";
import { placesIn, type Value } from "./value.js";

/** The edges of a file by what they mean: transitions, answers of human gates, branches of parallel stages. */
export interface EdgeReading {
  readonly transitions: readonly Transition[];
  readonly answers: ReadonlyMap<string, readonly DotEdge[]>;
  readonly branches: ReadonlyMap<string, readonly DotEdge[]>;
}

interface Context {
  readonly source: string;
  readonly edges: readonly DotEdge[];
  readonly planned: ReadonlyMap<string, Planned>;
  readonly problems: Problems;
}

export function readEdges(context: Context): EdgeReading {
  const transitions: Transition[] = [];
  const answers = new Map<string, DotEdge[]>();
  const branches = new Map<string, DotEdge[]>();
  const conditions = new Map<Value, Expression | null>();
  for (const edge of context.edges) {
    const when = conditionOf(edge, context, conditions);
    const kind = context.planned.get(edge.from.name)?.kind;
    const isPlain = edge.attributes.get("plain")?.text.trim() === "true";
    if (kind === "human" && isOption(edge, when)) keep(answers, edge, context);
    else if (kind === "parallel" && !isPlain && context.planned.get(edge.to.name)?.kind === "join")
      tellEmpty(edge, context);
    else if (kind === "parallel" && !isPlain) keep(branches, edge, context);
    else transitions.push(makeTransition(edge, when, context.problems));
  }
  return { transitions, answers, branches };
}

function tellEmpty({ from, to }: DotEdge, { problems }: Context): void {
  problems.warning({
    at: to.at,
    rule: "no-effect",
    message: `a branch from ${from.name} straight to the join ${to.name} has no stages: it changes nothing`,
  });
}

/** An answer decides by being given, a branch always runs: what else the edge says has no say. */
function keep(lists: Map<string, DotEdge[]>, edge: DotEdge, { problems }: Context): void {
  const list = lists.get(edge.from.name);
  if (list === undefined) lists.set(edge.from.name, [edge]);
  else list.push(edge);
  for (const key of ["condition", "fidelity", "thread_id", "loop_restart"]) {
    const value = edge.attributes.get(key);
    if (value === undefined || /^(?:|true|outcome\s*={1,2}\s*success|preferred_label.*)$/.test(value.text.trim()))
      continue;
    if (key === "loop_restart" && value.text.trim() === "false") continue;
    problems.warning({
      at: value.keyAt,
      rule: "no-effect",
      message: `${key} changes nothing on this edge: ${edge.from.name} decides by its answer or runs every branch`,
    });
  }
}

function makeTransition(edge: DotEdge, when: Expression | null, problems: Problems): Transition {
  const fields = new Fields((key) => edge.attributes.get(key), problems);
  return {
    from: edge.from,
    to: edge.to,
    when,
    priority: fields.integer("weight") ?? 0,
    label: fields.text("label"),
    restart: fields.flag("loop_restart") ?? false,
    fidelity: fields.fidelity("fidelity"),
    thread: fields.text("thread_id"),
    at: edge.from.at,
  };
}

/** Edges of one chain or default share the text of their condition: it is read, and complained about, once. */
function conditionOf(edge: DotEdge, context: Context, known: Map<Value, Expression | null>): Expression | null {
  const value = edge.attributes.get("condition");
  if (value === undefined) return null;
  const before = known.get(value);
  if (before !== undefined) return before;
  const when = readCondition(value, context);
  known.set(value, when);
  return when;
}

/** Of a condition that cannot be read: never to be taken for unconditional. */
const never: Expression = { type: "literal", value: false };

function readCondition(value: Value, { source, problems }: Context): Expression | null {
  const { text } = value;
  const place = placesIn(source, value);
  if (hasCall(text)) {
    const { expression, diagnostics } = parseExpression(text, place);
    for (const { line, column, rule, message, hint } of diagnostics)
      problems.error({ at: { line, column }, rule, message, ...(hint === undefined ? {} : { hint }) });
    if (expression?.type === "literal" && expression.value === true) return null;
    return expression ?? never;
  }
  const { when, problems: found } = parseCondition(text, place);
  for (const { severity, index, message, hint } of found) {
    const problem = { at: place(index), rule: "condition", message, ...(hint === undefined ? {} : { hint }) };
    if (severity === "error") problems.error(problem);
    else problems.warning(problem);
  }
  return found.some(({ severity }) => severity === "error") ? never : when;
}
