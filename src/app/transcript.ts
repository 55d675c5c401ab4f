import { basename, join } from "node:path";
import { type AgentEvent, linesFor } from "../core/ports/agent-event.js";
import type { Settings } from "../core/settings.js";
import { readJson } from "../lib/files.js";
import { readLines } from "../lib/follow-file.js";
import { filesOf } from "../run/perform/turn-files.js";
import { loadAgent, loadReviewers } from "./adapters.js";

interface Attempt {
  readonly settings: Settings;
  readonly env: NodeJS.ProcessEnv;
  readonly folder: string;
}

/** What the turn in a folder did, from its program's own stream; null: its program tells nothing of the kind. */
export async function readTranscript(attempt: Attempt): Promise<AsyncIterable<AgentEvent> | null> {
  const files = filesOf(attempt.folder);
  const reader = (await programOf(attempt))?.reader?.(files);
  if (!reader) return null;
  return (async function* () {
    let tellsRefusals = false;
    for await (const line of readLines(files.stdout, linesFor(reader))) {
      for (const event of reader.line(line)) {
        tellsRefusals ||= event.type === "permission-denied";
        yield event;
      }
    }
    if (!tellsRefusals) yield* refusalsIn(attempt.folder);
  })();
}

/** What the guard refused, as it wrote it down itself: not every program tells it in its stream. */
async function* refusalsIn(folder: string): AsyncGenerator<AgentEvent> {
  for await (const line of readLines(join(folder, "denied.jsonl"))) {
    const [, tool] = /"tool":"((?:[^"\\]|\\.)*)"/.exec(line) ?? [];
    const [, reason] = /"reason":("(?:[^"\\]|\\.)*")/.exec(line) ?? [];
    if (reason !== undefined) yield { type: "permission-denied", tool: tool ?? "", reason: String(JSON.parse(reason)) };
  }
}

async function programOf({ settings, env, folder }: Attempt) {
  const [, slot] = /^\d+-review-(.+)$/.exec(basename(folder)) ?? [];
  if (slot !== undefined && slot !== "followup") return (await loadReviewers(settings, env)).get(slot);
  const attempt = await readJson(`${folder}/attempt.json`);
  const effect = typeof attempt === "object" && attempt !== null && "effect" in attempt ? attempt.effect : null;
  const byFallback = typeof effect === "object" && effect !== null && "fallback" in effect;
  return await loadAgent(settings.agent, byFallback ? settings.agent.fallback : null, env);
}
