import type { TokenPrice } from "../core/settings.js";

/** `input` is all of it; `cached` and `cacheWrite` are the parts of it that were read from a cache and written to one. */
export interface PricedTokens {
  readonly input: number;
  readonly cached: number;
  readonly cacheWrite?: number;
  readonly output: number;
}

/** In USD, at list prices; null where nobody has said what the model costs. `overrides` go before our own table. */
export function costOf(
  model: string,
  tokens: PricedTokens,
  overrides: Readonly<Record<string, TokenPrice>> = {},
): number | null {
  const price = priceOf(model, overrides) ?? priceOf(model, listPrices);
  if (price === null) return null;
  const cached = Math.min(tokens.cached, tokens.input);
  const written = Math.min(tokens.cacheWrite ?? 0, tokens.input - cached);
  const fresh = tokens.input - cached - written;
  const input = (fresh + written * writeFactor) * price.input + cached * (price.cached ?? price.input);
  return (input + tokens.output * price.output) / 1_000_000;
}

/** What both vendors take for writing to the cache that lasts minutes. */
const writeFactor = 1.25;

function priceOf(model: string, prices: Readonly<Record<string, TokenPrice>>): TokenPrice | null {
  for (const name of namesOf(model)) {
    const price = Object.hasOwn(prices, name) ? prices[name] : undefined;
    if (price !== undefined) return price;
  }
  return null;
}

/** The name as it was given, then without its provider, its context size ("[1m]") and its date. */
function namesOf(model: string): readonly string[] {
  const bare = model
    .toLowerCase()
    .replace(/^.*\//, "")
    .replace(/^(?:[a-z]+\.)*anthropic\./, "")
    .replace(/\[\w+\]$/, "")
    .replace(/(?:-v\d+)?(?::\d+)?$/, "");
  return [model, bare, bare.replace(/[-@](?:\d{8}|\d{4}-\d\d-\d\d|latest)$/, "")];
}

const fable = { input: 10, cached: 1, output: 50 };
const opus = { input: 5, cached: 0.5, output: 25 };
const firstOpus = { input: 15, cached: 1.5, output: 75 };
const sonnet = { input: 3, cached: 0.3, output: 15 };
const gpt5 = { input: 1.25, cached: 0.125, output: 10 };
const gpt52 = { input: 1.75, cached: 0.175, output: 14 };

/** USD per million tokens at the vendors' standard rates of November 2026, without what long prompts cost more. */
const listPrices: Readonly<Record<string, TokenPrice>> = {
  "claude-fable-5-1": { ...fable, cached: 0.25 },
  "claude-fable-5": fable,
  "claude-opus-5-5": { input: 4, cached: 0.2, output: 20 },
  "claude-opus-5": opus,
  "claude-opus-4-8": opus,
  "claude-opus-4-7": opus,
  "claude-opus-4-6": opus,
  "claude-opus-4-5": opus,
  "claude-opus-4-1": firstOpus,
  "claude-opus-4": firstOpus,
  "claude-sonnet-5-5": { input: 2, cached: 0.1, output: 10 },
  "claude-sonnet-5": { input: 2, cached: 0.2, output: 10 },
  "claude-sonnet-4-6": sonnet,
  "claude-sonnet-4-5": sonnet,
  "claude-sonnet-4": sonnet,
  "claude-haiku-5-5": { input: 0.1, cached: 0.01, output: 0.5 },
  "claude-haiku-4-5": { input: 1, cached: 0.1, output: 5 },
  "gpt-6.1-sol": { input: 2, cached: 0.1, output: 10 },
  "gpt-6.1-terra": { input: 1, cached: 0.05, output: 5 },
  "gpt-6-astra": { input: 10, cached: 1, output: 50 },
  "gpt-6-sol": { input: 2, cached: 0.2, output: 10 },
  "gpt-6-luna": { input: 0.1, cached: 0.01, output: 0.5 },
  "gpt-5.6-sol": { input: 4, cached: 0.4, output: 20 },
  "gpt-5.6-terra": { input: 2, cached: 0.2, output: 12 },
  "gpt-5.6-luna": { input: 0.2, cached: 0.02, output: 1.2 },
  "gpt-5.5": { input: 5, cached: 0.5, output: 30 },
  "gpt-5.4": { input: 2.5, cached: 0.25, output: 15 },
  "gpt-5.4-mini": { input: 0.75, cached: 0.075, output: 4.5 },
  "gpt-5.3-codex": gpt52,
  "gpt-5.2-codex": gpt52,
  "gpt-5.2": gpt52,
  "gpt-5.1-codex-max": gpt5,
  "gpt-5.1-codex-mini": { input: 0.25, cached: 0.025, output: 2 },
  "gpt-5.1-codex": gpt5,
  "gpt-5.1": gpt5,
  "gpt-5-codex": gpt5,
  "gpt-5-mini": { input: 0.25, cached: 0.025, output: 2 },
  "gpt-5": gpt5,
};
