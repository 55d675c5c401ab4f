import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../core/ports/agent-event.js";
import { codexReader } from "./stream.js";

const at = Date.parse("2026-11-16T01:00:00Z");

function read(...lines: readonly string[]): AgentEvent[] {
  const usageOf = (tokens: { input: number; output: number }) => ({
    input_tokens: tokens.input,
    output_tokens: tokens.output,
    cost_usd: null,
  });
  const reader = codexReader({ usageOf, at: () => at });
  return lines.flatMap((line) => [...reader.line(line)]);
}

/** Recorded from the real program. */
function recorded(name: string): AgentEvent[] {
  return read(...readFileSync(`test/real-agents/fixtures/codex/${name}.jsonl`, "utf8").split("\n"));
}

const outcomeOf = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === "finished" ? [event.outcome] : [])).at(-1);
const ofType = <T extends AgentEvent["type"]>(events: readonly AgentEvent[], type: T) =>
  events.filter((event): event is Extract<AgentEvent, { type: T }> => event.type === type);
const failed = (message: string) => JSON.stringify({ type: "turn.failed", error: { message } });

describe("what codex's stream tells", () => {
  it("the thread comes first, calls are followed by their results, and the last text is the answer", () => {
    const events = recorded("success");
    expect(events[0]).toMatchObject({ type: "session", id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    const calls = ofType(events, "tool-call");
    expect(calls).toHaveLength(2);
    expect(ofType(events, "tool-result").map(({ id, failed }) => ({ id, failed }))).toEqual(
      calls.map(({ id }) => ({ id, failed: false })),
    );
    expect(ofType(events, "text").at(-1)?.text).toBe("Done: hello.txt is committed.");
    expect(outcomeOf(events)).toEqual({ type: "ended" });
  });

  it.each([
    ["rate-limited", { type: "limited", until: null }],
    ["overloaded", { type: "transient", overloaded: true }],
    ["server-error", { type: "transient" }],
    ["context-overflow", { type: "overflow" }],
    ["context-overflow-resumed", { type: "overflow" }],
    ["unauthorized", { type: "failed", reason: expect.stringContaining("run codex login") }],
    ["rate-limited-once", { type: "ended" }],
    ["cut-stream", { type: "ended" }],
    ["tool-denied", { type: "ended" }],
  ])("%s comes to %j", (name, outcome) => {
    expect(outcomeOf(recorded(name))).toMatchObject(outcome);
  });

  it("a used-up plan is waited for until the time that is told, on this machine's clock", () => {
    expect(outcomeOf(recorded("usage-limit"))).toMatchObject({
      type: "limited",
      until: new Date(2100, 0, 1, 0, 1).getTime(),
    });
    const inHours = failed("You’ve hit your usage limit. Try again in 3 hours 5 minutes.");
    expect(outcomeOf(read(inHours))).toMatchObject({ type: "limited", until: at + 11_100_000 });
  });

  it("a stream that broke off and stayed so is worth another try", () => {
    expect(
      outcomeOf(read(failed("stream disconnected before completion: error decoding response body"))),
    ).toMatchObject({
      type: "transient",
    });
  });

  it.each(["interrupted", "killed", "stale-session"])("%s: nothing is said of how the turn went", (name) => {
    expect(outcomeOf(recorded(name))).toBeUndefined();
  });

  it("its warnings and its own new tries are no failures", () => {
    const warning = {
      type: "item.completed",
      item: { id: "item_0", type: "error", message: "Model metadata not found" },
    };
    const again = { type: "error", message: "Reconnecting... 1/5 (stream disconnected)" };
    expect(read(JSON.stringify(warning), JSON.stringify(again))).toEqual([]);
  });

  it("changes of files come as a call and a result, also when only their end is told", () => {
    const item = { id: "item_3", type: "file_change", changes: [{ path: "a.txt", kind: "add" }], status: "completed" };
    expect(read(JSON.stringify({ type: "item.completed", item }))).toEqual([
      { type: "tool-call", id: "item_3", name: "apply_patch", input: { changes: item.changes } },
      { type: "tool-result", id: "item_3", text: "", failed: false },
    ]);
  });

  it.each(["", "not JSON", "[]", "null", '{"type":7}', '{"type":"item.completed"}', '{"type":"turn.failed"}'])(
    "a foreign line is no exception: %s",
    (line) => {
      expect(() => read(line)).not.toThrow();
    },
  );
});
