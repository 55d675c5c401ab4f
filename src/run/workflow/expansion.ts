import { Bug } from "../../lib/errors.js";
import { contextOf, keyOf, textOf } from "../../workflow/context.js";
import { expand, expandForShell, type Lookup, referencesIn, type ShellText } from "../../workflow/expand.js";
import type { ToolStage } from "../../workflow/graph.js";
import type { StageCommandEffect } from "../../workflow/machine/effects.js";
import type { WorkflowContext } from "./context.js";
import { wholeText } from "./texts.js";

/** The values that a text asks for, long ones read from their files. */
async function lookupFor(context: WorkflowContext, text: string, token: string): Promise<Lookup> {
  const view = contextOf(context.life(), context.graph, token);
  const values = new Map<string, string>();
  for (const name of referencesIn(text)) {
    const value = view.get(keyOf(name));
    if (value === undefined) continue;
    const whole = "text" in value ? await wholeText(value.text) : "";
    values.set(
      name,
      textOf(value, () => whole),
    );
  }
  return (name) => values.get(name);
}

export async function expandText(context: WorkflowContext, text: string, token: string): Promise<string> {
  return expand(text, await lookupFor(context, text, token));
}

export async function expandCommand(context: WorkflowContext, effect: StageCommandEffect): Promise<ShellText> {
  const { command } = toolOf(context, effect.stage);
  return expandForShell(command, await lookupFor(context, command, effect.token));
}

export function toolOf({ graph }: WorkflowContext, id: string): ToolStage {
  const stage = graph.stages.find((one) => one.id === id);
  if (stage?.kind !== "tool") throw new Bug(`${id} is no tool`);
  return stage;
}
