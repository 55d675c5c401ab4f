import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { packText, unpackText } from "./packed-text.js";

const arrival = JSON.stringify({
  type: "turn-ended",
  key: "stage:security:v9:a1",
  outcome: { type: "ended" },
  reply: { text: "The order is empty, and nobody has looked. ".repeat(9) },
  commit: "d95897850ed0d214f7a51eacc79cc99190ce5bf2",
});

const packedEarlier =
  "SGrNAc5FI1xqFqcml4Ii16rMkmDpiV6WhWSkKoArMoXMYgWQOyt1FBLzUhTy8kFtEYWMxGKFnPz87NQUPYVRpbQJAVClBs88KZamFpbmFqYGqSkGKUaGJmnmiaaGqYnJyeaWycmWloaWBsmppklpRkq1AGh7tzE=";

describe("packed texts", () => {
  it("a short text is stored as it is", () => {
    expect(packText('{"type":"started","at":1}')).toBe('{"type":"started","at":1}');
  });

  it("a long text takes a third of its room, and less beside one that says the same", () => {
    const alone = packText(arrival);
    const beside = packText(arrival, `[${arrival}]`);
    expect(alone.length).toBeLessThan(arrival.length / 3);
    expect(beside.length).toBeLessThan(alone.length / 2);
  });

  it("what an earlier build has packed is read", () => {
    expect(unpackText(Buffer.from(packedEarlier, "base64"))).toBe(arrival);
  });

  it("whatever is stored is what is read", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), fc.nat(60), fc.json(), (json, times, beside) => {
        const text = json.repeat(times);
        const stored = packText(text, beside);
        expect(typeof stored === "string" ? stored : unpackText(stored, beside)).toBe(text);
      }),
    );
  });

  it("one that was packed beside another text is not read without it", () => {
    const bytes = packText(arrival, "[]");
    expect(() => unpackText(bytes as Uint8Array)).toThrow("Bad dictionary");
  });
});
