import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../core/ports/agent-event.js";
import { transcriptLines } from "./transcript.js";

describe("a transcript as a person reads it", () => {
  it.each<[AgentEvent, string[]]>([
    [{ type: "text", text: "Two\nlines\n" }, ["Two", "lines", ""]],
    [{ type: "text", text: "  " }, []],
    [{ type: "tool-call", id: "1", name: "Bash", input: { command: "npm\ntest" } }, ["→ Bash npm test"]],
    [{ type: "tool-call", id: "1", name: "Odd", input: { a: 1 } }, ['→ Odd {"a":1}']],
    [{ type: "tool-result", id: "1", text: "ok", failed: false }, ["← ok"]],
    [{ type: "tool-result", id: "1", text: "\u001b[31mno", failed: true }, ["✗ no"]],
    [{ type: "permission-denied", tool: "Bash", reason: "git push" }, ["✗ refused: Bash: git push"]],
    [{ type: "rate-limited", until: 0, reason: "5 h" }, ["… limited: 5 h, until 1970-01-01T00:00:00.000Z"]],
    [{ type: "finished", outcome: { type: "ended" } }, []],
    [{ type: "finished", outcome: { type: "failed", reason: "no login" } }, ["failed: no login"]],
    [{ type: "session", id: "s" }, []],
  ])("%j is %j", (event, lines) => {
    expect(transcriptLines(event)).toEqual(lines);
  });

  it("cuts what a tool prints, never what the agent says", () => {
    const long = "x".repeat(10_000);
    expect(transcriptLines({ type: "tool-result", id: "1", text: long, failed: false })[0]?.length).toBeLessThan(210);
    expect(transcriptLines({ type: "text", text: long })[0]).toBe(long);
  });
});
