import type { ProgramCall, Turn } from "../../core/ports/agent.js";
import { turnEnvironment } from "../../core/ports/turn-protocol.js";
import type { AgentSettings } from "../../core/settings.js";
import { guardEnvironment } from "../guard-file.js";
import type { AgentPlace } from "../place.js";

/** One turn of pi, with our guard as its only extension. */
export function callPi(settings: AgentSettings, place: AgentPlace, turn: Turn): ProgramCall {
  const [program = "pi", ...given] = settings.command;
  const only = turn.guard.readOnly ? ["--no-session", "--tools", "read,grep,find,ls,bash"] : [];
  const session = turn.guard.readOnly ? null : turn.sessionId;
  return {
    argv: [
      ...([program, ...given, "-p", "--mode", "json", "--no-extensions", "-e", place.programs.piGuard] as const),
      ...only,
      ...option("--model", turn.model),
      ...option("--thinking", turn.effort),
      ...option("--session", session),
    ],
    // Offline is about pi's own start: no look for updates, no downloads. The model is asked all the same.
    env: { ...turnEnvironment(turn), ...guardEnvironment(turn), PI_OFFLINE: "1", PI_SKIP_VERSION_CHECK: "1" },
    inherit: settings.env,
    ownTemporary: true,
    stopSignal: "SIGTERM",
  };
}

function option(name: string, value: string | null): string[] {
  return value === null ? [] : [name, value];
}
