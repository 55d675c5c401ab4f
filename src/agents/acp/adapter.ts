import type { Agent } from "../../core/ports/agent.js";
import type { AgentSettings } from "../../core/settings.js";
import { allowedEnvironment } from "../../lib/environment.js";
import { missingProgram } from "../../lib/program-files.js";
import type { AgentPlace } from "../place.js";
import { lastMessage, readStream } from "../read-stream.js";
import { callBridge, prepareBridge } from "./call.js";
import { proveAcpGuard } from "./prove-guard.js";
import { acpStatus } from "./status.js";
import { acpReader } from "./stream.js";

/** Any program that speaks the Agent Client Protocol, behind a program of ours that does the talking. */
export function acpAgent(settings: AgentSettings, place: AgentPlace): Agent {
  const read: Agent["read"] = (files, exitCode) => readStream(acpReader(), files, exitCode);
  return {
    kind: "acp",
    check: async (dir) => missingProgram(settings.command[0], "agent.command", dir),
    prepare: (turn) => prepareBridge(settings, place, turn),
    command: (turn) => callBridge(settings, place, turn),
    read,
    reader: acpReader,
    proveGuard: (dir, asker) => proveAcpGuard({ settings, place, dir, asker, read }),
    status: (dir) => acpStatus(settings, allowedEnvironment(place.env, settings.env), dir),
    message: (files) => lastMessage(acpReader(), files),
  };
}
