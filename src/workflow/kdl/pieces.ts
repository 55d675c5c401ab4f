import { Problems } from "../problems.js";
import { attemptVersion2 } from "./attempt.js";
import { Converter, type Written } from "./convert.js";
import type { KdlNode } from "./node.js";
import { countAtMost } from "./places.js";
import type { Scan } from "./scan.js";

interface Piece {
  readonly from: number;
  readonly to: number;
  /** What the text lacks there to be a document of its own. */
  readonly before?: string;
  readonly after?: string;
}

/**
 * Reads a long file piece by piece, cut between the nodes of its first block: what the parser makes of a piece, which is
 * far more than we keep, is gone before the next one is read. null: the file is short, or something in it is not as it
 * should be; then it is for the reading of the whole to say what.
 */
export function readPieces(source: Written, scan: Scan): KdlNode[] | null {
  const { breaks } = scan;
  const [first, last] = [breaks[0], breaks.at(-1)];
  const isPlain = scan.unclosed === null && scan.escapes.length === 0 && !scan.isVersion1;
  if (first === undefined || last === undefined || !isPlain) return null;
  const head = readPiece({ from: 0, to: first, after: "}" }, source, scan) ?? [];
  const root = head.pop();
  if (root === undefined) return null;
  const children = [...root.children];
  for (let at = 1; at < breaks.length; at++) {
    const nodes = readPiece({ from: breaks[at - 1] ?? 0, to: breaks[at] ?? 0 }, source, scan);
    if (nodes === null) return null;
    children.push(...nodes);
  }
  const [end, ...others] = readPiece({ from: last, to: source.text.length, before: "_{" }, source, scan) ?? [];
  if (end === undefined) return null;
  children.push(...end.children);
  return [...head, { ...root, children }, ...others];
}

function readPiece({ from, to, before = "", after = "" }: Piece, source: Written, scan: Scan): KdlNode[] | null {
  const keywords = scan.keywords.slice(countAtMost(scan.keywords, from - 1), countAtMost(scan.keywords, to - 1));
  const shift = from - before.length;
  const text = `${before}${source.text.slice(from, to)}${after}`;
  const attempt = attemptVersion2(
    text,
    keywords.map((offset) => offset - shift),
  );
  if (attempt.document === null) return null;
  const problems = new Problems();
  const original = (offset: number): number => attempt.original(offset) + shift;
  const nodes = new Converter(source, { ...attempt, original }, problems).nodes(attempt.document);
  return problems.hasErrors() ? null : nodes;
}
