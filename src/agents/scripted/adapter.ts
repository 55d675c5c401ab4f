import type { Agent } from "../../core/ports/agent.js";
import { turnEnvironment } from "../../core/ports/turn-protocol.js";
import type { AgentSettings } from "../../core/settings.js";
import { messageOf } from "../../lib/errors.js";
import { readPlainFile } from "../../lib/files.js";
import { readLines } from "../../lib/follow-file.js";
import { readTurn } from "../read-turn.js";

/** Plays a YAML script in a process of its own, so that demos and tests take the same way as real agents. */
export function scriptedAgent(settings: AgentSettings, { program }: { readonly program: string }): Agent {
  const script = settings.script ?? "";
  return {
    kind: "scripted",
    check: () => checkScript(script),
    command: (turn) => ({
      argv: [process.execPath, program, script],
      env: turnEnvironment(turn),
      stopSignal: "SIGTERM",
    }),
    read: readTurn,
    message: (files) => readLines(files.stdout),
  };
}

async function checkScript(path: string): Promise<{ message: string; hint: string } | null> {
  if (path === "") return { message: "agent.script is not set", hint: "agent: {type: scripted, script: agent.yaml}" };
  let text: string;
  try {
    text = await readPlainFile(path);
  } catch (error) {
    return { message: `agent.script cannot be read: ${messageOf(error)}`, hint: "correct the path in agent.script" };
  }
  // Parsing YAML is slow to load and needed here alone.
  const { validateScript } = await import("./script.js");
  const [first, ...more] = validateScript(text);
  if (first === undefined) return null;
  const others = more.length === 0 ? "" : ` (and ${more.length} more)`;
  return { message: `${path}:${first.line}: ${first.message}${others}`, hint: "correct the script and try again" };
}
