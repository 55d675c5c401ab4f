import { join } from "node:path";
import type { Agent, Turn, TurnFiles } from "../../core/ports/agent.js";
import { turnEnvironment } from "../../core/ports/turn-protocol.js";
import type { AgentSettings } from "../../core/settings.js";
import { allowedEnvironment } from "../../lib/environment.js";
import { writeDurably } from "../../lib/files.js";
import { missingProgram } from "../../lib/program-files.js";
import { guardEnvironment, writeGuardFile } from "../guard-file.js";
import { hookCommand } from "../hook-command.js";
import type { AgentPlace } from "../place.js";
import { lastMessage, readStream } from "../read-stream.js";
import { hookEnvironment } from "./hooks.js";
import type { BridgeOptions } from "./options.js";
import { acpStatus, introduce } from "./status.js";
import { acpReader } from "./stream.js";

/** Any program that speaks the Agent Client Protocol, behind a program of ours that does the talking. */
export function acpAgent(settings: AgentSettings, place: AgentPlace): Agent {
  return {
    kind: "acp",
    check: async (dir) => missingProgram(settings.command[0], "agent.command", dir),
    prepare: async (turn) => {
      const options = JSON.stringify(optionsOf(settings, place, turn), null, 2);
      await Promise.all([writeGuardFile(turn), writeDurably(optionsFile(turn.files), `${options}\n`)]);
    },
    command: (turn) => ({
      argv: [place.programs.node, place.programs.acp, optionsFile(turn.files)],
      env: {
        ...turnEnvironment(turn),
        ...guardEnvironment(turn),
        ...hookEnvironment(hookCommand(place), turn.cwd, place.env),
      },
      inherit: settings.env,
      ownTemporary: true,
      stopSignal: "SIGTERM",
    }),
    read: (files, exitCode) => readStream(acpReader(), files, exitCode),
    reader: acpReader,
    proveGuard: (dir) => proveProtocol(settings, place, dir),
    status: (dir) => acpStatus(settings, allowedEnvironment(place.env, settings.env), dir),
    message: (files) => lastMessage(acpReader(), files),
  };
}

function optionsFile({ folder }: TurnFiles): string {
  return join(folder, "acp.json");
}

function optionsOf(settings: AgentSettings, place: AgentPlace, turn: Turn): BridgeOptions {
  const [program = "", ...given] = settings.command;
  return {
    command: [program, ...given],
    cwd: turn.cwd,
    session: turn.guard.readOnly ? null : turn.sessionId,
    model: turn.model,
    effort: turn.effort,
    guard: guardEnvironment(turn).RATCHET_GUARD,
    hook: hookCommand(place),
    prices: settings.prices,
  };
}

/**
 * Permissions are asked for over the wire that we speak, so it is enough that the program speaks it too, in the version
 * that we know. What a program does without asking, nobody on this side can see.
 */
async function proveProtocol(
  { command, env }: AgentSettings,
  place: AgentPlace,
  dir: string,
): Promise<{ message: string; hint: string } | null> {
  const answer = await introduce(command, allowedEnvironment(place.env, env), dir);
  return typeof answer === "string" ? { message: answer, hint: "correct agent.command; see docs/agents/acp.md" } : null;
}
