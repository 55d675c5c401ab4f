import { type Fields, toAmount, toFields } from "./json.js";
import type { PricedTokens } from "./prices.js";

/** The usage of one of Anthropic's messages; its own input leaves out what went through the cache. */
export function tokensOfMessage(usage: Fields): PricedTokens & { readonly cacheWrite: number } {
  const [cached, cacheWrite] = [toAmount(usage.cache_read_input_tokens), toAmount(usage.cache_creation_input_tokens)];
  const input = toAmount(usage.input_tokens) + cached + cacheWrite;
  return { input, cached, cacheWrite, output: toAmount(usage.output_tokens) };
}

/** The same by model, as claude's last line tells it: with its helpers' tokens. null: it tells nothing. */
export function tokensByModel(modelUsage: Fields): { readonly input: number; readonly output: number } | null {
  const models = Object.values(modelUsage).map(toFields);
  if (models.length === 0) return null;
  const total = (...names: string[]) =>
    models.reduce((sum, model) => sum + names.reduce((part, name) => part + toAmount(model[name]), 0), 0);
  return {
    input: total("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"),
    output: total("outputTokens"),
  };
}
