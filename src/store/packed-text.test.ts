import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { packText, unpackText } from "./packed-text.js";

const arrival = JSON.stringify({
  type: "turn-ended",
  key: "stage:security:v9:a1",
  outcome: { type: "ended" },
  reply: { text: "The order is empty, and nobody has looked. ".repeat(12) },
  commit: "d95897850ed0d214f7a51eacc79cc99190ce5bf2",
});
const packedEarlier =
  "SGrNAc5Fw57ykUvN4tTkUlDkWpVZEiw90cuykIxUBXBFppBZrAByZ6WOQmJeikJePqgtopCRWKyQk5+fnZqipzCqdJiGAKhWhefeFEtTC0tzC1OD1BSDFCNDkzTzRFPD1MTkZHPL5GRLS0NLg+RU06Q0I6VaABM/5H8=";

describe("packed texts", () => {
  it("a short text is stored as it is", () => {
    expect(packText('{"type":"started","at":1}')).toBe('{"type":"started","at":1}');
  });

  it("a long text that says the usual takes a quarter of its room", () => {
    expect(packText(arrival).length).toBeLessThan(arrival.length / 4);
  });

  it("what an earlier build has packed is read", () => {
    expect(unpackText(Buffer.from(packedEarlier, "base64"))).toBe(arrival);
  });

  it("whatever is stored is what is read", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), fc.nat(60), (json, times) => {
        const text = json.repeat(times);
        const stored = packText(text);
        expect(typeof stored === "string" ? stored : unpackText(stored)).toBe(text);
      }),
    );
  });
});
