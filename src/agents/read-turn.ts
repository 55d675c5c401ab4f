import type { TurnFiles, TurnReading } from "../core/ports/agent.js";
import { outcomeOfExit, parseTurnResult, turnResultKeys } from "../core/ports/turn-protocol.js";
import { readForeignJson, readLastWords } from "../lib/program-files.js";

/** What a program that speaks the plain protocol left behind, however it ended. */
export async function readTurn(files: TurnFiles, exitCode: number | null): Promise<TurnReading> {
  const { sessionId, usage } = parseTurnResult(await readForeignJson(files.result, turnResultKeys));
  const lastWords = exitCode === 0 ? "" : await readLastWords(files.stderr);
  return { outcome: outcomeOfExit(exitCode, lastWords), sessionId, usage };
}
