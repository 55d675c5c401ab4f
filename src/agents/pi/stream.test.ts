import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../core/ports/agent-event.js";
import { piReader } from "./stream.js";

function read(...lines: readonly string[]): AgentEvent[] {
  const reader = piReader(() => null);
  return lines.flatMap((line) => [...reader.line(line)]);
}

/** Recorded from the real program; every answer of the model has 1,150 tokens in and 10 out. */
function recorded(name: string): AgentEvent[] {
  return read(...readFileSync(`test/real-agents/fixtures/pi/${name}.jsonl`, "utf8").split("\n"));
}

const ofType = <T extends AgentEvent["type"]>(events: readonly AgentEvent[], type: T) =>
  events.filter((event): event is Extract<AgentEvent, { type: T }> => event.type === type);
const outcomeOf = (events: readonly AgentEvent[]) => ofType(events, "finished").at(-1)?.outcome;
const line = (event: object) => JSON.stringify(event);
const answer = (more: object) => line({ type: "message_end", message: { role: "assistant", content: [], ...more } });

describe("what pi's stream tells", () => {
  it("the session comes first, calls are followed by their results, and the last text is the answer", () => {
    const events = recorded("success");
    expect(events[0]).toEqual({ type: "session", id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    const calls = ofType(events, "tool-call");
    expect(calls.map(({ name }) => name)).toEqual(["write", "bash"]);
    expect(ofType(events, "tool-result").map(({ id }) => id)).toEqual(calls.map(({ id }) => id));
    expect(ofType(events, "text").at(-1)?.text).toBe("Done: hello.txt is committed.");
    expect(outcomeOf(events)).toEqual({ type: "ended" });
  });

  it.each([
    ["success", 3450, 30, 0.0028125],
    ["resume", 2300, 20, 0.001875],
  ])("%s: the usage is the sum of this turn's answers alone", (name, input, output, cost) => {
    const usage = ofType(recorded(name), "usage").at(-1)?.usage;
    expect(usage).toEqual({ input_tokens: input, output_tokens: output, cost_usd: expect.closeTo(cost, 9) });
  });

  it.each([
    ["rate-limited-once", { type: "ended" }],
    ["cut-stream", { type: "ended" }],
    ["rate-limited", { type: "limited", until: null }],
    ["usage-limit-key", { type: "limited", until: null }],
    ["overloaded", { type: "transient", overloaded: true }],
    ["server-error", { type: "transient" }],
    ["unauthorized", { type: "failed", reason: expect.stringContaining("/login") }],
    ["context-overflow", { type: "overflow" }],
    ["context-overflow-resumed", { type: "overflow" }],
  ])("%s: although pi leaves with 0", (name, outcome) => {
    expect(outcomeOf(recorded(name))).toMatchObject(outcome);
  });

  it.each(["interrupted", "killed", "stale-session"])("%s: no word on how the turn went", (name) => {
    expect(outcomeOf(recorded(name))).toBe(undefined);
  });

  it("a limit at which pi tries again by itself is told each time", () => {
    expect(ofType(recorded("rate-limited"), "rate-limited")).toHaveLength(3);
  });

  it("a call that the guard refused is told from one that failed", () => {
    const ended = (text: string) =>
      line({
        type: "tool_execution_end",
        toolCallId: "1",
        toolName: "bash",
        isError: true,
        result: { content: [{ type: "text", text }] },
      });
    expect(read(ended("Ratchet's guard: no pushes"))[0]).toEqual({
      type: "permission-denied",
      tool: "bash",
      reason: "no pushes",
    });
    expect(read(ended("exit 1")).map(({ type }) => type)).toEqual(["tool-result"]);
  });

  it("a session of another folder is none, and pi's question about it no line", () => {
    expect(outcomeOf(read("Session found in different project: /x", "Fork this session? [y/N] "))).toEqual({
      type: "no-session",
    });
  });

  it("an end without an answer is no good end, and a line too long to be whole still tells the end", () => {
    expect(outcomeOf(read('{"type":"agent_end","messages":['))).toMatchObject({ type: "failed" });
    expect(piReader(() => null).isEnough?.('{"type":"agent_end","messages":[')).toBe(true);
    expect(piReader(() => null).isEnough?.(answer({ stopReason: "stop" }))).toBe(false);
    const events = read(answer({ stopReason: "stop" }), `{"type":"agent_end","messages":[${"x".repeat(100)}`);
    expect(outcomeOf(events)).toEqual({ type: "ended" });
  });

  it("a price that pi does not know is looked up, and unknown where nobody knows", () => {
    const usage = { input: 1000, output: 10, cacheRead: 500, cost: { total: 0 } };
    const reader = piReader((model, { input, cached }) => (model === "m" ? input + cached : null));
    const told = (model: string) => reader.line(answer({ model, usage, stopReason: "stop" })).at(-1);
    expect(told("m")).toEqual({ type: "usage", usage: { input_tokens: 1500, output_tokens: 10, cost_usd: 2000 } });
    expect(told("other")).toMatchObject({ usage: { cost_usd: null } });
  });

  it.each(["", "null", "[]", '"x"', "{", '{"type":"message_end"}', '{"type":"message_end","message":5}', '{"type":7}'])(
    "%j is no event",
    (text) => {
      expect(read(text)).toEqual([]);
    },
  );
});
