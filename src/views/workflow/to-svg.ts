import { plainLine } from "../../core/plain-text.js";
import type { Graph, Stage } from "../../workflow/graph.js";
import { groupBy } from "./group-by.js";
import { type Cell, type Layers, layOut } from "./layers.js";
import { type Lit, litWord } from "./lit.js";
import { kindWord, type Way, waysOf } from "./ways.js";

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const boxHeight = 46;
const rowGap = 64;
const columnGap = 28;
const margin = 24;
const passing = 14;
/** Of a letter, on the safe side: nothing here can measure text. */
const letter = 7.4;
const longestTitle = 36;
const mostThrough = 300;

/** The workflow as a picture of its own: no font, script or program from elsewhere, readable on light and dark. */
export function toSvg(graph: Graph, options: { readonly lit?: Lit } = {}): string {
  const ways = waysOf(graph);
  const layers = layOut(
    graph.stages.map(({ id }) => id),
    {
      start: graph.start.name,
      ways: ways.filter(({ kind }) => kind !== "retry"),
      isDirect: graph.stages.length > mostThrough,
    },
  );
  const stages = new Map(graph.stages.map((stage) => [stage.id, stage]));
  const boxes = placeBoxes(layers, stages);
  const all = [...boxes.values()];
  const right = Math.max(0, ...all.map(({ x, width }) => x + width));
  const back = ways.filter((way) => way.kind === "retry" || layers.back.has(way));
  const beside = back.length === 0 ? 0 : 40 + Math.min(back.length, 12) * 12 + 160;
  const widestLabel = Math.max(
    0,
    ...layers.links.map(({ from, ways: some }) => widthOfLabel(from.stage === null ? "" : labelOf(some))),
  );
  const width = Math.max(right + margin + beside, widestLabel + 2 * margin);
  const height = Math.max(0, ...all.map(({ y }) => y + boxHeight)) + margin;
  const title = plainLine(graph.label ?? graph.name);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${round(width)} ${round(height)}" width="${round(width)}" height="${round(height)}" role="img" font-family="system-ui, sans-serif" font-size="13">`,
    `<title>${escapeXml(title)}</title>`,
    style,
    '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path class="head" d="M0 0 8 4 0 8z"/></marker></defs>',
    `<rect class="paper" width="${round(width)}" height="${round(height)}"/>`,
    ...drawForward(layers, boxes, width),
    ...drawBack(back, { boxes, right }),
    ...graph.stages.map((stage) => drawStage(stage, boxes.get(stageKey(stage.id)), options.lit?.(stage.id) ?? null)),
    "</svg>",
    "",
  ].join("\n");
}

interface Colours {
  readonly ink: string;
  readonly soft: string;
  readonly paper: string;
  readonly fill: string;
  readonly line: string;
}
const light: Colours = { ink: "#1c2330", soft: "#5b6472", paper: "#ffffff", fill: "#f3f5f8", line: "#8a94a3" };
const dark: Colours = { ink: "#e6eaf0", soft: "#9aa5b5", paper: "#14181f", fill: "#1f2630", line: "#66707f" };

/** Colours are written out: viewers other than browsers know neither variables nor media, and show the light ones. */
function rules({ ink, soft, paper, fill, line }: Colours): string {
  return `.paper{fill:${paper}} text{fill:${ink}} .soft{fill:${soft}} .box{fill:${fill};stroke:${line}} .way{stroke:${line}} .head{fill:${line}} .halo{stroke:${paper}}`;
}
const style = `<style>
${rules(light)}
.soft{font-size:11px} .box{stroke-width:1.2} .way{fill:none;stroke-width:1.2} .back{stroke-dasharray:5 4} .halo{paint-order:stroke;stroke-width:4px}
@media (prefers-color-scheme: dark) { ${rules(dark)} }
.running .box{stroke:#0a84ff;stroke-width:3} .waiting .box{stroke:#c98700;stroke-width:3}
.success .box{stroke:#2e9e44;stroke-width:2.4} .fail .box{stroke:#d1352b;stroke-width:2.4}
</style>`;

function stageKey(id: string): string {
  return `at ${id}`;
}

/** Each row centred under what leads to it, as far as its neighbours let it. */
function placeBoxes(layers: Layers, stages: ReadonlyMap<string, Stage>): Map<string, Box> {
  const above = groupBy(layers.links, ({ to }) => to.key);
  const widthOf = ({ stage: id }: Cell): number => {
    const stage = id === null ? undefined : stages.get(id);
    return stage === undefined
      ? passing
      : Math.max(90, Math.max(...linesOf(stage).map((line) => line.length)) * letter + 28);
  };
  const rows = layers.rows.map((row) => ({
    row,
    width: row.reduce((sum, cell) => sum + widthOf(cell) + columnGap, -columnGap),
  }));
  const widest = Math.max(0, ...rows.map(({ width }) => width));
  const boxes = new Map<string, Box>();
  for (const [index, { row, width }] of rows.entries()) {
    let free = margin;
    let next = margin + (widest - width) / 2;
    for (const cell of row) {
      const own = widthOf(cell);
      const parents = (above.get(cell.key) ?? []).flatMap(({ from }) => boxes.get(from.key) ?? []);
      const center = parents.reduce((sum, box) => sum + box.x + box.width / 2, 0) / parents.length;
      const x = Math.max(free, parents.length === 0 ? next : center - own / 2);
      boxes.set(cell.key, { x, y: margin + index * (boxHeight + rowGap), width: own, height: boxHeight });
      free = x + own + columnGap;
      next = free;
    }
  }
  return boxes;
}

