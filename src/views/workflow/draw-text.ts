import { plainLine } from "../../core/plain-text.js";
import type { Graph, Stage } from "../../workflow/graph.js";
import { cut } from "../columns.js";
import { Canvas } from "./canvas.js";
import { drawList } from "./draw-list.js";
import { groupBy } from "./group-by.js";
import { type Layers, layOut } from "./layers.js";
import { type Lit, litWord } from "./lit.js";
import { drawLinks } from "./text-links.js";
import { type Drawn, type Placed, placeRows } from "./text-rows.js";
import { kindWord, type Way, waysOf } from "./ways.js";

export interface DrawOptions {
  /** Of the terminal, in cells. */
  readonly width: number;
  readonly color?: boolean;
  /** How many cells a text takes; one a character where it is not given. */
  readonly cells?: (text: string) => number;
  readonly lit?: Lit;
}

const mostStages = 60;
/** Of a box at most, the widest that its row has room for. */
const boxWidths = [72, 60, 46, 36, 28, 22];
/** Better more rows than boxes that are cut. */
const leastWidths = [28, 22];
const rowSizes = [Number.POSITIVE_INFINITY, 4, 3, 2];

/**
 * The workflow as boxes, top down. Each box names what leads out of it and when, so that lines need no labels; ways back
 * are only named. Where it does not fit the width it becomes a list.
 */
export function drawText(graph: Graph, options: DrawOptions): string {
  const width = options.cells ?? ((text: string) => [...text].length);
  const ways = waysOf(graph);
  for (const least of graph.stages.length <= mostStages ? leastWidths : []) {
    for (const mostInRow of rowSizes) {
      const layers = layOut(
        graph.stages.map(({ id }) => id),
        { start: graph.start.name, ways: ways.filter(({ kind }) => kind !== "retry"), mostInRow },
      );
      const sizes = boxWidths
        .filter((boxWidth) => boxWidth >= least)
        .map((boxWidth) => drawBoxes(graph, { ways, layers, boxWidth, width }));
      const rows = placeRows(layers, sizes, options.width);
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
  const [id, word] = [plainLine(stage.id), plainLine(kindWord(stage))];
  return id === word ? id : `${id} · ${word}`;
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
    // The target first: it stays when the line is cut.
    return `${isBack ? "↩" : "→"} ${plainLine(way.to)}${when === "" ? "" : `  ${when}`}`;
  });
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
  const { width, cells: cellsOf = (text: string) => [...text].length } = options;
  const title = graph.label ?? graph.name;
  const head = [title, ...(graph.goal === null ? [] : [graph.goal])].map((text) =>
    cut(plainLine(text), width, cellsOf),
  );
  return `${[...head, "", ...cells.map((row) => row.join("").trimEnd())].join("\n")}\n`;
}
