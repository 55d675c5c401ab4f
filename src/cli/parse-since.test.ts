import { expect, test } from "vitest";
import { UserError } from "../lib/errors.js";
import { parseSince } from "./parse-since.js";

const now = Date.parse("2026-03-01T12:00:00Z");
const since = (text: string) => new Date(parseSince("--since", text, now)).toISOString();

test.each([
  ["1h", "2026-03-01T11:00:00.000Z"],
  ["90s", "2026-03-01T11:58:30.000Z"],
  ["5m", "2026-03-01T11:55:00.000Z"],
  ["1h30m", "2026-03-01T10:30:00.000Z"],
  ["2d", "2026-02-27T12:00:00.000Z"],
  ["1w", "2026-02-22T12:00:00.000Z"],
  ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.000Z"],
  ["2026-01-31", "2026-01-31T00:00:00.000Z"],
])("%s is %s", (text, expected) => {
  expect(since(text)).toBe(expected);
});

test.each(["", "5", "1 h", "h", "-1h", "1h2", "yesterday", "2026-13-45", "1.5h"])("%j is refused", (text) => {
  expect(() => parseSince("--since", text, now)).toThrow(UserError);
});
