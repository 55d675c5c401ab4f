import { logLine } from "../../views/log-lines.js";
import type { Output } from "../output.js";
import type { Presenter } from "../run/presenter.js";

/** Told in run.log; people are told how a stage ended. */
const quiet = new Set<string>(["stage-started", "edge-taken", "prompt-sent", "turn-ended", "session-known"]);

/** A line for each stage, with what became of it; as JSON the events themselves. */
export function stagePresenter(out: Output, json: boolean): Presenter {
  return {
    past: () => undefined,
    events: (events) => {
      for (const event of events) {
        const line = json || quiet.has(event.type) ? null : logLine(event);
        if (json) out.jsonLine(event);
        else if (line) out.line(line.text);
      }
    },
    say: (text) => out.note(text),
    end: async () => undefined,
  };
}
