import { plainLine } from "../../core/plain-text.js";
import type { Graph } from "../../workflow/graph.js";
import { cut } from "../columns.js";
import { groupBy } from "./group-by.js";
import { type Lit, litWord } from "./lit.js";
import { kindWord, type Way } from "./ways.js";

interface ListOptions {
  readonly ways: readonly Way[];
  readonly width: number;
  readonly cells: (text: string) => number;
  readonly lit?: Lit;
}

/** The workflow as a list: every stage, and below it where it leads. Fits any width. */
export function drawList(graph: Graph, { ways, width, cells, lit }: ListOptions): string {
  const outgoing = groupBy(ways, ({ from }) => from);
  const lines = graph.stages.flatMap((stage) => {
    const state = lit?.(stage.id) ?? null;
    const label = stage.label === null ? "" : ` "${plainLine(stage.label)}"`;
    const mark = stage.id === graph.start.name ? " (start)" : "";
    const title = `${plainLine(stage.id)} · ${plainLine(kindWord(stage))}${label}${mark}${state === null ? "" : ` [${litWord(state)}]`}`;
    const own = outgoing.get(stage.id) ?? [];
    return [title, ...own.map((way) => `  ${wayLine(way, own.length)}`)];
  });
  const goal = graph.goal === null ? [] : [plainLine(graph.goal)];
  const all = [plainLine(graph.label ?? graph.name), ...goal, "", ...lines];
  return `${all.map((line) => cut(line, Math.max(8, width), cells)).join("\n")}\n`;
}

function wayLine({ to, text, kind }: Way, count: number): string {
  const words = plainLine(text);
  const when = words !== "" ? ` when ${words}` : count > 1 && kind === "transition" ? " else" : "";
  return `${kind === "retry" ? "↩" : "→"} ${plainLine(to)}${kind === "option" ? ` on ${words}` : kind === "retry" ? ` ${words}` : when}`;
}
