const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** What a message says when `parseDuration` gave null. */
export const durationHint = 'write a number and its unit: "250ms", "90s", "5m", "1h", "2d"';

/** A hundred years: the end of anything longer is no date. */
const longestMs = 36_525 * unitMs.d;

/** "90s" → 90,000 milliseconds. A number without a unit is none: people mean seconds, milliseconds and minutes by it. */
export function parseDuration(text: string): number | null {
  const match = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)$/.exec(text.trim());
  if (match === null) return null;
  const unit = match[2];
  if (unit !== "ms" && unit !== "s" && unit !== "m" && unit !== "h" && unit !== "d") return null;
  return Math.min(Math.round(Number(match[1]) * unitMs[unit]), longestMs);
}
