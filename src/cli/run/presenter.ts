import type { PublicEvent } from "../../core/report.js";
import type { LogLine } from "../../views/log-lines.js";

/** How a run is shown while it goes on. None of it can fail the run. */
export interface Presenter {
  /** Something that was shown before this process took the run up. */
  past(event: PublicEvent): void;
  /** What happened, and its lines in run.log, which are free of secrets. */
  events(events: readonly PublicEvent[], lines: readonly LogLine[]): void;
  /** A word to the person in front of it. */
  say(text: string): void;
  end(): Promise<void>;
}

export interface Showing {
  readonly json: boolean;
  readonly withoutSummary?: boolean;
}
