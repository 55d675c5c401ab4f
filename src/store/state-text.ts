import { Bug } from "../lib/errors.js";
import { applyPatch, type Patch, patchBetween } from "./state-patch.js";

/**
 * A machine's state as a row of the journal has it: JSON, or `@`, the row of an earlier state and what has changed since.
 * That earlier row keeps its state for as long. So what a step writes does not grow with a state that grows by a little
 * each time, as a workflow's does with its stages.
 */
export interface WholeState {
  /** The id of its step. */
  readonly id: number;
  readonly state: unknown;
  readonly length: number;
}

/** Smaller ones are written whole. */
const patchedLength = 8192;
/** A patch that has become longer than this, or this part of the whole, is worth no more. */
const longestPatch = 2048;
const longestPart = 1 / 8;

export interface WrittenState {
  readonly text: string;
  /** It is a patch of the state given. */
  readonly isPatch: boolean;
}

export function writeState(state: unknown, base: WholeState | null): WrittenState {
  if (base !== null && base.length > patchedLength) {
    const patch = patchBetween(base.state, state);
    const text = `@${base.id} ${JSON.stringify(patch)}`;
    if (text.length <= Math.max(longestPatch, base.length * longestPart)) return { text, isPatch: true };
  }
  return { text: JSON.stringify(state), isPatch: false };
}

/** The row that a state is a patch of; null: it is whole. */
export function baseOf(text: string): number | null {
  return text.startsWith("@") ? Number(text.slice(1, text.indexOf(" "))) : null;
}

/** `base`: the state of the row that it names. */
export function readState(text: string, base: unknown): unknown {
  if (baseOf(text) === null) return JSON.parse(text);
  if (base === undefined) throw new Bug("the state that another was made from is missing");
  const patch = JSON.parse(text.slice(text.indexOf(" ") + 1)) as Patch | null;
  return patch === null ? base : applyPatch(base, patch);
}
