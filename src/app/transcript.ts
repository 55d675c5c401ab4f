import { basename } from "node:path";
import { type AgentEvent, linesFor } from "../core/ports/agent-event.js";
import type { Settings } from "../core/settings.js";
import { readLines } from "../lib/follow-file.js";
import { readRefusals, wasByFallback } from "../run/attempt-notes.js";
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
    // The guard writes down what it refused; not every program tells it in its stream.
    if (tellsRefusals) return;
    for await (const refusal of readRefusals(attempt.folder)) yield { type: "permission-denied", ...refusal };
  })();
}

async function programOf({ settings, env, folder }: Attempt) {
  const [, slot] = /^\d+-review-(.+)$/.exec(basename(folder)) ?? [];
  if (slot !== undefined && slot !== "followup") return (await loadReviewers(settings, env)).get(slot);
  return await loadAgent(settings.agent, (await wasByFallback(folder)) ? settings.agent.fallback : null, env);
}
