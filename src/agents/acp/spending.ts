import type { Usage } from "../../core/issue/events.js";
import type { TokenPrice } from "../../core/settings.js";
import { type Fields, toAmount, toFields, toList, toText } from "../json.js";
import { tokensByModel, tokensOfMessage } from "../message-tokens.js";
import { costOf, type PricedTokens } from "../prices.js";

interface Tokens {
  readonly input: number;
  readonly output: number;
}

interface Said {
  readonly id: string;
  readonly model: string;
  readonly tokens: PricedTokens;
}

/**
 * What a turn has used, from wherever a program tells it: its answer to the prompt, its updates, and for those that say
 * nothing before they have ended the messages of the model itself. What a program says it cost goes before our prices.
 */
export class Spending {
  readonly #prices: Readonly<Record<string, TokenPrice>>;
  readonly #messages = new Map<string, Usage>();
  /** A message whose end has not been told yet. */
  #last: Said | null = null;
  #whole: Tokens | null = null;
  #costBefore = 0;
  #cost: number | null = null;

  constructor(prices: Readonly<Record<string, TokenPrice>> = {}) {
    this.#prices = prices;
  }

  /** An update of the session: the cost since it began. The usage so far, where it changes that. */
  update(update: Fields, isHistory: boolean): Usage | null {
    const { amount, currency } = toFields(update.cost);
    if (typeof amount === "number" && (currency === undefined || currency === "USD")) {
      if (isHistory) this.#costBefore = amount;
      else this.#cost = toAmount(amount);
    }
    if (update.status === "completed" || update.status === "failed") this.#last = null;
    return typeof update.used === "number" ? this.#complete(update.used) : null;
  }

  /** A message of claude's as it is. It comes before its end is known, so its output is counted too low at first. */
  message(raw: Fields): Usage | null {
    if (raw.type === "result") this.#whole = tokensByModel(toFields(raw.modelUsage)) ?? this.#whole;
    const message = toFields(raw.message);
    if (raw.type !== "assistant" || message.model === "<synthetic>") return null;
    const said = {
      id: toText(message.id),
      model: toText(message.model),
      tokens: tokensOfMessage(toFields(message.usage)),
    };
    // Not of an agent that it has sent out itself: what is told next is not of that one.
    if (toText(raw.parent_tool_use_id) === "") this.#last = said;
    return this.#add(said);
  }

  /** The context's size, told when a message has ended, is its input and its output. */
  #complete(used: number): Usage | null {
    const last = this.#last;
    this.#last = null;
    if (last === null || used - last.tokens.input <= last.tokens.output) return null;
    return this.#add({ ...last, tokens: { ...last.tokens, output: used - last.tokens.input } });
  }

  #add(said: Said): Usage {
    this.#messages.set(said.id, this.#price([said]));
    return sumOf([...this.#messages.values()]);
  }

  /**
   * With the answer to the prompt, where there was one. null: the program told nothing. `knowsCostBefore`: what it cost
   * before this turn is told or nothing, so that the difference is this turn's.
   */
  total(answer: Fields, knowsCostBefore = true): Usage | null {
    const priced = this.#byModel(answer) ?? (this.#messages.size > 0 ? sumOf([...this.#messages.values()]) : null);
    const tokens = tokensOf(toFields(answer.usage)) ?? this.#whole ?? (priced && toTokens(priced));
    const told = knowsCostBefore ? this.#cost : null;
    const cost = told === null ? null : Math.max(0, told - this.#costBefore);
    if (tokens === null) return cost === null ? null : { input_tokens: 0, output_tokens: 0, cost_usd: cost };
    return { input_tokens: tokens.input, output_tokens: tokens.output, cost_usd: cost ?? priced?.cost_usd ?? null };
  }

  /** Gemini and codex-acp name their models and what each has used. What Gemini read from its cache is not told. */
  #byModel(answer: Fields): Usage | null {
    const quota = toFields(toFields(answer._meta).quota);
    const models = toList(quota.model_usage);
    if (models.length === 0 && quota.token_count === undefined) return null;
    const used = (models.length === 0 ? [quota] : models).map((one) => {
      const { model, token_count: count } = toFields(one);
      return { model: toText(model), tokens: pricedTokens(toFields(count)) };
    });
    return this.#price(used);
  }

  #price(used: readonly { readonly model: string; readonly tokens: PricedTokens }[]): Usage {
    return sumOf(
      used.map(({ model, tokens }) => {
        const cost = costOf(model, tokens, this.#prices);
        return { input_tokens: tokens.input, output_tokens: tokens.output, cost_usd: cost };
      }),
    );
  }
}

function pricedTokens(count: Fields): PricedTokens {
  if (count.input_tokens !== undefined) {
    return { input: toAmount(count.input_tokens), cached: 0, output: toAmount(count.output_tokens) };
  }
  const { cachedInputTokens: cachedReadTokens, cacheWriteInputTokens: cachedWriteTokens } = count;
  const tokens = tokensOf({
    ...count,
    cachedReadTokens,
    cachedWriteTokens,
    thoughtTokens: count.reasoningOutputTokens,
  });
  const [cached, cacheWrite] = [toAmount(cachedReadTokens), toAmount(cachedWriteTokens)];
  return { input: tokens?.input ?? 0, cached, cacheWrite, output: tokens?.output ?? 0 };
}

/** Whether the input counts cached tokens differs between programs; their own total shows it. null: nothing is told. */
function tokensOf(usage: Fields): Tokens | null {
  if (usage.inputTokens === undefined && usage.outputTokens === undefined) return null;
  const amount = (name: string) => toAmount(usage[name]);
  const [input, output, thought] = [amount("inputTokens"), amount("outputTokens"), amount("thoughtTokens")];
  const total = amount("totalTokens");
  const apart = amount("cachedReadTokens") + amount("cachedWriteTokens");
  const all = total === input + output || total === input + output + thought ? input : input + apart;
  const spoken = thought > 0 && total === all + output + thought ? output + thought : output;
  return { input: all, output: spoken };
}

function toTokens({ input_tokens: input, output_tokens: output }: Usage): Tokens {
  return { input, output };
}

export function sumOf(usages: readonly Usage[]): Usage {
  return usages.reduce(
    (sum, one) => ({
      input_tokens: sum.input_tokens + one.input_tokens,
      output_tokens: sum.output_tokens + one.output_tokens,
      cost_usd: sum.cost_usd === null || one.cost_usd === null ? null : sum.cost_usd + one.cost_usd,
    }),
    { input_tokens: 0, output_tokens: 0, cost_usd: 0 },
  );
}
