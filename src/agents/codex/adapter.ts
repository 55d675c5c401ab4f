import { statSync } from "node:fs";
import type { TurnOutcome } from "../../core/issue/events.js";
import type { Agent, TurnFiles, TurnReading } from "../../core/ports/agent.js";
import type { AgentSettings } from "../../core/settings.js";
import { readLastWords } from "../../lib/program-files.js";
import { outcomeOfError } from "../error-words.js";
import { missingAgent } from "../missing-agent.js";
import type { AgentPlace } from "../place.js";
import { lastMessage, readStream } from "../read-stream.js";
import { callCodex, prepareCodex } from "./call.js";
import { proveCodexGuard } from "./prove-guard.js";
import { codexStatus, installHint } from "./status.js";
import { codexReader, loginAdvice } from "./stream.js";
import { codexHome, readBase, readThread, usageSince } from "./thread.js";

/**
 * codex, one way: prompt in, JSON lines out, so that a turn outlives us. Everything it must know is on its command line:
 * neither its home nor the worktree is written to. Our guard is a hook, and what the guard would not be asked about is
 * switched off: shells that are typed into, agents that it sends out, and the worktree's own configuration.
 */
export function codexAgent(settings: AgentSettings, place: AgentPlace): Agent {
  const reader = (files: TurnFiles) =>
    codexReader({
      usageOf: (tokens) => usageSince(readBase(files), tokens, settings.prices),
      at: () => statSync(files.stdout, { throwIfNoEntry: false })?.mtimeMs ?? Date.now(),
    });
  const read: Agent["read"] = async (files, exitCode) => {
    const reading = await readFailure(files, exitCode, await readStream(reader(files), files, exitCode));
    return { ...reading, usage: await priceTurn(settings, place, { files, reading }) };
  };
  return {
    kind: "codex",
    check: async (dir) => missingAgent(settings.command, { program: "codex", installHint }, dir),
    prepare: (turn) => prepareCodex(place, turn),
    command: (turn) => callCodex(settings, place, turn),
    read,
    reader,
    proveGuard: (dir, asker) => proveCodexGuard({ settings, place, dir, asker, read }),
    status: (dir) => codexStatus(place.env, settings.command, dir),
    message: (files) => lastMessage(reader(files), files),
  };
}

/** What keeps it from starting at all is on stderr, in words alone. */
async function readFailure(files: TurnFiles, exitCode: number | null, reading: TurnReading): Promise<TurnReading> {
  if (reading.sessionId !== null || exitCode === null || exitCode === 0) return reading;
  const words = await readLastWords(files.stderr);
  return words === "" ? reading : { ...reading, outcome: startFailure(words) };
}

function startFailure(words: string): TurnOutcome {
  if (/no rollout found for thread|thread not found|no saved session/i.test(words)) return { type: "no-session" };
  return outcomeOfError(words, { at: Date.now(), login: loginAdvice });
}

/** A turn that was ended from outside tells no usage, and no turn tells its model: codex's record of the thread has both. */
async function priceTurn(
  { prices }: AgentSettings,
  { env }: AgentPlace,
  { files, reading }: { readonly files: TurnFiles; readonly reading: TurnReading },
): Promise<TurnReading["usage"]> {
  if (reading.sessionId === null || (reading.usage !== null && reading.usage.cost_usd !== null)) return reading.usage;
  const record = await readThread(codexHome(env), reading.sessionId);
  if (record === null) return reading.usage;
  const base = readBase(files);
  return usageSince({ ...base, model: base.model ?? record.model }, record.tokens, prices) ?? reading.usage;
}
