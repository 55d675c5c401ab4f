import { describe, expect, test } from "vitest";
import { type Failure, GithubError, nextStep, type Tries } from "./failure.js";

const now = 1_000_000_000;
const tries: Tries = { now, repeatable: true, outages: 0, limits: 0, backoffMs: [500, 2000] };
const failure = (status: number | null, rest: Partial<Failure> = {}): Failure => ({
  ...{ status, message: "", headers: {}, timedOut: false },
  ...rest,
});
const reset = (seconds: number) => ({
  "x-ratelimit-remaining": "0",
  "x-ratelimit-reset": String(now / 1000 + seconds),
});
const wait = (reason: string, until: number) => ({ type: "wait", reason, until });
const giveUp = (retryable: boolean) => ({ type: "give-up", retryable });

describe("what a failed request leads to", () => {
  test.each<[string, Failure, Partial<Tries>, object]>([
    ["a bad gateway is tried again", failure(502), {}, wait("outage", now + 500)],
    ["later, later", failure(503), { outages: 1 }, wait("outage", now + 2000)],
    ["three tries are enough", failure(504), { outages: 2 }, giveUp(true)],
    ["a dropped connection is tried again", failure(null), {}, wait("outage", now + 500)],
    ["what may have been done is not", failure(null), { repeatable: false }, giveUp(true)],
    ["a time-out has waited enough", failure(null, { timedOut: true }), {}, giveUp(true)],
    ["a refusal is one", failure(404), {}, giveUp(false)],
    ["a refusal without a limit is one", failure(403, { message: "Resource not accessible" }), {}, giveUp(false)],
    ["a used-up limit is waited for", failure(403, { headers: reset(60) }), {}, wait("rate-limit", now + 61_000)],
    ["one that has just reset, a moment", failure(429, { headers: reset(-9) }), {}, wait("rate-limit", now + 1000)],
    ["one of a year is not", failure(403, { headers: reset(31_536_000) }), {}, giveUp(true)],
    [
      "a secondary limit says how long",
      failure(403, { headers: { "retry-after": "7" } }),
      { repeatable: false },
      wait("secondary-limit", now + 7000),
    ],
    [
      "or a minute",
      failure(403, { message: "You have exceeded a secondary rate limit." }),
      {},
      wait("secondary-limit", now + 60_000),
    ],
    ["too many requests is a limit", failure(429), {}, wait("secondary-limit", now + 60_000)],
    ["but not for ever", failure(429), { limits: 5 }, giveUp(true)],
  ])("%s", (_what, failed, more, expected) => {
    expect(nextStep(failed, { ...tries, ...more })).toEqual(expected);
  });
});

test("an error says what was asked and what came back, in one line", () => {
  const failed = failure(401, { message: "Bad\ncredentials" });
  const error = new GithubError("forge", "GET /user", {
    failure: failed,
    retryable: false,
    unsure: false,
    cause: null,
  });
  expect(error.message).toBe("GET /user: 401, Bad credentials");
  expect([error.name, error.what, error.hint]).toEqual(["ExternalError", "forge", expect.stringContaining("token")]);
});
