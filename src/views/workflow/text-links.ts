import type { Canvas } from "./canvas.js";
import { groupBy } from "./group-by.js";
import type { Cell, Link } from "./layers.js";

/** Something that stands in a row. */
export interface InRow {
  readonly cell: Cell;
  readonly x: number;
  readonly width: number;
}

export interface Gap {
  readonly links: readonly Link[];
  readonly row: readonly InRow[];
  readonly next: readonly InRow[];
  readonly y: number;
}

/** The lines between two rows. Returns where the next row begins. */
export function drawLinks(canvas: Canvas, { links, row, next, y }: Gap): number {
  const centerOf = new Map([...row, ...next].map(({ cell, x, width }) => [cell.key, x + Math.floor(width / 2)]));
  straighten(centerOf, next, links);
  const stageCells = new Set(next.filter(({ cell }) => cell.stage !== null).map(({ cell }) => cell.key));
  const tracks = assignTracks(links, centerOf);
  const end = y + tracks.count;
  for (const link of links) {
    const { from, to } = link;
    const [start, target] = [centerOf.get(from.key) ?? 0, centerOf.get(to.key) ?? 0];
    const track = y + (tracks.of.get(link) ?? 0);
    canvas.vertical(start, y - 1, start === target ? end : track);
    if (start !== target) {
      canvas.horizontal(track, start, target);
      canvas.vertical(target, track, end);
    }
  }
  for (const { to } of links) if (stageCells.has(to.key)) canvas.text(centerOf.get(to.key) ?? 0, end, "▼");
  return end + 1;
}

/** Where only one line comes in, it comes straight down if the box is wide enough. */
function straighten(centerOf: Map<string, number>, next: readonly InRow[], links: readonly Link[]): void {
  const entering = groupBy(links, ({ to }) => to.key);
  for (const { cell, x, width } of next) {
    const [only, second] = entering.get(cell.key) ?? [];
    if (cell.stage === null || only === undefined || second !== undefined) continue;
    const above = centerOf.get(only.from.key);
    if (above !== undefined && above > x && above < x + width - 1) centerOf.set(cell.key, above);
  }
}

interface Span {
  readonly links: readonly Link[];
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  readonly low: number;
  readonly high: number;
}

/** Lines out of one cell share a track, and so do lines that all lead to one cell only; others keep clear of each other. */
function assignTracks(links: readonly Link[], centerOf: ReadonlyMap<string, number>) {
  const outgoing = groupBy(links, ({ from }) => from.key);
  const shared = groupBy(links, ({ from, to }) =>
    outgoing.get(from.key)?.length === 1 ? `to ${to.key}` : `from ${from.key}`,
  );
  const bent = [...shared.values()].map((group) => spanOf(group, centerOf)).filter(({ low, high }) => low < high);
  // Whoever starts above another's target must have turned aside before that one's line comes down.
  const isBefore = (a: Span, b: Span) => a.starts.some((start) => b.ends.includes(start) && !a.ends.includes(start));
  bent.sort((a, b) => Number(isBefore(b, a)) - Number(isBefore(a, b)) || a.low - b.low);
  const of = new Map<Link, number>();
  const tracks = new Map<Span, number>();
  const used: Span[][] = [];
  for (const span of bent) {
    const before = bent.filter((other) => other !== span && isBefore(other, span));
    let track = Math.max(0, ...before.map((other) => (tracks.get(other) ?? -1) + 1));
    while (used[track]?.some(({ low, high }) => span.low <= high + 1 && span.high >= low - 1)) track++;
    while (used.length <= track) used.push([]);
    used[track]?.push(span);
    tracks.set(span, track);
    for (const link of span.links) of.set(link, track);
  }
  return { of, count: used.length };
}

function spanOf(links: readonly Link[], centerOf: ReadonlyMap<string, number>): Span {
  const starts = links.map(({ from }) => centerOf.get(from.key) ?? 0);
  const ends = links.map(({ to }) => centerOf.get(to.key) ?? 0);
  const all = [...starts, ...ends];
  return { links, starts, ends, low: Math.min(...all), high: Math.max(...all) };
}
