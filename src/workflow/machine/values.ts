import type { Values, WorkflowState } from "./state.js";

/**
 * The values of the main token. A workflow of a thousand stages has a thousand of them and writes one at a time: the newest
 * are apart from the others, so that a step copies a few, not all.
 */
type Kept = Pick<WorkflowState, "values" | "older">;

const newest = 64;

export function writeValues({ values: known, older = [] }: Kept, more: Values): Kept {
  const values = { ...known, ...more };
  if (Object.keys(values).length <= newest) return { values };
  const rest = older.map((layer) => without(layer, values)).filter((layer) => Object.keys(layer).length > 0);
  return { values: {}, older: [...rest, values] };
}

/** What is found first counts. */
export function valueLayers({ values, older = [] }: Kept): Values[] {
  return [values, ...older.toReversed()];
}

export function valueNames(kept: Kept): string[] {
  return [...(kept.older ?? []), kept.values].flatMap((layer) => Object.keys(layer));
}

function without(layer: Values, names: Values): Values {
  const entries = Object.entries(layer);
  const others = entries.filter(([name]) => !Object.hasOwn(names, name));
  return others.length === entries.length ? layer : Object.fromEntries(others);
}
