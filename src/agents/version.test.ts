import { expect, test } from "vitest";
import { isOlderVersion } from "./version.js";

test.each([
  ["1.0.33", "2.0", true],
  ["2.0.0", "2.0", false],
  ["10.1.0", "2.0", false],
  ["0.99.9", "0.100", true],
  ["0.166.0-alpha.1", "0.100", false],
  ["1.0.0", "0.100", false],
  ["something else", "0.100", false],
  ["0.0.0", "0.100", false],
])("%s is older than %s: %j", (version, least, isOlder) => {
  expect(isOlderVersion(version, least)).toBe(isOlder);
});
