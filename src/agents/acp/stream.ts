import type { TurnOutcome, Usage } from "../../core/issue/events.js";
import type { AgentEvent, StreamReader } from "../../core/ports/agent-event.js";
import { type Fields, parseFields, toAmount, toFields, toText } from "../json.js";
import { sessionTold } from "../session-id.js";

/** Reads what the bridge wrote: one event a line. It is our own, but files outlive versions, so nothing is taken on trust. */
export function acpReader(): StreamReader {
  return {
    line: (text) => {
      const fields = parseFields(text);
      const event = fields === null ? null : toEvent(fields);
      return event === null ? [] : [event];
    },
  };
}

function toEvent(fields: Fields): AgentEvent | null {
  const [id, text, reason] = [toText(fields.id), toText(fields.text), toText(fields.reason)];
  switch (fields.type) {
    case "session":
      return sessionTold(id)[0] ?? null;
    case "text":
      return { type: "text", text };
    case "tool-call":
      return { type: "tool-call", id, name: toText(fields.name), input: fields.input };
    case "tool-result":
      return { type: "tool-result", id, text, failed: fields.failed === true };
    case "usage":
      return { type: "usage", usage: toUsage(toFields(fields.usage)) };
    case "permission-denied":
      return { type: "permission-denied", tool: toText(fields.tool), reason };
    case "rate-limited":
      return { type: "rate-limited", until: toTime(fields.until), reason };
    case "finished":
      return { type: "finished", outcome: toOutcome(toFields(fields.outcome)) };
    default:
      return null;
  }
}

function toUsage(fields: Fields): Usage {
  return {
    input_tokens: toAmount(fields.input_tokens),
    output_tokens: toAmount(fields.output_tokens),
    cost_usd: typeof fields.cost_usd === "number" ? fields.cost_usd : null,
  };
}

function toOutcome(fields: Fields): TurnOutcome {
  const reason = toText(fields.reason);
  switch (fields.type) {
    case "ended":
    case "no-session":
      return { type: fields.type };
    case "overflow":
      return { type: "overflow", reason };
    case "transient":
      return { type: "transient", reason, ...(fields.overloaded === true ? { overloaded: true } : {}) };
    case "limited":
      return { type: "limited", until: toTime(fields.until), reason };
    default:
      return { type: "failed", reason };
  }
}

function toTime(value: unknown): number | null {
  return typeof value === "number" && value > 0 ? value : null;
}
