import { Bug } from "../lib/errors.js";
import { packText } from "./packed-text.js";
import { applyPatch, type Patch, patchBetween } from "./state-patch.js";

/**
 * A machine's state, with what it owes, as its row has it: JSON, or `@` and what has changed since the whole of it was written to a row of its
 * own. So what a step writes does not grow with the state, nor with one that grows by a little each time, as a workflow's
 * does with its stages.
 */
export interface WholeState {
  readonly state: unknown;
  readonly length: number;
  /** How long all patches of it were together. */
  readonly patched: number;
}

/** Smaller ones are in the machine's row as they are: a patch and a row of its own would take more time than writing them. */
const patchedLength = 2560;

/** A whole that is no longer than this is packed; with a longer one that would take more than the rest of its step. */
const packedLength = 4096;

export interface WrittenState {
  readonly text: string;
  /** What `text` is a patch of; null: it is whole. */
  readonly base: WholeState | null;
  /** To be written as the whole state; null: what is there stays. */
  readonly whole: string | Uint8Array | null;
}

/** Patches become longer. Once they have cost as much as the whole does, it is written anew: neither costs much more then. */
export function writeState(state: unknown, before: WholeState | null): WrittenState {
  if (before !== null) {
    const text = `@${JSON.stringify(patchBetween(before.state, state))}`;
    const patched = before.patched + text.length;
    if (patched <= before.length) return { text, base: { ...before, patched }, whole: null };
  }
  const whole = JSON.stringify(state);
  if (whole.length <= patchedLength) return { text: whole, base: null, whole: null };
  const base = { state, length: whole.length, patched: 0 };
  return { text: "@null", base, whole: whole.length > packedLength ? whole : packText(whole) };
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
