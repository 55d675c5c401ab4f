import { linesFor, type StreamReader } from "../../core/ports/agent-event.js";
import { followLines } from "../../lib/follow-file.js";
import { stopProgram } from "../../lib/process/stop.js";
import type { ProgramTurn, StopWord } from "./program-turn.js";

/**
 * What an agent streams is read while it works: its session is recorded the moment it is known, and a budget that runs
 * out in the middle of a turn ends the turn. Who does not stream is only followed.
 */
export async function watchTurn<T>(turn: ProgramTurn, following: Promise<T>): Promise<T> {
  const reader = turn.program.reader?.(turn.turn.files);
  if (!reader) return await following;
  const over = new AbortController();
  // A broken watcher is told once the program has ended: it must not be left running with nobody to follow it.
  const [ended, watched] = await Promise.allSettled([
    following.finally(() => over.abort()),
    watchStream(turn, reader, over.signal),
  ]);
  if (ended.status === "rejected") throw ended.reason;
  if (watched.status === "rejected") throw watched.reason;
  return ended.value;
}

async function watchStream(turn: ProgramTurn, reader: StreamReader, signal: AbortSignal): Promise<void> {
  let stopping: Promise<void> | null = null;
  for await (const line of followLines(turn.turn.files.stdout, signal, linesFor(reader))) {
    for (const event of reader.line(line)) {
      if (event.type === "session") await turn.onSession(event.id);
      if (event.type !== "usage" || stopping !== null || !turn.isOver(event.usage)) continue;
      stopping = stopTurn(turn, "stopped");
    }
  }
  await stopping;
}

export async function stopTurn({ program, turn, folder }: ProgramTurn, why: StopWord): Promise<void> {
  const { stopSignal } = program.command(turn);
  await stopProgram(folder, { first: stopSignal, graceMs: 10_000, why });
}
