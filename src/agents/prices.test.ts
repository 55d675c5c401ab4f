import { describe, expect, it } from "vitest";
import { costOf } from "./prices.js";

const million = { input: 1_000_000, cached: 0, output: 0 };

describe("what tokens cost", () => {
  it.each([
    ["claude-sonnet-4-5", 3],
    ["claude-sonnet-4-5-20250929", 3],
    ["claude-opus-4-6[1m]", 5],
    ["anthropic/claude-haiku-4-5@20251001", 1],
    ["us.anthropic.claude-opus-4-1-20250805-v1:0", 15],
    ["gpt-5.2-2026-01-01", 1.75],
    ["gpt-6-sol", 2],
  ])("%s: %d a million", (model, price) => {
    expect(costOf(model, million)).toBeCloseTo(price, 10);
  });

  it("a model that nobody has priced costs null, whatever its name begins with", () => {
    expect(costOf("claude-sonnet-45", million)).toBeNull();
    expect(costOf("toString", million)).toBeNull();
    expect(costOf("", million)).toBeNull();
  });

  it("cached input is cheaper, writing to the cache dearer, and both are parts of the input", () => {
    const tokens = { input: 1_150, cached: 1_000, cacheWrite: 50, output: 10 };
    expect(costOf("claude-sonnet-4-5", tokens)).toBeCloseTo(0.0009375, 10);
  });

  it("what the settings say goes before the table", () => {
    expect(costOf("gpt-5", million, { "gpt-5": { input: 7, output: 1 } })).toBeCloseTo(7, 10);
    expect(costOf("gpt-5-2025-08-07", million, { "gpt-5": { input: 7, output: 1 } })).toBeCloseTo(7, 10);
    expect(costOf("mine", { input: 10, cached: 10, output: 0 }, { mine: { input: 1, output: 1 } })).toBeCloseTo(
      1e-5,
      10,
    );
  });
});
