import type { Expression } from "../../workflow/expression/expression.js";
import type { Graph, Transition } from "../../workflow/graph.js";

/**
 * The weight that each transition has in DOT. Of transitions of equal weight DOT takes the one whose target comes first by
 * name, KDL the one that is first in the file: where both could be taken, a higher weight keeps the order of the file.
 */
export function dotWeights(graph: Graph): Map<Transition, number> {
  const weights = new Map(graph.transitions.map((way) => [way, way.priority]));
  if (graph.format === "dot") return weights;
  const groups = new Map<string, Transition[]>();
  for (const way of graph.transitions) {
    // A condition that holds comes before whatever has none: only equals compete.
    const key = JSON.stringify([way.from.name, isPlain(way)]);
    const known = groups.get(key);
    if (known) known.push(way);
    else groups.set(key, [way]);
  }
  for (const ways of groups.values()) {
    const sorted = [...ways].sort((a, b) => b.priority - a.priority);
    const places = new Map(ways.map((way, place) => [way, place]));
    raise(sorted, weights, (a, b) => byName(a, b) || (places.get(a) ?? 0) - (places.get(b) ?? 0));
  }
  return readable(weights);
}

/** DOT reads no more than nine digits; which of them is higher is all that counts. */
function readable(weights: Map<Transition, number>): Map<Transition, number> {
  const values = [...new Set(weights.values())].sort((a, b) => a - b);
  if (values.every((value) => Math.abs(value) <= 999_999_999)) return weights;
  const ranks = new Map(values.map((value, rank) => [value, rank]));
  return new Map([...weights].map(([way, weight]) => [way, ranks.get(weight) ?? 0]));
}

/** More than this are not compared with each other: then each gets its weight. */
const mostCompared = 200;

/** `ways`: the first to be taken first. From the last one up, each as high as those demand that it must come before. */
function raise(
  ways: readonly Transition[],
  weights: Map<Transition, number>,
  compare: (a: Transition, b: Transition) => number,
): void {
  const claims = ways.length > mostCompared ? null : ways.map(({ when }) => claimsOf(when));
  for (let index = ways.length - 2; index >= 0; index--) {
    const way = ways[index];
    if (way === undefined) continue;
    const rivals = claims === null ? ways.slice(index + 1, index + 2) : later(ways, claims, index);
    const needed = rivals.map((rival) => (weights.get(rival) ?? 0) + (compare(way, rival) < 0 ? 0 : 1));
    weights.set(way, Math.max(way.priority, ...needed));
  }
}

function later(ways: readonly Transition[], claims: readonly Claims[], index: number): Transition[] {
  const own = claims[index];
  return ways.filter((_way, other) => other > index && !exclude(own, claims[other]));
}

/** What must be so for a condition to hold: which value something has. null: it never holds. */
type Claims = ReadonlyMap<string, string> | null;

function claimsOf(when: Expression | null): Claims {
  if (when === null) return new Map();
  if (when.type === "literal") return when.value === true ? new Map() : null;
  if (when.type === "and") return together(claimsOf(when.left), claimsOf(when.right));
  if (when.type !== "equal" || when.right.type !== "literal") return new Map();
  const subject = subjectOf(when.left);
  return subject === null ? new Map() : new Map([[subject, textOf(when.right.value)]]);
}

function together(left: Claims, right: Claims): Claims {
  return exclude(left, right) ? null : new Map([...(left ?? []), ...(right ?? [])]);
}

function exclude(one: Claims | undefined, other: Claims | undefined): boolean {
  if (!one || !other) return true;
  for (const [subject, value] of one) if ((other.get(subject) ?? value) !== value) return true;
  return false;
}

function subjectOf(left: Expression): string | null {
  if (left.type === "outcome") return `outcome ${left.stage ?? ""}`;
  if (left.type === "preferred-label") return left.type;
  // Two words for the same value.
  return left.type === "context" || left.type === "output" ? `value ${left.key}` : null;
}

/** As a text is compared with a number or a truth: "3.0" is 3. */
function textOf(value: string | number | boolean): string {
  const word = String(value).trim();
  return word !== "" && Number.isFinite(Number(word)) ? String(Number(word)) : word;
}

function isPlain({ when }: Transition): boolean {
  return when === null || (when.type === "literal" && when.value === true);
}

function byName(a: Transition, b: Transition): number {
  return Number(a.to.name > b.to.name) - Number(a.to.name < b.to.name);
}
