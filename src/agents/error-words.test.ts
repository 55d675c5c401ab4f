import { describe, expect, it } from "vitest";
import { outcomeOfError, resetTime } from "./error-words.js";

const at = Date.parse("2026-11-16T01:00:00Z");
const judge = (text: string) => outcomeOfError(text, { at, login: "log in" });

describe("what an error's words come to", () => {
  it.each([
    ['429 {"type":"error","error":{"type":"rate_limit_error","message":"Too fast"}}', "limited"],
    ["API Error: Request rejected (429) · This request would exceed your account's rate limit.", "limited"],
    ["You’ve hit your usage limit. Upgrade to Pro or try again at 2:54 AM.", "limited"],
    ["exceeded retry limit, last status: 429 Too Many Requests, request id: x", "limited"],
    ['529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', "transient"],
    ["Selected model is at capacity. Please try a different model.", "transient"],
    ['500 {"type":"error","error":{"type":"api_error","message":"Internal server error"}}', "transient"],
    ["terminated", "transient"],
    ["fetch failed", "transient"],
    ["unexpected status 503 Service Unavailable", "transient"],
    ['400 {"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum"}}', "overflow"],
    ["Codex ran out of room in the model's context window. Start a new thread", "overflow"],
    ["Your input exceeds the context window of this model", "overflow"],
    ['401 {"error":{"type":"authentication_error","message":"invalid x-api-key"}}', "failed"],
    ["Your credit balance is too low: rate limit", "failed"],
    ["something else in req_429abc after 500 tokens", "failed"],
    ["", "failed"],
  ])("%s: %s", (text, type) => {
    expect(judge(text).type).toBe(type);
  });

  it("only what is overloaded asks for fewer at once", () => {
    expect(judge("529 Overloaded")).toMatchObject({ overloaded: true });
    expect(judge("502 Bad gateway")).not.toHaveProperty("overloaded");
  });

  it("a login that is missing says what to run, and the reason is the message alone", () => {
    expect(judge('401 {"error":{"type":"authentication_error","message":"invalid \\"x\\" key"}}')).toEqual({
      type: "failed",
      reason: '401 invalid "x" key (log in)',
    });
  });

  it.each([
    ["Please try again in 20s.", 20_000],
    ["try again in 1.5s", 1500],
    ["Your quota will reset after 5h12m30s.", 18_750_000],
    ["try again in 1 day 2 hours and 3 minutes", 93_780_000],
    ["retry-after: 30", 30_000],
    ['{"resets_at":1794798000}', 7_200_000],
    ["usage limit reached|1794798000", 7_200_000],
    ["resets at 2026-11-16T03:00:00Z", 7_200_000],
  ])("%s is in %i ms", (text, ms) => {
    expect(resetTime(text, at)).toBe(at + ms);
  });

  it("a time of day is the next one on this machine's clock", () => {
    const noon = new Date(2026, 10, 16, 12, 0).getTime();
    expect(resetTime("try again at 3:05 PM.", noon)).toBe(new Date(2026, 10, 16, 15, 6).getTime());
    expect(resetTime("resets 3am", noon)).toBe(new Date(2026, 10, 17, 3, 1).getTime());
    expect(resetTime("try again at Jan 1st, 2100 12:00 AM.", noon)).toBe(new Date(2100, 0, 1, 0, 1).getTime());
    expect(resetTime("try again later", noon)).toBe(null);
  });

  it("a time of day that has just passed is not tomorrow's", () => {
    const soon = new Date(2026, 10, 16, 12, 0, 20).getTime();
    expect(resetTime("try again at 12:00 PM.", soon)).toBe(new Date(2026, 10, 16, 12, 1).getTime());
    const later = new Date(2026, 10, 16, 12, 2, 0).getTime();
    expect(resetTime("try again at 12:00 PM.", later)).toBe(later + 60_000);
  });
});
