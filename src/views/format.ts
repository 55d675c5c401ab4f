import type { Priority } from "../core/finding.js";
import { plainLine } from "../core/plain-text.js";

/** 0:07, 12:30, 1:02:03. */
export function formatSeconds(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (value: number): string => String(value).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/** How long an issue took, or has taken until now. */
export function elapsedSeconds(startedAt: number, until: number): number {
  return Math.max(0, Math.round((until - startedAt) / 1000));
}

/** A dash where no agent said what it cost. */
export function formatCost(usd: number | null): string {
  return usd === null ? "-" : `$${usd.toFixed(2)}`;
}

export function formatPriority(priority: Priority): string {
  return priority === null ? "P?" : `P${priority}`;
}

export function formatPlace(place: {
  readonly file: string;
  readonly line_start: number;
  readonly line_end: number;
}): string {
  const file = plainLine(place.file) || "-";
  if (place.line_start <= 0) return file;
  const lines = place.line_end > place.line_start ? `${place.line_start}-${place.line_end}` : `${place.line_start}`;
  return `${file}:${lines}`;
}

export function shortSha(sha: string): string {
  return sha.slice(0, 12);
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** What became of a run's issues, as its last line has it: those that were interrupted have not ended. */
export interface Endings {
  readonly succeeded: number;
  readonly ended: number;
  readonly interrupted: number;
  readonly running?: number;
}
export function endingsIn(event: {
  readonly success_count: number;
  readonly total_count: number;
  readonly interrupted_count?: number;
}): Endings {
  const { success_count: succeeded, total_count: ended, interrupted_count: interrupted = 0 } = event;
  return { succeeded, ended, interrupted };
}
export function formatEndings({ succeeded, ended, interrupted, running = 0 }: Endings): string {
  const rest = Object.entries({ interrupted, running }).filter(([, count]) => count > 0);
  const words = rest.map(([word, count], at) => `${ended + at === 0 ? plural(count, "issue") : count} ${word}`);
  return [...(ended === 0 ? [] : [`${succeeded} of ${plural(ended, "issue")} succeeded`]), ...words].join(", ");
}

/** How many of each priority, as `status --json` has it. */
export interface FindingCounts {
  readonly p0: number;
  readonly p1: number;
  readonly p2: number;
  readonly p3: number;
  readonly other: number;
}
export function countFindings(priorities: readonly Priority[]): FindingCounts {
  const count = (wanted: number): number => priorities.filter((priority) => priority === wanted).length;
  const [p0, p1, p2, p3] = [count(0), count(1), count(2), count(3)];
  return { p0, p1, p2, p3, other: priorities.length - p0 - p1 - p2 - p3 };
}

/** `P0:1 P2:3`, or a dash. */
export function formatCounts(counts: FindingCounts): string {
  const parts = [
    ["P0", counts.p0],
    ["P1", counts.p1],
    ["P2", counts.p2],
    ["P3", counts.p3],
    ["P?", counts.other],
  ] as const;
  return parts.flatMap(([name, count]) => (count > 0 ? [`${name}:${count}`] : [])).join(" ") || "-";
}

export function formatAttempt(attempt: number, maxAttempts: number): string {
  if (attempt <= 0) return "-";
  return maxAttempts > 0 ? `${attempt}/${maxAttempts}` : `${attempt}`;
}
