import type { TurnOutcome } from "../../core/issue/events.js";
import type { Agent, TurnFiles, TurnReading } from "../../core/ports/agent.js";
import type { AgentSettings } from "../../core/settings.js";
import { readTail } from "../../lib/follow-file.js";
import { plainText } from "../../lib/output-digest.js";
import { outcomeOfError } from "../error-words.js";
import { writeGuardFile } from "../guard-file.js";
import { missingAgent } from "../missing-agent.js";
import type { AgentPlace } from "../place.js";
import { costOf } from "../prices.js";
import { lastMessage, readStream } from "../read-stream.js";
import { callPi } from "./call.js";
import { provePiGuard } from "./prove-guard.js";
import { installHint, piStatus } from "./status.js";
import { loginAdvice, piReader } from "./stream.js";

/**
 * pi, in its JSON mode. It has no permissions of its own: our guard is an extension, and the only one, because an
 * extension of the repository could be an agent's own work and would run unguarded.
 */
export function piAgent(settings: AgentSettings, place: AgentPlace): Agent {
  const reader = () => piReader((model, tokens) => costOf(model, tokens, settings.prices));
  const read: Agent["read"] = (files, exitCode) => readPi(files, exitCode, () => readStream(reader(), files, exitCode));
  return {
    kind: "pi",
    check: async (dir) => missingAgent(settings.command, { program: "pi", installHint }, dir),
    prepare: writeGuardFile,
    command: (turn) => callPi(settings, place, turn),
    read,
    reader,
    proveGuard: (dir, asker) => provePiGuard({ settings, place, dir, asker, read }),
    status: (dir) => piStatus(place.env, settings.command, dir),
    message: (files) => lastMessage(reader(), files),
  };
}

/** What keeps pi from starting at all is on stderr, in words alone. */
async function readPi(
  files: TurnFiles,
  exitCode: number | null,
  read: () => Promise<TurnReading>,
): Promise<TurnReading> {
  const reading = await read();
  if (exitCode === null || exitCode === 0 || reading.outcome.type !== "failed") return reading;
  const { text } = await readTail(files.stderr, 16 * 1024);
  return { ...reading, outcome: startFailure(plainText(text)) ?? reading.outcome };
}

function startFailure(words: string): TurnOutcome | null {
  if (/^No session found matching/m.test(words)) return { type: "no-session" };
  const said = /^(No (?:API key found|models? available|model selected).*?)\.?$/m.exec(words)?.[1];
  if (said !== undefined) return { type: "failed", reason: `${said} (${loginAdvice})` };
  const error = words
    .split("\n")
    .map((line) => line.trim())
    .findLast((line) => line !== "");
  return error === undefined ? null : outcomeOfError(error, { at: Date.now(), login: loginAdvice });
}
