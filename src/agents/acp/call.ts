import { join } from "node:path";
import type { ProgramCall, Turn, TurnFiles } from "../../core/ports/agent.js";
import { turnEnvironment } from "../../core/ports/turn-protocol.js";
import type { AgentSettings } from "../../core/settings.js";
import { writeDurably } from "../../lib/files.js";
import { guardEnvironment, writeGuardFile } from "../guard-file.js";
import { hookCommand } from "../hook-command.js";
import type { AgentPlace } from "../place.js";
import { hookEnvironment } from "./hooks.js";
import type { BridgeOptions } from "./options.js";

/** What the bridge reads: its options and the guard's policy, in the attempt's folder. */
export async function prepareBridge(settings: AgentSettings, place: AgentPlace, turn: Turn): Promise<void> {
  const options = JSON.stringify(optionsOf(settings, place, turn), null, 2);
  await Promise.all([writeGuardFile(turn), writeDurably(optionsFile(turn.files), `${options}\n`)]);
}

export function callBridge(settings: AgentSettings, place: AgentPlace, turn: Turn): ProgramCall {
  return {
    argv: [place.programs.node, place.programs.acp, optionsFile(turn.files)],
    env: {
      ...turnEnvironment(turn),
      ...guardEnvironment(turn),
      ...hookEnvironment(hookCommand(place), turn.cwd, place.env),
    },
    inherit: settings.env,
    ownTemporary: true,
    stopSignal: "SIGTERM",
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
