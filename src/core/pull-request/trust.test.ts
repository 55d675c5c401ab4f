import { expect, test } from "vitest";
import { isTrusted } from "./trust.js";

test.each([
  [["MEMBER"], "jo", "MEMBER", true],
  [["member"], "jo", "MEMBER", false],
  [["Jo"], "jo", "NONE", true],
  [["@Jo"], "jo", "NONE", true],
  [["@MEMBER"], "jo", "MEMBER", false],
  [["@member"], "member", "NONE", true],
  [["OWNER"], null, "NONE", false],
])("trusted %j, %s who is %s: %s", (trusted, login, association, expected) => {
  expect(isTrusted(trusted, { login, association })).toBe(expected);
});
