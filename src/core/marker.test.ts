import fc from "fast-check";
import { expect, test } from "vitest";
import { hasMarker, markerOf, markersIn, withMarker } from "./marker.js";

test("a marker is readable, hidden and found again", () => {
  expect(markerOf("reply:12/abc")).toBe("<!-- ratchet:reply:12/abc -->");
  const text = withMarker("Fixed.\n", "reply:12");
  expect(text).toBe("Fixed.\n\n<!-- ratchet:reply:12 -->");
  expect([hasMarker(text, "reply:12"), hasMarker(text, "reply:1")]).toEqual([true, false]);
});

test("no key can end the comment it is hidden in, and every key comes back", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), (key) => {
      const marker = markerOf(key);
      expect(marker.slice(5, -3)).not.toMatch(/--|>|\s\S+\s/);
      expect(markersIn(`a ${marker} b`)).toEqual([key]);
    }),
  );
});

test("a marker that nobody could have written is none", () => {
  expect(markersIn("<!-- ratchet:%zz --> <!-- ratchet:a b -->")).toEqual([]);
});
