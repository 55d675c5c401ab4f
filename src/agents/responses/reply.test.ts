import { describe, expect, it } from "vitest";
import { isPassing, readReply } from "./reply.js";

describe("an answer of a model server", () => {
  it.each([
    [{ output_text: "hi" }, "hi"],
    [
      {
        output: [
          { type: "reasoning" },
          { type: "message", content: [{ text: "a" }, { type: "refusal" }, { text: "b" }] },
        ],
      },
      "ab",
    ],
    [{ output: [] }, ""],
    [{ choices: [] }, undefined],
    ["text", undefined],
    [null, undefined],
  ])("%j says %j", (body, text) => {
    expect(readReply(body)?.text).toBe(text);
  });

  it.each([
    [{ status: "completed", error: null, output_text: "hi" }, null],
    [
      { status: "incomplete", incomplete_details: { reason: "max_output_tokens" }, output_text: "half" },
      { words: 'its status is "incomplete": max_output_tokens', isPassing: false },
    ],
    [
      { status: "failed", error: { message: "model blew" }, output_text: "some" },
      { words: 'its status is "failed": model blew', isPassing: true },
    ],
    [
      { status: "failed", error: { code: "invalid_prompt", message: "no" } },
      { words: 'its status is "failed": invalid_prompt: no', isPassing: false },
    ],
    [
      { status: "cancelled", output: [] },
      { words: 'its status is "cancelled"', isPassing: false },
    ],
    [
      { status: "in_progress", output: [] },
      { words: 'its status is "in_progress"', isPassing: true },
    ],
  ])("%j has failed as %j", (body, failure) => {
    expect(readReply(body)?.failure).toEqual(failure);
  });

  it("tells usage where it is whole", () => {
    const usage = { input_tokens: 3, output_tokens: 4 };
    expect(readReply({ output_text: "", usage })?.usage).toEqual(usage);
    expect(readReply({ output_text: "", usage: { input_tokens: "3" } })?.usage).toBeNull();
  });

  it("is tried again only where that may help", () => {
    expect([200, 400, 401, 408, 429, 500, 503].filter(isPassing)).toEqual([408, 429, 500, 503]);
  });
});
