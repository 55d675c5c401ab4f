import { plainLine } from "../core/plain-text.js";
import type { PublicEvent } from "../core/report.js";
import { trackerEndings } from "../core/tracker-endings.js";

type LogEvent = Extract<PublicEvent, { type: "log" }>;

/** What a run told of that went wrong. */
export interface RunError {
  readonly text: string;
  /** A tracker has not been told what became of an issue: the next run tells it. */
  readonly owed: boolean;
}

const errorsMax = 5;
const endings: Readonly<Record<string, string>> = trackerEndings;

/** The last errors that a run told of, each in one line. */
export function errorsAfter(errors: readonly RunError[], event: LogEvent): readonly RunError[] {
  const error = toError(event);
  return [...errors.filter(({ text }) => text !== error.text), error].slice(-errorsMax);
}

function toError(event: LogEvent): RunError {
  const { issue_id: issueId, text } = event;
  const untold = event.untold ?? untoldIn(text);
  const ending = untold === null ? undefined : endings[untold.op];
  if (untold === null || ending === undefined) {
    return { text: `${issueId === undefined ? "" : `${issueId}: `}${text}`, owed: false };
  }
  const what = `the tracker could not be told that ${issueId ?? "the run"} ${ending}`;
  return { text: `${what}: ${untold.reason}`, owed: true };
}

/** As versions told it that had no field for it. */
function untoldIn(text: string): NonNullable<LogEvent["untold"]> | null {
  const [, op, reason] = /^The tracker could not be told \(tracker:([\w-]+)\): (.*)$/s.exec(text) ?? [];
  return op === undefined || reason === undefined ? null : { op, reason };
}

/** Why a run has its exit code though its issues look well. */
export function errorLines(errors: readonly RunError[], exitCode: number): string[] {
  return ["", `Why the exit code is ${exitCode}:`, ...errors.map(({ text }) => `  ${plainLine(text)}`)];
}

export function nextAfterErrors(errors: readonly RunError[]): string {
  const isOwed = errors.some(({ owed }) => owed);
  return `  ratchet run   # once that works again: ${isOwed ? "tells the tracker, and goes on" : "goes on"}`;
}
