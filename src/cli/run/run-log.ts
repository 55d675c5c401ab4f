import { closeSync, openSync, writeFileSync } from "node:fs";
import type { PublicEvent } from "../../core/report.js";
import { messageOf } from "../../lib/errors.js";
import { type LogLine, logLines } from "../../views/log-lines.js";
import type { Context } from "../context.js";

/** runs/<run>/run.log: the run's events as lines. Written anew when a run is taken up again, so that no line is missing. */
export interface RunLog {
  /** The lines that were added, free of secrets. */
  add(events: readonly PublicEvent[]): readonly LogLine[];
  close(): void;
}

export function openRunLog({ app, out }: Context, runId: string): RunLog {
  const path = app.home.runLog(runId);
  let file: number | null = attempt(() => openSync(path, "w", 0o600));
  /** A log that cannot be written is said once; the run has its events and goes on. */
  function attempt<T>(write: () => T): T | null {
    try {
      return write();
    } catch (error) {
      out.note(`${path} cannot be written: ${messageOf(error)}`);
      return null;
    }
  }
  return {
    add: (events) => {
      const lines = events.flatMap((event) =>
        logLines(event).map(({ level, text }) => ({ time: event.time, level, text: out.redact(text) })),
      );
      if (file !== null && lines.length > 0) {
        const open = file;
        const text = lines.map((line) => `${line.time} ${line.level} ${line.text}\n`).join("");
        file = attempt(() => {
          writeFileSync(open, text);
          return open;
        });
      }
      return lines;
    },
    close: () => {
      if (file !== null) closeSync(file);
      file = null;
    },
  };
}
