import type { Expression } from "../expression/expression.js";
import type { HumanOption, Named } from "../graph.js";
import { splitLabel } from "./accelerator.js";
import type { DotEdge } from "./document.js";

/** Is this edge one of the answers of a human gate, or what happens when the gate itself fails? */
export function isOption(edge: DotEdge, when: Expression | null): boolean {
  if (edge.attributes.get("plain")?.text.trim() === "true") return false;
  if (when === null) return true;
  const isLabelled = edge.attributes.has("label") || edge.attributes.has("key");
  return isLabelled && !isAboutFailure(when);
}

function isAboutFailure(when: Expression): boolean {
  if (when.type === "and" || when.type === "or") return isAboutFailure(when.left) || isAboutFailure(when.right);
  if (when.type === "not") return isAboutFailure(when.operand);
  if (when.type !== "equal" && when.type !== "not-equal") return false;
  const { left, right } = when;
  if (left.type !== "outcome" || right.type !== "literal") return false;
  return (right.value === "success") === (when.type === "not-equal");
}

/**
 * The answers of a human gate. The key is the one in the label, else its first character, as Attractor has it; where
 * that is taken, the label as one word, else the target's name.
 */
export function optionsOf(edges: readonly DotEdge[]): HumanOption[] {
  const taken = new Set<string>();
  const options = edges.map((edge) => readOption(edge));
  for (const { key } of options) if (key !== null) taken.add(key);
  return options.map(({ key, label, to }) => {
    const candidates = [label.slice(0, 1).toUpperCase(), slug(label), to.name];
    const chosen = key ?? candidates.find((candidate) => /\w/.test(candidate) && !taken.has(candidate)) ?? to.name;
    taken.add(chosen);
    return { key: chosen, label, to };
  });
}

function readOption(edge: DotEdge): { readonly key: string | null; readonly label: string; readonly to: Named } {
  const label = edge.attributes.get("label")?.text.trim() || edge.to.name;
  const key = edge.attributes.get("key")?.text.trim();
  if (key !== undefined && key !== "") return { key, label, to: edge.to };
  const split = splitLabel(label);
  return { key: split.key, label: split.text, to: edge.to };
}

function slug(label: string): string {
  return label
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
}

/** A default may be given by the option's key, its label or where it leads. */
export function findOption(options: readonly HumanOption[], wanted: string): HumanOption | null {
  const word = wanted.trim();
  const plain = splitLabel(word).text.toLowerCase();
  return (
    options.find(({ key }) => key === word) ??
    options.find(({ to }) => to.name === word) ??
    options.find(({ key, label }) => key.toLowerCase() === plain || label.toLowerCase() === plain) ??
    null
  );
}
