import { statSync } from "node:fs";
import type { Agent, TurnFiles, TurnReading } from "../../core/ports/agent.js";
import type { AgentSettings } from "../../core/settings.js";
import { readLastWords } from "../../lib/program-files.js";
import { outcomeOfError } from "../error-words.js";
import { missingAgent } from "../missing-agent.js";
import type { AgentPlace } from "../place.js";
import { costOf } from "../prices.js";
import { lastMessage, readStream } from "../read-stream.js";
import { callClaude, prepareClaude } from "./call.js";
import { proveClaudeGuard } from "./prove-guard.js";
import { claudeStatus, installHint } from "./status.js";
import { claudeReader, loginAdvice } from "./stream.js";

/**
 * Claude Code, one way: prompt in, stream out, so that a turn outlives us. It asks nobody, so our guard is all there is
 * between the model and the machine, and nothing that the agent can write may switch it off: settings, hooks and MCP
 * servers of the worktree are not read. Its CLAUDE.md is.
 */
export function claudeAgent(settings: AgentSettings, place: AgentPlace): Agent {
  const reader = (files: TurnFiles) =>
    claudeReader({
      priceOf: (model, tokens) => costOf(model, tokens, settings.prices),
      at: () => statSync(files.stdout, { throwIfNoEntry: false })?.mtimeMs ?? Date.now(),
    });
  const read: Agent["read"] = (files, exitCode) =>
    readClaude(files, exitCode, () => readStream(reader(files), files, exitCode));
  return {
    kind: "claude",
    check: async (dir) => missingAgent(settings.command, { program: "claude", installHint }, dir),
    prepare: (turn) => prepareClaude(place, turn),
    command: (turn) => callClaude(settings, place, turn),
    read,
    reader,
    proveGuard: (dir, asker) => proveClaudeGuard({ settings, place, dir, asker, read }),
    status: (dir) => claudeStatus(place.env, settings.command, dir),
    message: (files) => lastMessage(reader(files), files),
  };
}

/** What keeps it from starting at all is on stderr, in words alone. */
async function readClaude(
  files: TurnFiles,
  exitCode: number | null,
  read: () => Promise<TurnReading>,
): Promise<TurnReading> {
  const reading = await read();
  if (reading.sessionId !== null || exitCode === null || exitCode === 0 || reading.outcome.type !== "failed")
    return reading;
  const words = await readLastWords(files.stderr);
  return words === ""
    ? reading
    : { ...reading, outcome: outcomeOfError(words, { at: Date.now(), login: loginAdvice }) };
}