function linesOf(stage: Stage): string[] {
  const label = stage.label === null ? "" : plainLine(stage.label);
  const title = shorten(plainLine(stage.id), longestTitle);
  const word = plainLine(kindWord(stage));
  const second = label === "" || label.toLowerCase() === stage.id.toLowerCase() ? word : `${word} · ${label}`;
  return [title, shorten(second, longestTitle)];
}

function drawStage(stage: Stage, box: Box | undefined, state: ReturnType<Lit>): string {
  if (box === undefined) return "";
  const [title = "", second = ""] = linesOf(stage);
  const center = round(box.x + box.width / 2);
  const lit = state === null ? "" : ` class="${litWord(state)}"`;
  return [
    `<g${lit} data-stage="${escapeXml(stage.id)}"><title>${escapeXml(tipOf(stage))}</title>`,
    outline(stage, box),
    `<text x="${center}" y="${round(box.y + 20)}" text-anchor="middle">${escapeXml(title)}</text>`,
    `<text x="${center}" y="${round(box.y + 36)}" text-anchor="middle" class="soft">${escapeXml(second)}</text></g>`,
  ].join("");
}

function tipOf(stage: Stage): string {
  if (stage.kind === "tool") return shorten(plainLine(stage.command), 300);
  if (stage.kind === "llm" && stage.prompt.type === "text") return shorten(plainLine(stage.prompt.text), 300);
  return stage.kind === "human" ? shorten(plainLine(stage.prompt), 300) : plainLine(stage.label ?? stage.id);
}

function outline(stage: Stage, { x, y, width, height }: Box): string {
  const cut = 12;
  if (stage.kind === "decision" || stage.kind === "human") {
    const points = [
      [x + cut, y],
      [x + width - cut, y],
      [x + width, y + height / 2],
      [x + width - cut, y + height],
      [x + cut, y + height],
      [x, y + height / 2],
    ];
    return `<polygon class="box" points="${points.map((point) => point.map(round).join(",")).join(" ")}"/>`;
  }
  const radius = stage.kind === "start" || stage.kind === "exit" ? height / 2 : stage.kind === "tool" ? 0 : 7;
  return `<rect class="box" x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" rx="${radius}"/>`;
}

/** Label and arrow belong to the last piece of a way, the one that enters its stage. */
function drawForward({ links }: Layers, boxes: ReadonlyMap<string, Box>, room: number): string[] {
  const paths: string[] = [];
  const labels: string[] = [];
  for (const { from, to, ways } of links) {
    const [source, target] = [boxes.get(from.key), boxes.get(to.key)];
    if (source === undefined || target === undefined) continue;
    const [x1, y1] = [source.x + source.width / 2, source.y + source.height];
    const [x2, y2] = [target.x + target.width / 2, target.y];
    const bend = (y2 - y1) / 2;
    const head = to.stage === null ? "" : ' marker-end="url(#arrow)"';
    const curve = `M${round(x1)} ${round(y1)}C${round(x1)} ${round(y1 + bend)} ${round(x2)} ${round(y2 - bend)} ${round(x2)} ${round(y2)}`;
    const through = to.stage === null ? `V${round(y2 + target.height)}` : "";
    paths.push(`<path class="way" d="${curve}${through}"${head}/>`);
    const text = from.stage === null ? "" : labelOf(ways);
    if (text === "") continue;
    // Where the label is wider than its place it moves, so that all of it can be read.
    const half = widthOfLabel(text) / 2 + 4;
    const x = Math.min(Math.max(x1 + (x2 - x1) * 0.5, half), Math.max(half, room - half));
    labels.push(labelAt(x, y1 + bend + 4, { text, anchor: "middle" }));
  }
  return [...paths, ...labels];
}

/** Ways back leave to the right, go up at the side of everything and come in from the right. */
function drawBack(
  ways: readonly Way[],
  { boxes, right }: { readonly boxes: ReadonlyMap<string, Box>; readonly right: number },
): string[] {
  return ways.map((way, index) => {
    const [source, target] = [boxes.get(stageKey(way.from)), boxes.get(stageKey(way.to))];
    if (source === undefined || target === undefined) return "";
    const side = right + 24 + (index % 12) * 12;
    const [x1, y1] = [source.x + source.width, source.y + source.height / 2 + 6];
    const [x2, y2] = [target.x + target.width, target.y + target.height / 2 - 6];
    const path = `<path class="way back" d="M${round(x1)} ${round(y1)}H${round(side)}V${round(y2)}H${round(x2)}" marker-end="url(#arrow)"/>`;
    const text = plainLine(way.text);
    return text === "" ? path : path + labelAt(x1 + 6, y1 - 4, { text, anchor: "start" });
  });
}

function labelAt(x: number, y: number, { text, anchor }: { readonly text: string; readonly anchor: string }): string {
  return `<text class="soft halo" x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${escapeXml(shorten(text, longestLabel))}</text>`;
}

const longestLabel = 60;
const smallLetter = 6.4;

function labelOf(ways: readonly Way[]): string {
  return ways
    .map(({ text }) => plainLine(text))
    .filter((text) => text !== "")
    .join(" | ");
}
function widthOfLabel(text: string): number {
  return Math.min([...text].length, longestLabel) * smallLetter;
}

function shorten(text: string, most: number): string {
  const letters = [...text];
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join("")}…`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

const entities: Readonly<Record<string, string>> = { "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;" };

/** What XML cannot carry at all becomes a mark. */
function escapeXml(text: string): string {
  return text
    .replace(/[<>&"]/g, (sign) => entities[sign] ?? sign)
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd");
}
