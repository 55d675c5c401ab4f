import { contradictoryKey } from "../../lib/contradiction.js";
import { findAnswer } from "../verdict.js";

/** What `cerberus wait --json` printed, read like every reviewer's output; a reason in its place: it is no answer. */
export function readAnswer(printed: string): { readonly answer: unknown } | { readonly reason: string } {
  const text = printed.replace(/^\uFEFF/, "");
  const found = parseWhole(text) ?? findWithin(text);
  if ("reason" in found) return found;
  const twice = contradictoryKey(found.text);
  if (twice !== null) return { reason: `the answer of cerberus wait gives "${twice}" twice, and not the same` };
  return { answer: found.answer };
}

interface Found {
  readonly answer: unknown;
  readonly text: string;
}

/** However long it is. */
function parseWhole(text: string): Found | null {
  try {
    return { answer: JSON.parse(text), text };
  } catch {
    // Something stands around it, or it is none: that is looked at next.
    return null;
  }
}

/** Warnings, progress and code fences may stand around it. */
function findWithin(text: string): Found | { readonly reason: string } {
  if (!text.includes("{")) return { reason: `the answer of cerberus wait is not JSON: ${lastLine(text)}` };
  const found = findAnswer({ text, before: null });
  const unreadable = (reason: string) => ({ reason: `the answer of cerberus wait cannot be read: ${reason}` });
  if (found.type === "protocol") return unreadable(found.reason);
  const unclear = found.whyUnclear();
  return unclear === null ? { answer: found.fields, text: found.text } : unreadable(unclear);
}

export function lastLine(text: string): string {
  const line = text.split("\n").findLast((each) => each.trim() !== "");
  return line === undefined ? "it said nothing" : line.trim().slice(0, 300);
}
