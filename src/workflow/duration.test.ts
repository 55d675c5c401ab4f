import { expect, test } from "vitest";
import { parseDuration } from "./duration.js";

test.each([
  ["250ms", 250],
  ["90s", 90_000],
  ["5m", 300_000],
  ["1h", 3_600_000],
  ["2d", 172_800_000],
  ["1.5h", 5_400_000],
  [" 0s ", 0],
  ["90", null],
  ["", null],
  ["s", null],
  ["-5m", null],
  ["5 m", null],
  ["5min", null],
  ["5M", null],
  ["1e3s", null],
  ["999999999d", 36_525 * 86_400_000],
  ["9999999999d", null],
])("%j is %s milliseconds", (text, expected) => {
  expect(parseDuration(text)).toBe(expected);
});
