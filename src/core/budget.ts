import type { Usage } from "./issue/events.js";
import type { Budget } from "./settings.js";

export interface Spent {
  readonly tokens: number;
  readonly usd: number;
}

/** What of a budget is used up, in words; null: nothing. */
export function overBudget(budget: Budget, spent: Spent & { readonly ms: number }): string | null {
  const { usd, tokens, minutes } = budget;
  if (usd !== null && spent.usd >= usd) return `${spent.usd.toFixed(2)} of ${usd} USD`;
  if (tokens !== null && spent.tokens >= tokens) return `${spent.tokens} of ${tokens} tokens`;
  if (minutes !== null && spent.ms >= minutes * 60_000)
    return `${(spent.ms / 60_000).toFixed(1)} of ${minutes} minutes`;
  return null;
}

export function addUsage(spent: Spent, usage: Usage): Spent {
  const tokens = spent.tokens + usage.input_tokens + usage.output_tokens;
  return { tokens, usd: spent.usd + (usage.cost_usd ?? 0) };
}
