import { expect, test } from "vitest";
import { cpuTimer } from "../../test/cpu-timer.js";
import { hideSecret, hideVariables, redactor, withoutSecrets } from "./redact.js";

const redact = redactor({
  MY_TOKEN: "correct-horse",
  MY_TOKEN_LONG: "correct-horse-battery",
  SHORT_SECRET: "abc",
  DOLLAR_PASSWORD: "a$&b$1(c)",
  NAME: "harmless-value",
});
const jwt = `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.${"x".repeat(40)}`;
const key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----";

test.each([
  ["x correct-horse y", "x [redacted] y"],
  ["correct-horse-battery", "[redacted]"],
  ["abc harmless-value", "abc harmless-value"],
  ["p=a$&b$1(c);", "p=[redacted];"],
  [`t ghp_${"a1".repeat(18)}!`, "t [redacted]!"],
  [`github_pat_${"a_1".repeat(10)}`, "[redacted]"],
  [`sk-ant-api03-${"Z9".repeat(20)} end`, "[redacted] end"],
  ["AKIAIOSFODNN7EXAMPLE", "[redacted]"],
  ["xoxb-1234567890-abcdef", "[redacted]"],
  [`Bearer ${jwt}`, "Bearer [redacted]"],
  [`a\n${key}\nb\n${key}`, "a\n[redacted]\nb\n[redacted]"],
  ["-----BEGIN PRIVATE KEY-----\nnever ends", "[redacted]"],
  ["risk-averse task-list sk-short", "risk-averse task-list sk-short"],
])("%j is shown as %j", (text, shown) => {
  expect(redact(text)).toBe(shown);
});

test("hostile text is redacted in linear time", () => {
  const spentMs = cpuTimer();
  redact("eyJ".repeat(300_000));
  redact("-----BEGIN PRIVATE KEY-----".repeat(40_000));
  redact("sk-".repeat(300_000));
  expect(spentMs()).toBeLessThan(5000);
});

test("a secret that is told later is hidden too, one too short to be one is not", () => {
  expect(redact("a login-of-gh b")).toBe("a login-of-gh b");
  hideSecret("login-of-gh");
  hideSecret("b");
  expect(redact("a login-of-gh b")).toBe("a [redacted] b");
});

test("settings are shown without the secrets in their variables", () => {
  const token = `ghp_${"a1".repeat(18)}`;
  const env = { API_KEY: "short", MODE: "fast", HEADER: `Bearer ${token}` };
  const shown = { API_KEY: "[redacted]", MODE: "fast", HEADER: "Bearer [redacted]" };
  const settings = (own: typeof env) => ({
    agent: { env: ["API_KEY"] },
    panel: [{ cerberus: { timeout: 3, env: own } }],
  });
  expect(withoutSecrets(settings(env))).toEqual(settings(shown));
});

test("what a reviewer's variables hold is hidden like that of our own", () => {
  hideVariables({ REVIEW_API_KEY: "given-in-the-file", MODE: "ordinary-words" });
  expect(redact("given-in-the-file ordinary-words")).toBe("[redacted] ordinary-words");
});
