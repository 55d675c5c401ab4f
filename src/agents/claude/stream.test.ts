import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../core/ports/agent-event.js";
import { costOf } from "../prices.js";
import { claudeReader } from "./stream.js";

const at = Date.parse("2026-11-16T01:00:00Z");

function read(...lines: readonly string[]): AgentEvent[] {
  const reader = claudeReader({ priceOf: costOf, at: () => at });
  return lines.flatMap((line) => [...reader.line(line)]);
}

/** Recorded from the real program; every answer of the model has 1,150 tokens in and 10 out. */
function recorded(name: string): AgentEvent[] {
  return read(...readFileSync(`test/real-agents/fixtures/claude/${name}.jsonl`, "utf8").split("\n"));
}

const outcomeOf = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === "finished" ? [event.outcome] : [])).at(-1);
const usageOf = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === "usage" ? [event.usage] : [])).at(-1);
const ofType = <T extends AgentEvent["type"]>(events: readonly AgentEvent[], type: T) =>
  events.filter((event): event is Extract<AgentEvent, { type: T }> => event.type === type);
const result = (fields: object) => JSON.stringify({ type: "result", subtype: "success", is_error: true, ...fields });

describe("what claude's stream tells", () => {
  it("the session comes first, calls are followed by their results, and the last text is the answer", () => {
    const events = recorded("success");
    expect(events[0]).toEqual({ type: "session", id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    const calls = ofType(events, "tool-call");
    expect(calls.map(({ name }) => name)).toEqual(["Write", "Bash"]);
    expect(ofType(events, "tool-result").map(({ id }) => id)).toEqual(calls.map(({ id }) => id));
    expect(ofType(events, "text").at(-1)?.text).toBe("Done: hello.txt is committed.");
    expect(outcomeOf(events)).toEqual({ type: "ended" });
  });

  it.each([
    ["success", 3450, 30],
    ["resume", 2300, 20],
    ["interrupted", 1150, 10],
    ["cut-stream", 1150, 10],
  ])("%s: %i tokens in and %i out, of this turn alone", (name, input_tokens, output_tokens) => {
    expect(usageOf(recorded(name))).toMatchObject({ input_tokens, output_tokens });
  });

  it("a message in several lines counts once, and one that was cut short has a price too", () => {
    const events = recorded("killed");
    expect(usageOf(events)).toEqual({ input_tokens: 1150, output_tokens: 1, cost_usd: expect.closeTo(0.0008025, 8) });
    expect(outcomeOf(events)).toBeUndefined();
  });

  it.each([
    ["stale-session", { type: "no-session" }],
    ["rate-limited", { type: "limited", until: null }],
    ["usage-limit", { type: "limited", until: Date.UTC(2100, 0) }],
    ["overloaded", { type: "transient", overloaded: true }],
    ["server-error", { type: "transient" }],
    ["context-overflow", { type: "overflow" }],
    ["context-overflow-resumed", { type: "overflow" }],
    ["interrupted", { type: "failed", reason: "the turn was interrupted" }],
    ["rate-limited-once", { type: "ended" }],
    ["tool-denied", { type: "ended" }],
  ])("%s comes to %j", (name, outcome) => {
    expect(outcomeOf(recorded(name))).toMatchObject(outcome);
  });

  it("only an overload asks for fewer at once", () => {
    expect(outcomeOf(recorded("server-error"))).not.toHaveProperty("overloaded");
  });

  it("a login that is missing says what to run", () => {
    expect(outcomeOf(recorded("unauthorized"))).toMatchObject({
      type: "failed",
      reason: expect.stringContaining("/login"),
    });
    const notLoggedIn = result({ api_error_status: null, result: "Not logged in · Please run /login" });
    expect(outcomeOf(read(notLoggedIn))).toMatchObject({
      type: "failed",
      reason: expect.stringContaining("ANTHROPIC_API_KEY"),
    });
  });

  it("what the guard refused is told with its reason", () => {
    expect(ofType(recorded("tool-denied"), "permission-denied")).toEqual([
      { type: "permission-denied", tool: "Bash", reason: "Pushing is not allowed here." },
    ]);
  });

  it.each([
    ["Claude AI usage limit reached|1794798000", { is_error: true }],
    ["Claude AI usage limit reached|1794798000", { is_error: false }],
    ["You've hit your session limit · resets 3am (UTC)", { api_error_status: 429 }],
  ])("%s is a limit with its time", (text, fields) => {
    const outcome = outcomeOf(read(result({ ...fields, result: text })));
    expect(outcome).toMatchObject({ type: "limited", until: expect.any(Number) });
  });

  it("the provider's own hold is no used-up plan", () => {
    const text = "API Error: Server is temporarily limiting requests (not your usage limit) · Too many.";
    expect(outcomeOf(read(result({ api_error_status: 429, result: text })))).toMatchObject({
      type: "transient",
      overloaded: true,
    });
  });

  it("a turn of which nothing positive is said has not ended well", () => {
    expect(outcomeOf(read(JSON.stringify({ type: "result" })))).toMatchObject({ type: "failed" });
    expect(outcomeOf(read(result({ is_error: false, subtype: "error_max_turns" })))).toMatchObject({ type: "failed" });
    expect(
      outcomeOf(read('{"type":"assistant","message":{"content":[{"type":"text","text":"Done"}]}}')),
    ).toBeUndefined();
  });

  it("what helpers say is not the agent's word", () => {
    const message = { id: "m", model: "x", content: [{ type: "text", text: "I am a helper" }], usage: {} };
    const events = read(JSON.stringify({ type: "assistant", parent_tool_use_id: "toolu_1", message }));
    expect(ofType(events, "text")).toEqual([]);
  });

  it.each([
    "",
    "not JSON",
    "[]",
    "null",
    '{"type":7}',
    '{"type":"assistant"}',
    '{"type":"user","message":{"content":"x"}}',
  ])("a foreign line is no exception: %s", (line) => {
    expect(() => read(line)).not.toThrow();
  });
});
