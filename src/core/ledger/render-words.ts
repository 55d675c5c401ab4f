import type { Finding, OtherReport, Text } from "../finding.js";
import { otherWordsOf } from "./words.js";

/** How a finding is named where people and agents read of it. */
export function roundWord(finding: Finding): string {
  return finding.source === "review" ? "round" : "attempt";
}

export function priorityName({ priority }: Pick<Finding, "priority">): string {
  return priority === null ? "[no priority]" : `[P${priority}]`;
}

/** All that is said of it: its text, then what others who report it say in other words. */
export function sayAll(finding: Finding, wholeOf: (body: Text) => string): string {
  return sayWith(finding.body, otherWordsOf(finding), wholeOf);
}

export function sayWith(body: Text, others: readonly OtherReport[], wholeOf: (body: Text) => string): string {
  const own = wholeOf(body);
  const further = others.map((one) => `${sayWho(one)}\n\n${wholeOf(one.body)}`.trimEnd());
  return [...(own.trim() === "" ? [] : [own]), ...further].join("\n\n");
}

export function sayWho(one: Omit<OtherReport, "body">): string {
  const about = [knownPlace(one), one.priority === null ? "" : `P${one.priority}`].filter((part) => part !== "");
  const where = about.length === 0 ? "" : ` (${about.join(", ")})`;
  return `Also reported by ${singleLine(one.reviewer)}${where}: ${singleLine(one.title)}`;
}

type Place = Pick<Finding, "file" | "line_start" | "line_end">;

export function fileName(finding: Pick<Place, "file">): string {
  return isNowhere(finding) ? "The work as a whole" : singleLine(finding.file);
}

/** "" where it is about the work as a whole. */
export function knownPlace(finding: Place): string {
  return isNowhere(finding) ? "" : placeOf(finding);
}

function isNowhere({ file }: Pick<Place, "file">): boolean {
  return ["", "unknown"].includes(singleLine(file));
}

export function placeOf(finding: Place): string {
  const { line_start: start, line_end: end } = finding;
  if (start <= 0) return fileName(finding);
  return `${singleLine(finding.file) || "unknown"}:${end > start ? `${start}-${end}` : start}`;
}

export function singleLine(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, " ").trim();
}

/** Numbers in order, runs of them as one: "1-4, 7". So that a finding that stays does not grow with every round. */
export function rangesOf(numbers: readonly number[]): string {
  const runs: { readonly from: number; to: number }[] = [];
  for (const number of [...new Set(numbers)].sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last !== undefined && number === last.to + 1) last.to = number;
    else runs.push({ from: number, to: number });
  }
  return runs
    .map(({ from, to }) => (from === to ? `${from}` : to === from + 1 ? `${from}, ${to}` : `${from}-${to}`))
    .join(", ");
}
