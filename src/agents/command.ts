import type { Agent, ProgramCall, Turn } from "../core/ports/agent.js";
import { turnEnvironment } from "../core/ports/turn-protocol.js";
import type { AgentSettings } from "../core/settings.js";
import { readLines } from "../lib/follow-file.js";
import { missingProgram } from "../lib/program-files.js";
import { readTurn } from "./read-turn.js";

/** Any program as an agent: prompt on stdin, variables, exit code, result file. Its last message is its whole stdout. */
export function commandAgent(settings: AgentSettings): Agent {
  return {
    kind: "command",
    check: async (dir) => missingProgram(settings.command[0], "agent.command", dir),
    command: (turn) => callProgram(settings, turn),
    read: readTurn,
    message: (files) => readLines(files.stdout),
  };
}

function callProgram(settings: AgentSettings, turn: Turn): ProgramCall {
  const [program = "", ...rest] = settings.command;
  return { argv: [program, ...rest], env: turnEnvironment(turn), stopSignal: "SIGTERM" };
}
