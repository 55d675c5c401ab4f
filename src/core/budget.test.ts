import { expect, it } from "vitest";
import { addUsage, overBudget } from "./budget.js";

const none = { usd: null, tokens: null, minutes: null };
it.each([
  [none, { usd: 1e9, tokens: 1e9, ms: 1e12 }, null],
  [{ ...none, usd: 2 }, { usd: 1.99, tokens: 0, ms: 0 }, null],
  [{ ...none, usd: 2 }, { usd: 2, tokens: 0, ms: 0 }, "2.00 of 2 USD"],
  [{ ...none, tokens: 100 }, { usd: 0, tokens: 99, ms: 0 }, null],
  [{ ...none, tokens: 100 }, { usd: 0, tokens: 130, ms: 0 }, "130 of 100 tokens"],
  [{ ...none, minutes: 0.5 }, { usd: 0, tokens: 0, ms: 29_999 }, null],
  [{ ...none, minutes: 0.5 }, { usd: 0, tokens: 0, ms: 30_000 }, "0.5 of 0.5 minutes"],
  [{ ...none, minutes: 0.01 }, { usd: 0, tokens: 0, ms: 700 }, "0.01 of 0.01 minutes"],
  [{ ...none, usd: 0.0005 }, { usd: 0.0007, tokens: 0, ms: 0 }, "0.0007 of 0.0005 USD"],
])("%j and %j spent: %s", (budget, spent, over) => {
  expect(overBudget(budget, spent)).toBe(over);
});

it("counts tokens of both directions, and a cost that nobody told as nothing", () => {
  const spent = addUsage({ tokens: 5, usd: 1 }, { input_tokens: 10, output_tokens: 20, cost_usd: null });
  expect(spent).toEqual({ tokens: 35, usd: 1 });
});
