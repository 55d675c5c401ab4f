import { Bug } from "../lib/errors.js";
import { applyPatch, type Patch, patchBetween } from "./state-patch.js";

/**
 * A machine's state as its row has it: JSON, or `@` and what has changed since the whole of it was written to a row of its
 * own. So what a step writes does not grow with the state, nor with one that grows by a little each time, as a workflow's
 * does with its stages.
 */
export interface WholeState {
  readonly state: unknown;
  readonly length: number;
  /** How long all patches of it were together. */
  readonly patched: number;
}

/** What is in the machine's row is written with every step. Longer than this it does not fit a page, beside what is owed. */
const longestInRow = 640;
/** What it costs to take such a page and to give it back, in bytes. */
const furtherPage = 2048;

export interface WrittenState {
  readonly text: string;
  /** What `text` is a patch of; null: it is whole. */
  readonly base: WholeState | null;
  /** To be written as the whole state; null: what is there stays. */
  readonly whole: string | null;
}

/** Patches become longer. Once they have cost as much as the whole does, it is written anew: neither costs much more then. */
export function writeState(state: unknown, base: WholeState | null): WrittenState {
  if (base !== null) {
    const text = `@${JSON.stringify(patchBetween(base.state, state))}`;
    const patched = base.patched + text.length + (text.length > longestInRow ? furtherPage : 0);
    if (patched <= base.length) return { text, base: { ...base, patched }, whole: null };
  }
  const whole = JSON.stringify(state);
  if (whole.length <= longestInRow) return { text: whole, base: null, whole: null };
  return { text: "@null", base: { state, length: whole.length, patched: 0 }, whole };
}

/** `whole`: what the machine's other row has, where there is one. */
export function readState(
  text: string,
  whole: string | null,
): { readonly state: unknown; readonly base: WholeState | null } {
  if (!text.startsWith("@")) return { state: JSON.parse(text), base: null };
  if (whole === null) throw new Bug("the state that another was made from is missing");
  const base = { state: JSON.parse(whole) as unknown, length: whole.length, patched: text.length };
  const patch = JSON.parse(text.slice(1)) as Patch | null;
  return { state: patch === null ? base.state : applyPatch(base.state, patch), base };
}
