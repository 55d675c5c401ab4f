import type { Reviewer } from "../core/ports/agent.js";
import { turnEnvironment } from "../core/ports/turn-protocol.js";
import { missingProgram } from "../lib/program-files.js";
import { readReview } from "./read-turn.js";

/** Any program as a reviewer: the plain protocol, and a verdict in the result file or as the last JSON object on stdout. */
export function commandReviewer({
  name,
  command,
}: {
  readonly name: string;
  readonly command: readonly string[];
}): Reviewer {
  const [program = "", ...rest] = command;
  return {
    kind: "command",
    check: async (dir) => missingProgram(command[0], `the command of reviewer ${name}`, dir),
    command: (turn) => ({ argv: [program, ...rest], env: turnEnvironment(turn), stopSignal: "SIGTERM" }),
    read: readReview,
  };
}
