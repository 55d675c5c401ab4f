import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../core/ports/agent-event.js";
import { type Fields, parseFields, toFields } from "../json.js";
import { Spending } from "./spending.js";
import { Updates } from "./updates.js";

const at = Date.parse("2026-11-16T01:00:00Z");

/** Recorded from the real programs: what they said after the session was there, and their answer to the prompt. */
function recorded(program: string, name: string) {
  const file = `test/real-agents/fixtures/${program}/${name}.jsonl`;
  const lines = readFileSync(file, "utf8")
    .split("\n")
    .flatMap((text): Fields[] => {
      const fields = parseFields(text);
      return fields === null ? [] : [fields];
    });
  const answers = lines.flatMap((one, index) => ("result" in one || "error" in one ? [index] : []));
  const updates = new Updates(program);
  const said = lines.slice(answers.at(-2)).filter(({ method }) => method === "session/update");
  const events = said.flatMap(({ params }) => updates.add(toFields(toFields(params).update)));
  const usage = new Spending().total(toFields(lines[answers.at(-1) ?? 0]?.result));
  return { updates, events: [...events, ...updates.flush()], usage };
}

const play = (...updates: Fields[]): AgentEvent[] => {
  const all = new Updates();
  return [...updates.flatMap((update) => all.add(update)), ...all.flush()];
};
const chunk = (text: string, messageId?: string) => ({
  sessionUpdate: "agent_message_chunk",
  content: { type: "text", text },
  ...(messageId === undefined ? {} : { messageId }),
});
const texts = (events: readonly AgentEvent[]) => events.flatMap((event) => (event.type === "text" ? [event.text] : []));

describe("what a program's updates tell", () => {
  it.each(["claude-agent-acp", "codex-acp"])("%s: calls with their input, their results, the last text", (program) => {
    const { events, usage } = recorded(program, "success");
    const calls = events.flatMap((event) => (event.type === "tool-call" ? [event] : []));
    expect(calls).toHaveLength(2);
    expect(JSON.stringify(calls[1]?.input)).toContain("git add --all");
    const results = events.flatMap((event) => (event.type === "tool-result" ? [event.id] : []));
    expect(results).toEqual(calls.map(({ id }) => id));
    expect(texts(events).at(-1)).toBe("Done: hello.txt is committed.");
    expect(usage).toEqual({ input_tokens: 3450, output_tokens: 30, cost_usd: null });
  });

  it.each(["claude-agent-acp", "codex-acp"])("%s: what is told again of a session is not this turn's", (program) => {
    const { events, usage } = recorded(program, "resume");
    expect(texts(events)).not.toContain("Done: hello.txt is committed.");
    expect(usage).toEqual({ input_tokens: 2300, output_tokens: 20, cost_usd: null });
  });

  it.each([
    ["rate-limited", "limited"],
    ["overloaded", "transient"],
    ["context-overflow", "overflow"],
    ["success", undefined],
    ["resume", undefined],
  ])("codex-acp tells %s as a message and ends as if all were well", (name, type) => {
    expect(recorded("codex-acp", name).updates.hiddenFailure(at)?.type).toBe(type);
  });

  it("a model that speaks of limits is not at one", () => {
    const said = new Updates();
    said.add(chunk("I fixed the rate limit error."));
    said.flush();
    expect(said.hiddenFailure(at)).toBe(null);
  });

  it("a message in pieces is one text; another message or a tool ends it", () => {
    expect(texts(play(chunk("a", "1"), chunk("b", "1"), chunk("c", "2")))).toEqual(["ab", "c"]);
    const call = { sessionUpdate: "tool_call", toolCallId: "t", title: "x", status: "pending" };
    expect(texts(play(chunk("a"), call, chunk("b")))).toEqual(["a", "b"]);
    expect(texts(play(chunk("a"), { sessionUpdate: "usage_update", used: 1 }, chunk("b")))).toEqual(["ab"]);
  });

  it("a call is told once, with the input it came to", () => {
    const update = (more: object) => ({ sessionUpdate: "tool_call_update", toolCallId: "t", ...more });
    const events = play(
      { sessionUpdate: "tool_call", toolCallId: "t", title: "Terminal", kind: "execute", rawInput: {} },
      update({ rawInput: { command: "ls" } }),
      update({ status: "completed", rawOutput: "a.txt" }),
      update({ status: "completed" }),
    );
    expect(events).toEqual([
      { type: "tool-call", id: "t", name: "execute", input: { command: "ls" } },
      { type: "tool-result", id: "t", text: "a.txt", failed: false },
    ]);
  });

  it("a command is told once it is known, not with its folder alone", () => {
    const call = { toolCallId: "t", kind: "execute", title: "bash", status: "pending" };
    const events = play(
      { sessionUpdate: "tool_call", ...call, rawInput: { cwd: "/w" } },
      { sessionUpdate: "tool_call_update", ...call, status: "in_progress", rawInput: { cwd: "/w", command: "ls" } },
    );
    expect(events).toEqual([{ type: "tool-call", id: "t", name: "execute", input: { cwd: "/w", command: "ls" } }]);
  });

  it("what a request for permission shows is for the guard, and no result", () => {
    const updates = new Updates();
    const content = [{ type: "content", content: { type: "text", text: "[in the worktree]" } }];
    const asked = updates.describe({ toolCallId: "t", kind: "execute", title: "ls", content });
    expect(asked.fields).toMatchObject({ title: "ls", content });
    const ended = { sessionUpdate: "tool_call_update", toolCallId: "t", status: "completed", content: [] };
    expect(updates.add(ended)).toEqual([{ type: "tool-result", id: "t", text: "", failed: false }]);
  });
});
