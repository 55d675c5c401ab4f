import { UserError } from "../lib/errors.js";
import { typed } from "./typed.js";

const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** `90s`, `1h`, `1h30m`, `2d` before now, or a point in time; as milliseconds. */
export function parseSince(flag: string, text: string, now: number): number {
  const parts = [...text.matchAll(/(\d+)([smhdw])/g)];
  if (parts.length > 0 && parts.map(([part]) => part).join("") === text) {
    const ago = parts.reduce((sum, [, count, unit]) => sum + Number(count) * (isUnit(unit) ? unitMs[unit] : 0), 0);
    return now - ago;
  }
  // A bare number is a year to Date.parse, and seconds to whoever typed it.
  const time = /^\d{4}-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new UserError(`${flag} ${typed(text)} is neither a while nor a time`, {
    hint: `${flag} 1h, or ${flag} 2025-01-31T12:00:00Z`,
  });
}

function isUnit(text: string | undefined): text is keyof typeof unitMs {
  return text !== undefined && Object.hasOwn(unitMs, text);
}
