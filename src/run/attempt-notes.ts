import { join } from "node:path";
import { readJson } from "../lib/files.js";
import { readLines } from "../lib/follow-file.js";

/** What is written down in an attempt's folder besides the program's own output. */
export interface Refusal {
  readonly tool: string;
  readonly reason: string;
}

export function refusalsFile(folder: string): string {
  return join(folder, "denied.jsonl");
}

/** What the guard refused, oldest first. The file lies where a program could write: a line that is none is passed over. */
export async function* readRefusals(folder: string): AsyncGenerator<Refusal> {
  for await (const line of readLines(refusalsFile(folder))) {
    const { tool, reason } = fieldsIn(line);
    if (typeof reason === "string") yield { tool: typeof tool === "string" ? tool : "", reason };
  }
}

function fieldsIn(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

/** Whether agent.fallback did the turn in that folder. */
export async function wasByFallback(folder: string): Promise<boolean> {
  const attempt = await readJson(join(folder, "attempt.json"));
  const effect = typeof attempt === "object" && attempt !== null && "effect" in attempt ? attempt.effect : null;
  return typeof effect === "object" && effect !== null && "fallback" in effect;
}
