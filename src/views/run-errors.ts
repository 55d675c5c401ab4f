import { plainLine } from "../core/plain-text.js";
import type { PublicEvent } from "../core/report.js";
import { trackerEndings } from "../core/tracker-endings.js";

const errorsMax = 5;
const untold = "the tracker could not be told that ";
const endings: Readonly<Record<string, string>> = trackerEndings;

/** The last errors that a run told of, each in one line. */
export function errorsAfter(
  errors: readonly string[],
  { issue_id: issueId, text }: Extract<PublicEvent, { type: "log" }>,
): readonly string[] {
  const [, op = "", why] = /^The tracker could not be told \(tracker:([\w-]+)\): (.*)$/s.exec(text) ?? [];
  const ending = endings[op];
  const who = issueId === undefined ? "" : `${issueId}: `;
  const line = ending === undefined ? `${who}${text}` : `${untold}${issueId ?? "the run"} ${ending}: ${why}`;
  return [...errors.filter((one) => one !== line), line].slice(-errorsMax);
}

/** Why a run has its exit code though its issues look well. */
export function errorLines(errors: readonly string[], exitCode: number): string[] {
  return ["", `Why the exit code is ${exitCode}:`, ...errors.map((text) => `  ${plainLine(text)}`)];
}

export function nextAfterErrors(errors: readonly string[]): string {
  const isOwed = errors.some((text) => text.startsWith(untold));
  return `  ratchet run   # once that works again: ${isOwed ? "tells the tracker, and goes on" : "goes on"}`;
}
