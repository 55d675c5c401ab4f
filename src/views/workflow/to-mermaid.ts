import { plainLine } from "../../core/plain-text.js";
import type { Graph, Stage } from "../../workflow/graph.js";
import { type Lit, litWord } from "./lit.js";
import { kindWord, waysOf } from "./ways.js";

const brackets: Readonly<Record<Stage["kind"], readonly [string, string]>> = {
  start: ["([", "])"],
  exit: ["([", "])"],
  llm: ["[", "]"],
  human: ["{{", "}}"],
  decision: ["{", "}"],
  parallel: ["[/", "\\]"],
  join: ["[\\", "/]"],
  tool: ["[[", "]]"],
  workflow: ["[(", ")]"],
  "workspace.create": ["[/", "/]"],
  "workspace.merge": ["[/", "/]"],
  "workspace.cleanup": ["[/", "/]"],
  unknown: ["[", "]"],
};

/** The workflow as a Mermaid flowchart. Names are numbers of ours, texts are entities: nothing in a file can break it. */
export function toMermaid(graph: Graph, options: { readonly lit?: Lit } = {}): string {
  const names = new Map(graph.stages.map(({ id }, index) => [id, `s${index}`]));
  const lines = ["flowchart TD"];
  for (const stage of graph.stages) {
    const [open, close] = brackets[stage.kind];
    const state = options.lit?.(stage.id);
    const light = state === undefined || state === null ? "" : `:::${litWord(state)}`;
    lines.push(`  ${names.get(stage.id)}${open}"${entities(titleOf(stage))}"${close}${light}`);
  }
  for (const { from, to, kind, text } of waysOf(graph)) {
    const arrow = kind === "retry" ? "-.->" : "-->";
    const label = text === "" ? "" : `|"${entities(text)}"|`;
    lines.push(`  ${names.get(from)} ${arrow}${label} ${names.get(to)}`);
  }
  if (options.lit !== undefined)
    lines.push(
      "  classDef running stroke:#0a84ff,stroke-width:3px",
      "  classDef waiting stroke:#c98700,stroke-width:3px",
      "  classDef success stroke:#2e9e44,stroke-width:3px",
      "  classDef fail stroke:#d1352b,stroke-width:3px",
    );
  return `${lines.join("\n")}\n`;
}

function titleOf(stage: Stage): string {
  const name = stage.label === null ? stage.id : `${stage.id}: ${stage.label}`;
  return stage.kind === "start" || stage.kind === "exit" ? name : `${name} (${kindWord(stage)})`;
}

function entities(text: string): string {
  const line = plainLine(text).slice(0, 200);
  return line.replace(/[^\p{L}\p{N} .,:/_()=-]/gu, (character) => `#${character.codePointAt(0)};`);
}
