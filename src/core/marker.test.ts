import fc from "fast-check";
import { expect, test } from "vitest";
import { endsWithMarker, hasMarker, markerOf, markersIn, withMarker } from "./marker.js";

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

test.each([
  ["as it was posted", withMarker("Fixed.", "a"), true],
  ["as a forge may give it back", withMarker("Fixed.", "a").replaceAll("\n", "\r\n").concat("\r\n"), true],
  ["quoted, with an answer below", `> Fixed.\n> ${markerOf("a")}\n\nNo, it is not.`, false],
  ["quoted at the end", `It is not:\n\n> Fixed.\n> ${markerOf("a")}`, false],
  ["in the middle of a line", `see ${markerOf("a")}`, false],
])("a text is ours by the marker at its end: %s", (_, text, ours) => {
  expect([endsWithMarker(text), endsWithMarker(text, "a"), endsWithMarker(text, "b")]).toEqual([ours, ours, false]);
});
