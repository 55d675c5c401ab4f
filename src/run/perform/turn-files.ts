import { join } from "node:path";
import type { TurnFiles } from "../../core/ports/agent.js";

/** The names in an attempt folder that agents and reviewers are told. */
export function filesOf(folder: string): TurnFiles {
  return {
    folder,
    stdout: join(folder, "transcript.jsonl"),
    stderr: join(folder, "stderr.log"),
    result: join(folder, "result.json"),
  };
}
