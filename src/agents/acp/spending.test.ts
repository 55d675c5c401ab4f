import { describe, expect, it } from "vitest";
import { usageSince } from "./opencode.js";
import { Spending } from "./spending.js";

const prices = { m: { input: 3, output: 15, cached: 0.3 } };
const usage = (input: number, output: number, cost: number | null) => ({
  input_tokens: input,
  output_tokens: output,
  cost_usd: cost === null ? null : expect.closeTo(cost, 10),
});
const assistant = (id: string, model = "m") => {
  const told = { input_tokens: 100, cache_read_input_tokens: 1000, cache_creation_input_tokens: 50, output_tokens: 1 };
  return { type: "assistant", message: { id, model, usage: told } };
};

describe("what a turn has used", () => {
  it.each([
    [{ inputTokens: 100, outputTokens: 5, cachedReadTokens: 50, totalTokens: 155 }, 150, 5],
    [{ inputTokens: 150, outputTokens: 5, cachedReadTokens: 50, totalTokens: 155 }, 150, 5],
    [{ inputTokens: 150, outputTokens: 5, thoughtTokens: 7, totalTokens: 162 }, 150, 12],
    [{ inputTokens: 100, outputTokens: 5, cachedReadTokens: 50 }, 150, 5],
  ])("%j: cached tokens are counted once", (told, input, output) => {
    expect(new Spending().total({ usage: told })).toEqual(usage(input, output, null));
  });

  it("a program that tells nothing has used nobody knows what", () => {
    expect(new Spending(prices).total({ stopReason: "cancelled" })).toBe(null);
  });

  it("a message in several lines counts once, and each further one is added at once", () => {
    const spending = new Spending(prices);
    expect(spending.message(assistant("1"))).toEqual(usage(1150, 1, 0.0008025));
    expect(spending.message(assistant("1"))).toEqual(usage(1150, 1, 0.0008025));
    expect(spending.message(assistant("2"))).toEqual(usage(2300, 2, 0.001605));
    expect(spending.message(assistant("3", "<synthetic>"))).toBe(null);
  });

  it("the output of a message is known once the context's new size is, and of no other", () => {
    const spending = new Spending(prices);
    expect(spending.update({ used: 1151 }, false)).toBe(null);
    spending.message(assistant("1"));
    expect(spending.update({ used: 1160 }, false)).toEqual(usage(1150, 10, 0.0009375));
    expect(spending.update({ used: 5000 }, false)).toBe(null);
    spending.message(assistant("2"));
    spending.update({ status: "completed" }, false);
    expect(spending.update({ used: 5000 }, false)).toBe(null);
    expect(spending.total({})).toEqual(usage(2300, 11, 0.00174));
  });

  it("a turn that was stopped has used what its messages say, whole once the program has counted them", () => {
    const spending = new Spending(prices);
    spending.message(assistant("1"));
    expect(spending.total({ stopReason: "cancelled" })).toEqual(usage(1150, 1, 0.0008025));
    spending.message({ type: "result", modelUsage: { m: { inputTokens: 1150, outputTokens: 10 } } });
    spending.update({ cost: { amount: 0.002, currency: "USD" } }, false);
    expect(spending.total({ stopReason: "cancelled" })).toEqual(usage(1150, 10, 0.002));
  });

  it("the cost of a session that went before is not this turn's", () => {
    const spending = new Spending();
    spending.update({ cost: { amount: 0.5, currency: "USD" } }, true);
    spending.update({ cost: { amount: 0.75, currency: "USD" } }, false);
    const answer = { usage: { inputTokens: 1, outputTokens: 1 } };
    expect(spending.total(answer)).toEqual(usage(1, 1, 0.25));
    expect(spending.total(answer, false)).toEqual(usage(1, 1, null));
  });

  it("models that are named with their tokens are priced", () => {
    const count = { inputTokens: 150, cachedInputTokens: 1000, outputTokens: 10, totalTokens: 1160 };
    const ofCodex = { quota: { model_usage: [{ model: "m", token_count: count }] } };
    expect(new Spending(prices).total({ _meta: ofCodex })).toEqual(usage(1150, 10, 0.0009));
    const one = (model: string) => ({ model, token_count: { input_tokens: 1000, output_tokens: 10 } });
    const ofGemini = (...models: string[]) => ({ _meta: { quota: { model_usage: models.map(one) } } });
    expect(new Spending(prices).total(ofGemini("m", "m"))).toEqual(usage(2000, 20, 0.0063));
    expect(new Spending(prices).total(ofGemini("m", "auto"))).toEqual(usage(2000, 20, null));
  });

  it("of an exported session only the answers to this prompt count", () => {
    const info = (created: number, more: object) => ({ info: { role: "assistant", time: { created }, ...more } });
    const tokens = { input: 100, output: 8, reasoning: 2, cache: { read: 1000, write: 50 } };
    const messages = [
      info(10, { tokens, cost: 1 }),
      { info: { role: "user", time: { created: 20 } } },
      info(21, { tokens, cost: 0.25 }),
      info(22, { tokens, cost: 0, modelID: "m" }),
      info(23, { tokens: { input: 0, output: 0 }, cost: 0, modelID: "unknown" }),
    ];
    expect(usageSince({ messages }, 20, prices)).toEqual(usage(2300, 20, 0.2509375));
    expect(usageSince({ messages }, 20, {})).toEqual(usage(2300, 20, null));
    expect(usageSince({ messages }, 30, prices)).toBe(null);
  });
});
