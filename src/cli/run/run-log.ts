import { closeSync, openSync, writeSync } from "node:fs";
import type { PublicEvent } from "../../core/report.js";
import { messageOf } from "../../lib/errors.js";
import { logLines } from "../../views/log-lines.js";
import type { Context } from "../context.js";

/** runs/<run>/run.log: the run's events as lines. Written anew when a run is taken up again, so that no line is missing. */
export interface RunLog {
  add(event: PublicEvent): void;
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
    add: (event) => {
      for (const { level, text } of logLines(event)) {
        if (file === null) return;
        const open = file;
        const done = attempt(() => writeSync(open, `${event.time} ${level} ${out.redact(text)}\n`));
        if (done === null) file = null;
      }
    },
    close: () => {
      if (file !== null) closeSync(file);
      file = null;
    },
  };
}
