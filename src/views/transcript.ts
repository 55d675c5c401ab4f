import { plainLine, plainText } from "../core/plain-text.js";
import type { AgentEvent } from "../core/ports/agent-event.js";

/** What an agent did, as a person reads it: its words whole, its tools in a line each. */
export function transcriptLines(event: AgentEvent): string[] {
  switch (event.type) {
    case "text":
      return event.text.trim() === "" ? [] : [...plainText(event.text.trim()).split("\n"), ""];
    case "tool-call":
      return [`→ ${cut(`${event.name} ${inputText(event.input)}`)}`];
    case "tool-result":
      return [`${event.failed ? "✗" : "←"} ${cut(event.text)}`];
    case "permission-denied":
      return [`✗ refused: ${cut(`${event.tool}: ${event.reason}`)}`];
    case "rate-limited":
      return [`… limited: ${cut(event.reason)}${event.until === null ? "" : `, until ${isoTime(event.until)}`}`];
    case "finished": {
      const { outcome } = event;
      return outcome.type === "ended"
        ? []
        : [`${outcome.type}${"reason" in outcome ? `: ${cut(outcome.reason)}` : ""}`];
    }
    case "session":
    case "usage":
      return [];
  }
}

const lineMax = 200;
function cut(text: string): string {
  const line = plainLine(text);
  return line.length > lineMax ? `${line.slice(0, lineMax - 1)}…` : line;
}

/** The one thing a tool is mostly asked for; else all of it. */
function inputText(input: unknown): string {
  if (typeof input === "string") return input;
  if (typeof input !== "object" || input === null) return "";
  const fields: Readonly<Record<string, unknown>> = { ...input };
  const telling = ["command", "cmd", "file_path", "path", "pattern", "url"].map((name) => fields[name]);
  const found = telling.find((value) => typeof value === "string");
  return typeof found === "string" ? found : JSON.stringify(input);
}

function isoTime(at: number): string {
  return new Date(at).toISOString();
}
