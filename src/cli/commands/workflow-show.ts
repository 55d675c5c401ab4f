import type { LoadedWorkflow } from "../../app.js";
import { UserError } from "../../lib/errors.js";
import type { Context } from "../context.js";
import { roomOf } from "../room.js";
import { diagnosticLine, findWorkflow, hasErrors } from "./workflow-load.js";

const formats = ["text", "dot", "svg", "mermaid"] as const;
export type ShowFormat = (typeof formats)[number];

/**
 * Draws what can be read of it; what is wrong with it goes to stderr. DOT is a workflow of its own, and the mistakes of
 * this one would not be in it: of a file with errors none is written.
 */
export async function showWorkflow(
  context: Context,
  what: string,
  { format, json }: { readonly format: ShowFormat; readonly json?: boolean },
): Promise<number> {
  if (!formats.includes(format)) throw new UserError(`--format ${format} is not one of ${formats.join(", ")}`);
  const { app, out } = context;
  const file = await findWorkflow(context, what, "refused");
  const loaded = await (await app.workflows()).load(file);
  const { graph, diagnostics } = loaded;
  for (const diagnostic of diagnostics) out.note(diagnosticLine(context, file, diagnostic));
  if (json) out.json({ file, graph, diagnostics });
  else if (graph !== null && !(format === "dot" && hasErrors(loaded))) out.text(await draw(context, graph, format));
  return hasErrors(loaded) ? 1 : 0;
}

async function draw(
  context: Context,
  graph: NonNullable<LoadedWorkflow["graph"]>,
  format: ShowFormat,
): Promise<string> {
  switch (format) {
    case "text": {
      const { drawText } = await import("../../views/workflow/draw-text.js");
      const { width: cells } = await roomOf(context.out);
      return `${drawText(graph, { width: widthOf(context), cells })}\n`;
    }
    case "dot":
      return (await import("../../views/workflow/to-dot.js")).toDot(graph);
    case "svg":
      return (await import("../../views/workflow/to-svg.js")).toSvg(graph);
    case "mermaid":
      return (await import("../../views/workflow/to-mermaid.js")).toMermaid(graph);
  }
}

/** Outside of a terminal as wide as the caller says. */
function widthOf({ out, env }: Context): number {
  const told = /^[1-9]\d{0,3}$/.test(env.COLUMNS ?? "") ? Number(env.COLUMNS) : 100;
  return out.isTerminal ? out.columns : told;
}
