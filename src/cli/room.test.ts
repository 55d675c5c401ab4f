import stringWidth from "string-width";
import { expect, it } from "vitest";
import { plain } from "./room.js";

it("whatever counts as plain takes one cell, beside any other such", () => {
  const all = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code)).filter((one) => plain.test(one));
  expect(all.length).toBeGreaterThan(600);
  expect(all.filter((one) => stringWidth(one) !== 1)).toEqual([]);
  expect(stringWidth(all.join(""))).toBe(all.length);
  expect(stringWidth(all.reverse().join(""))).toBe(all.length);
});

it.each(["日本", "e\u0301", "👍", "a\u00ad", "\u200b"])("%j is left to those who know", (text) => {
  expect(plain.test(text)).toBe(false);
});
