import type { Usage } from "./issue/events.js";
import type { Budget } from "./settings.js";

export interface Spent {
  readonly tokens: number;
  readonly usd: number;
}

/** What of a budget is used up, in words; null: nothing. */
export function overBudget(budget: Budget, spent: Spent & { readonly ms: number }): string | null {
  const { usd, tokens, minutes } = budget;
  if (usd !== null && spent.usd >= usd) return `${asExact(spent.usd, usd, 2)} of ${usd} USD`;
  if (tokens !== null && spent.tokens >= tokens) return `${spent.tokens} of ${tokens} tokens`;
  if (minutes !== null && spent.ms >= minutes * 60_000) {
    return `${asExact(spent.ms / 60_000, minutes, 1)} of ${minutes} minutes`;
  }
  return null;
}

interface Begun {
  readonly startedAt: number;
  readonly awayMs?: number;
}

/** From when on minutes count, as if it had been driven without a break. */
export function countedFrom({ startedAt, awayMs = 0 }: Begun): number {
  return startedAt + awayMs;
}

/** The whole time away, with what lies between `since` and now. */
export function awayUntil({ awayMs = 0 }: Pick<Begun, "awayMs">, since: number | undefined, now: number): number {
  return awayMs + (since === undefined ? 0 : Math.max(0, now - since));
}

/** At least as many digits as the limit is given with: less would look as if it were not reached. */
function asExact(value: number, limit: number, digits: number): string {
  const given = String(limit).split(".")[1]?.length ?? 0;
  return value.toFixed(Math.min(Math.max(digits, given), 9));
}

export function addUsage(spent: Spent, usage: Usage): Spent {
  const tokens = spent.tokens + usage.input_tokens + usage.output_tokens;
  return { tokens, usd: spent.usd + (usage.cost_usd ?? 0) };
}
