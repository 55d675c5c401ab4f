import { groupBy } from "./group-by.js";
import type { Cell, Layers, Link } from "./layers.js";

/** A box and its text. */
export interface Drawn {
  readonly lines: readonly string[];
  readonly width: number;
  readonly height: number;
}
export interface Placed {
  readonly cell: Cell;
  readonly drawn: Drawn | null;
  x: number;
  readonly width: number;
}

const gap = 3;

/** Null: it does not fit. `sizes`: the boxes, the widest first. */
export function placeRows(
  layers: Layers,
  sizes: readonly ReadonlyMap<string, Drawn>[],
  limit: number,
): Placed[][] | null {
  const above = groupBy(layers.links, ({ to }) => to.key);
  const centers = new Map<string, number>();
  const rows: Placed[][] = [];
  const fitting = layers.rows.map((row) => sizes.find((boxes) => rowWidth(row, boxes) <= limit));
  const widths = layers.rows.map((row, index) => rowWidth(row, fitting[index] ?? new Map()));
  const widest = Math.max(...widths);
  for (const [index, row] of layers.rows.entries()) {
    const boxes = fitting[index];
    if (boxes === undefined) return null;
    const placed = row.map((cell): Placed => {
      const drawn = cell.stage === null ? null : (boxes.get(cell.stage) ?? null);
      return { cell, drawn, x: 0, width: drawn?.width ?? 1 };
    });
    const indent = Math.floor((widest - (widths[index] ?? 0)) / 2);
    placeRow(placed, { limit, indent, wanted: (cell) => meanCenter(above.get(cell.key), centers) });
    for (const item of placed) centers.set(item.cell.key, item.x + Math.floor(item.width / 2));
    rows.push(placed);
  }
  return rows;
}

function rowWidth(row: readonly Cell[], boxes: ReadonlyMap<string, Drawn>): number {
  const inner = row.reduce((sum, { stage }) => sum + (stage === null ? 1 : (boxes.get(stage)?.width ?? 1)), 0);
  return inner + gap * Math.max(0, row.length - 1);
}

function meanCenter(links: readonly Link[] | undefined, centers: ReadonlyMap<string, number>): number | null {
  if (links === undefined || links.length === 0) return null;
  return Math.round(links.reduce((sum, { from }) => sum + (centers.get(from.key) ?? 0), 0) / links.length);
}

/** Each below what leads to it, as far as its neighbours and the edges of the page let it. */
function placeRow(
  row: Placed[],
  {
    limit,
    indent,
    wanted,
  }: { readonly limit: number; readonly indent: number; readonly wanted: (cell: Cell) => number | null },
): void {
  let free = 0;
  let offset = indent;
  for (const item of row) {
    const center = wanted(item.cell);
    const ideal = center === null ? offset : center - Math.floor(item.width / 2);
    item.x = Math.max(free, ideal);
    free = item.x + item.width + gap;
    offset = free;
  }
  let end = limit;
  for (const item of row.toReversed()) {
    item.x = Math.min(item.x, end - item.width);
    end = item.x - gap;
  }
}
