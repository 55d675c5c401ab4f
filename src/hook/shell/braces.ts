import { unknown } from "./unknown.js";

const most = 256;

/** `a{b,{c,d}}e` → abe ace ade. Ranges are names. What is too much or holds other syntax is anything. */
export function expandBraces(text: string): string[] {
  if (/[$`"'\\]/.test(text) || text.length > 4096) return [unknown.any];
  const found = expand(text, 0);
  return found === null ? [unknown.any] : found;
}

function expand(text: string, depth: number): string[] | null {
  if (depth > 16) return null;
  const open = findGroup(text);
  if (open === null) return [text];
  const { start, end, parts } = open;
  const inner = parts.length === 1 ? rangeOf(parts[0] ?? "") : parts.map((part) => expand(part, depth + 1));
  const tails = expand(text.slice(end + 1), depth + 1);
  if (tails === null) return null;
  const results: string[] = [];
  for (const group of inner) {
    if (group === null) return null;
    for (const middle of group) for (const tail of tails) results.push(text.slice(0, start) + middle + tail);
    if (results.length > most) return null;
  }
  return results;
}

function rangeOf(part: string): (string[] | null)[] {
  return /^(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(\.\.-?\d+)?$/.test(part) ? [[unknown.name]] : [[`{${part}}`]];
}

function findGroup(text: string): { start: number; end: number; parts: string[] } | null {
  const start = text.indexOf("{");
  if (start < 0) return null;
  const parts: string[] = [];
  let [depth, from] = [0, start + 1];
  for (let at = start; at < text.length; at++) {
    if (text[at] === "{") depth++;
    else if (text[at] === "}" && --depth === 0) return { start, end: at, parts: [...parts, text.slice(from, at)] };
    else if (text[at] === "," && depth === 1) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  return null;
}
