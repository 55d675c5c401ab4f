import { expect, test } from "vitest";
import { toSessionId } from "./session-id.js";

test.each([
  ["0199-abc", true],
  ["sé😀 two words", true],
  ["--not-an-option", true],
  ["x".repeat(512), true],
  ["x".repeat(513), false],
  ["a\0b", false],
  ["a\nb", false],
  ["a\u0085b", false],
  ["\ud800", false],
  ["", false],
  [12, false],
  [null, false],
])("%j may be a session's id: %j", (value, isUsable) => {
  expect(toSessionId(value)).toBe(isUsable ? value : null);
});
