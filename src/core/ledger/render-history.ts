import type { Finding } from "../finding.js";
import { begunAfresh } from "./afresh.js";
import { placeOf, priorityName, roundWord, singleLine } from "./render-words.js";
import { reportsOf } from "./reports.js";
import { byteLength } from "./text-bytes.js";

/**
 * What was reported before and is no longer: one line each. In an issue's prompt the newest of them take up a small part
 * of what the open ones do, so that the prompt of round 20 is no longer than that of round 1; the others are counted,
 * and listed where the rest is.
 */
export interface HistoryOptions {
  readonly order: "by-file" | "by-stage";
  readonly restPath: string;
  /** What the open findings take up. */
  readonly openBytes: number;
}

const share = 0.08;
const title = "### Earlier, no longer reported";

export function historyOf(
  findings: readonly Finding[],
  open: readonly Finding[],
  { order, restPath, openBytes }: HistoryOptions,
): { readonly text: string; readonly rest: string | null } {
  const lines = historyLines(findings, open);
  if (lines.length === 0) return { text: "", rest: null };
  const shown = order === "by-stage" ? lines : firstOf(lines, share * openBytes);
  if (shown.length === lines.length) return { text: listed(lines), rest: null };
  const others = `- and ${lines.length - shown.length} older ones, listed in ${restPath}`;
  return { text: listed([...shown, others]), rest: listed(lines) };
}

function listed(lines: readonly string[]): string {
  return [title, "", ...lines].join("\n");
}

/** At least one. */
function firstOf(lines: readonly string[], bytes: number): readonly string[] {
  let left = bytes;
  const end = lines.findIndex((line, index) => {
    left -= byteLength(line) + 1;
    return index > 0 && left < 0;
  });
  return end < 0 ? lines : lines.slice(0, end);
}

/** Superseded findings of the stages that have open ones, the newest first; none of work that was given up. */
function historyLines(findings: readonly Finding[], open: readonly Finding[]): string[] {
  const stages = new Set(open.flatMap((finding) => reportsOf(finding).map((report) => report.stage)));
  return findings
    .filter(({ status, stage, reason }) => status === "superseded" && stages.has(stage) && reason !== begunAfresh)
    .sort((a, b) => b.visit - a.visit)
    .map((finding) => {
      const where = `${placeOf(finding)} · ${roundWord(finding)} ${finding.visit}`;
      return `- ${priorityName(finding)} ${singleLine(finding.title)} (${where} · by ${finding.reviewers.map(singleLine).join(", ")})`;
    });
}
