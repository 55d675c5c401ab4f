import { join } from "node:path";
import { Bug } from "../../lib/errors.js";
import { writeDurably } from "../../lib/files.js";
import { contextOf, findingsKey, isEngineName, keyOf, reviewFindings, textOf } from "../../workflow/context.js";
import { expand, expandForShell, type Lookup, referencesIn, type ShellText } from "../../workflow/expand.js";
import type { ToolStage } from "../../workflow/graph.js";
import type { StageCommandEffect } from "../../workflow/machine/effects.js";
import type { ContextValue } from "../../workflow/machine/state.js";
import { stageFolder, type WorkflowContext } from "./context.js";
import { wholeText } from "./texts.js";

/** The values that a text asks for, long ones read from their files. */
async function lookupFor(context: WorkflowContext, text: string, token: string): Promise<Lookup> {
  const values = new Map<string, string>();
  for (const name of referencesIn(text)) {
    const value = await textOfValue(context, keyOf(name), token);
    if (value !== undefined) values.set(name, value);
  }
  return (name) => values.get(name);
}

/** The whole of a value, as the token sees it. */
export async function textOfValue(context: WorkflowContext, key: string, token: string): Promise<string | undefined> {
  const view = contextOf(context.life(), context.graph, token);
  const value = key === findingsKey ? await wholeFindings(context) : view.get(key);
  if (value === undefined) return undefined;
  const whole = "text" in value ? await wholeText(value.text) : "";
  return textOf(value, () => whole);
}

/** With every response whole, wherever it is kept. */
async function wholeFindings(context: WorkflowContext): Promise<ContextValue | undefined> {
  const list = await Promise.all(
    reviewFindings(context.life()).map(async (finding) => ({
      ...finding,
      response: await wholeText(finding.response),
    })),
  );
  return list.length === 0 ? undefined : { json: list };
}

export async function expandText(context: WorkflowContext, text: string, token: string): Promise<string> {
  return expand(text, await lookupFor(context, text, token));
}

export async function expandCommand(context: WorkflowContext, effect: StageCommandEffect): Promise<ShellText> {
  const { command } = toolOf(context, effect.stage);
  const lookup = await lookupFor(context, command, effect.token);
  const expanded = expandForShell(command, lookup, (name) => isEngineName(context.graph, name));
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(expanded.env)) {
    env[name] = await fitted(value, join(stageFolder(context, effect.folder), `${name}.txt`));
  }
  return { command: expanded.command, env };
}

/** No variable may be longer, and none holds a NUL: the whole is in a file then, and the value says where. */
const longestValueBytes = 100_000;
async function fitted(value: string, path: string): Promise<string> {
  const plain = value.replaceAll("\0", "\ufffd");
  const bytes = Buffer.from(plain, "utf8");
  if (bytes.length <= longestValueBytes) return plain;
  await writeDurably(path, plain);
  const head = bytes
    .subarray(0, longestValueBytes)
    .toString("utf8")
    .replace(/\ufffd+$/, "");
  return `${head}\n[cut here; all of it is in ${path}]`;
}

export function toolOf({ graph }: WorkflowContext, id: string): ToolStage {
  const stage = graph.stages.find((one) => one.id === id);
  if (stage?.kind !== "tool") throw new Bug(`${id} is no tool`);
  return stage;
}
