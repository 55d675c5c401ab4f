import type { Graph, Stage } from "../../workflow/graph.js";
import { cut } from "../columns.js";
import { plainLine } from "../plain-text.js";
import { Canvas } from "./canvas.js";
import { drawList } from "./draw-list.js";
import { groupBy } from "./group-by.js";
import { type Cell, type Layers, type Link, layOut } from "./layers.js";
import { type Lit, litWord } from "./lit.js";
import { kindWord, type Way, waysOf } from "./ways.js";

export interface DrawOptions {
  /** Of the terminal, in cells. */
  readonly width: number;
  readonly color?: boolean;
  /** How many cells a text takes; one a character where it is not given. */
  readonly cells?: (text: string) => number;
  readonly lit?: Lit;
}

/** A box and its text. */
interface Drawn {
  readonly lines: readonly string[];
  readonly width: number;
  readonly height: number;
}
interface Placed {
  readonly cell: Cell;
  readonly drawn: Drawn | null;
  x: number;
  readonly width: number;
}

const mostStages = 60;
const boxWidths = [38, 30, 24, 18];
const gap = 3;

/**
 * The workflow as boxes, top down. Each box names what leads out of it and when, so that lines need no labels; ways back
 * are only named. Where it does not fit the width it becomes a list.
 */
export function drawText(graph: Graph, options: DrawOptions): string {
  const width = options.cells ?? ((text: string) => [...text].length);
  const ways = waysOf(graph);
  if (graph.stages.length <= mostStages) {
    const shown = ways.filter(({ kind }) => kind !== "retry");
    const layers = layOut(
      graph.stages.map(({ id }) => id),
      { start: graph.start.name, ways: shown },
    );
    for (const boxWidth of boxWidths) {
      const boxes = drawBoxes(graph, { ways, layers, boxWidth, width });
      const rows = placeRows(layers, boxes, options.width);
      if (rows !== null) return paintRows(drawRows(new Canvas(width), rows, layers), graph, { rows, options });
    }
  }
  return drawList(graph, {
    ways,
    width: options.width,
    cells: width,
    ...(options.lit === undefined ? {} : { lit: options.lit }),
  });
}

interface BoxMaking {
  readonly ways: readonly Way[];
  readonly layers: Layers;
  readonly boxWidth: number;
  readonly width: (text: string) => number;
}

function drawBoxes(graph: Graph, { ways, layers, boxWidth, width }: BoxMaking): Map<string, Drawn> {
  const outgoing = groupBy(ways, ({ from }) => from);
  const boxes = new Map<string, Drawn>();
  for (const stage of graph.stages) {
    const texts = [titleOf(stage), ...labelOf(stage), ...routesOf(outgoing.get(stage.id) ?? [], layers)];
    const lines = texts.map((text) => cut(text, boxWidth - 4, width));
    const inner = Math.max(...lines.map(width));
    boxes.set(stage.id, { lines, width: inner + 4, height: lines.length + 2 });
  }
  return boxes;
}

function titleOf(stage: Stage): string {
  const word = kindWord(stage);
  return stage.id === word ? stage.id : `${plainLine(stage.id)} · ${plainLine(word)}`;
}

function labelOf({ id, label }: Stage): string[] {
  const text = label === null ? "" : plainLine(label);
  return text === "" || text.toLowerCase() === id.toLowerCase() ? [] : [text];
}

/** What leads out, where that needs a word: conditions, answers, more ways than one, ways back. */
function routesOf(ways: readonly Way[], { back }: Layers): string[] {
  const hasWords = ways.some((way) => way.text !== "" || back.has(way));
  if (!hasWords) return [];
  const hasConditions = ways.some(({ kind, text }) => kind === "transition" && text !== "");
  return ways.map((way) => {
    const isBack = back.has(way) || way.kind === "retry";
    const text = plainLine(way.text);
    const when = text !== "" ? text : hasConditions ? "else" : "";
    return `${when === "" ? "" : `${when} `}${isBack ? "↩" : "→"} ${plainLine(way.to)}`;
  });
}

