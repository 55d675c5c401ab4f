import type { TurnFiles, TurnReading } from "../core/ports/agent.js";
import { foldEvent, linesFor, nothingRead, type StreamReader } from "../core/ports/agent-event.js";
import { outcomeOfExit } from "../core/ports/turn-protocol.js";
import { readLines } from "../lib/follow-file.js";
import { readLastWords } from "../lib/program-files.js";

/**
 * A whole stream, read after the program's end. A turn has ended well only when the program has said so and left with
 * 0; its own reason goes before that of its exit code.
 */
export async function readStream(
  reader: StreamReader,
  files: TurnFiles,
  exitCode: number | null,
): Promise<TurnReading> {
  let summary = nothingRead;
  for await (const line of readLines(files.stdout, linesFor(reader))) {
    for (const event of reader.line(line)) summary = foldEvent(summary, event);
  }
  const { sessionId, usage, outcome } = summary;
  return { outcome: await judgeExit(outcome, files, exitCode), sessionId, usage };
}

async function judgeExit(
  said: TurnReading["outcome"] | null,
  files: TurnFiles,
  exitCode: number | null,
): Promise<TurnReading["outcome"]> {
  if (exitCode === null) return { type: "lost" };
  if (said !== null && (said.type !== "ended" || exitCode === 0)) return said;
  if (exitCode === 0) return { type: "failed", reason: "the program ended without saying how the turn went" };
  return outcomeOfExit(exitCode, await readLastWords(files.stderr));
}

/** The lines of the last text of the stream. */
export async function* lastMessage(reader: StreamReader, files: TurnFiles): AsyncGenerator<string> {
  let last = "";
  for await (const line of readLines(files.stdout, linesFor(reader))) {
    for (const event of reader.line(line)) if (event.type === "text") last = event.text;
  }
  yield* last.split("\n");
}