/** Null: it does not fit. */
function placeRows(layers: Layers, boxes: ReadonlyMap<string, Drawn>, limit: number): Placed[][] | null {
  const above = groupBy(layers.links, ({ to }) => to.key);
  const centers = new Map<string, number>();
  const rows: Placed[][] = [];
  const widths = layers.rows.map((row) => rowWidth(row, boxes));
  const widest = Math.max(...widths);
  if (widest > limit) return null;
  for (const [index, row] of layers.rows.entries()) {
    const placed = row.map((cell): Placed => {
      const drawn = cell.stage === null ? null : (boxes.get(cell.stage) ?? null);
      return { cell, drawn, x: 0, width: drawn?.width ?? 1 };
    });
    const indent = Math.floor((widest - (widths[index] ?? 0)) / 2);
    placeRow(placed, { limit, indent, wanted: (cell) => meanCenter(above.get(cell.key), centers) });
    if ((placed[0]?.x ?? 0) < 0) return null;
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

function drawRows(
  canvas: Canvas,
  rows: readonly (readonly Placed[])[],
  layers: Layers,
): { canvas: Canvas; tops: number[] } {
  const byFrom = groupBy(layers.links, ({ from }) => from.row);
  const tops: number[] = [];
  let y = 0;
  for (const [index, row] of rows.entries()) {
    tops.push(y);
    const height = Math.max(1, ...row.map(({ drawn }) => drawn?.height ?? 1));
    const next = rows[index + 1];
    const links = byFrom.get(index) ?? [];
    const leaving = new Set(links.map(({ from }) => from.key));
    for (const item of row) drawItem(canvas, item, { y, height, isLeft: leaving.has(item.cell.key) });
    y += height;
    if (next !== undefined) y = drawLinks(canvas, { links, row, next, y });
  }
  return { canvas, tops };
}

function drawItem(
  canvas: Canvas,
  { drawn, x, width }: Placed,
  { y, height, isLeft }: { readonly y: number; readonly height: number; readonly isLeft: boolean },
): void {
  const center = x + Math.floor(width / 2);
  if (drawn === null) {
    canvas.vertical(center, y - 1, y + height);
    return;
  }
  canvas.box(x, y, drawn);
  for (const [index, line] of drawn.lines.entries()) canvas.text(x + 2, y + 1 + index, line);
  if (!isLeft) return;
  canvas.openDown(center, y + drawn.height - 1);
  if (drawn.height < height) canvas.vertical(center, y + drawn.height - 1, y + height);
}

interface Gap {
  readonly links: readonly Link[];
  readonly row: readonly Placed[];
  readonly next: readonly Placed[];
  readonly y: number;
}

/** The lines between two rows. Returns where the next row begins. */
function drawLinks(canvas: Canvas, { links, row, next, y }: Gap): number {
  const centerOf = new Map([...row, ...next].map(({ cell, x, width }) => [cell.key, x + Math.floor(width / 2)]));
  const stageCells = new Set(next.filter(({ drawn }) => drawn !== null).map(({ cell }) => cell.key));
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

const codes = { running: 36, waiting: 33, success: 32, fail: 31 } as const;

function paintRows(
  { canvas, tops }: { readonly canvas: Canvas; readonly tops: readonly number[] },
  graph: Graph,
  { rows, options }: { readonly rows: readonly (readonly Placed[])[]; readonly options: DrawOptions },
): string {
  const cells = canvas.cells();
  const { lit } = options;
  if (options.color === true && lit !== undefined) {
    for (const [index, row] of rows.entries()) {
      for (const { cell, drawn, x, width } of row) {
        const state = cell.stage === null ? null : lit(cell.stage);
        if (state === null || drawn === null) continue;
        for (let line = 0; line < drawn.height; line++) {
          const painted = cells[(tops[index] ?? 0) + line];
          if (painted === undefined) continue;
          painted[x] = `\u001b[${codes[litWord(state)]}m${painted[x] ?? " "}`;
          painted[x + width - 1] = `${painted[x + width - 1] ?? " "}\u001b[0m`;
        }
      }
    }
  }
  const title = graph.label ?? graph.name;
  const goal = graph.goal === null ? [] : [plainLine(graph.goal)];
  return `${[plainLine(title), ...goal, "", ...cells.map((row) => row.join("").trimEnd())].join("\n")}\n`;
}
