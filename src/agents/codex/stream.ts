import type { Usage } from "../../core/issue/events.js";
import type { AgentEvent, StreamReader } from "../../core/ports/agent-event.js";
import { outcomeOfError } from "../error-words.js";
import { type Fields, parseFields, toAmount, toFields, toList, toText } from "../json.js";
import { sessionTold } from "../session-id.js";

export const loginAdvice = "run codex login, or set CODEX_API_KEY";

/** Tokens of a thread. `input` is all of it, `cached` the part that was read from a cache. */
export interface ThreadTokens {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

export interface CodexReading {
  /** From the thread's tokens by now to what this turn used; null: it cannot be told. */
  readonly usageOf: (tokens: ThreadTokens) => Usage | null;
  /** When the newest line was written, for times like "in 5 minutes". */
  readonly at: () => number;
}

/**
 * `codex exec --json`. Items of type "error" are warnings, and an `error` line may be one of its own new tries; only
 * `turn.completed` and `turn.failed` are its word on the turn. Usage is that of the whole thread.
 */
export function codexReader({ usageOf, at }: CodexReading): StreamReader {
  const begun = new Set<string>();
  const toolEvents = (item: Fields, isCompleted: boolean): AgentEvent[] => {
    const id = toText(item.id);
    const call = begun.has(id) ? null : toCall(item);
    begun.add(id);
    return [...(call === null ? [] : [call]), ...(isCompleted ? [toResult(item)] : [])];
  };
  const itemEvents = (item: Fields, isCompleted: boolean): AgentEvent[] => {
    if (item.type === "agent_message") return isCompleted ? [{ type: "text", text: toText(item.text) }] : [];
    return tools.has(toText(item.type)) ? toolEvents(item, isCompleted) : [];
  };
  const judge = (message: string) => outcomeOfError(plain(message), { at: at(), login: loginAdvice });
  return {
    line(text) {
      const event = parseFields(text);
      switch (event?.type) {
        case "thread.started":
          return sessionTold(event.thread_id);
        case "item.started":
        case "item.completed":
          return itemEvents(toFields(event.item), event.type === "item.completed");
        case "error":
          return limitIn(judge(toText(event.message)));
        case "turn.failed":
          return [{ type: "finished", outcome: judge(toText(toFields(event.error).message)) }];
        case "turn.completed":
          return [
            ...usageEvents(usageOf(toTokens(toFields(event.usage)))),
            { type: "finished", outcome: { type: "ended" } },
          ];
        default:
          return [];
      }
    },
  };
}

/** Its own typography, so that words are found. */
function plain(message: string): string {
  return message.replaceAll("’", "'");
}

function usageEvents(usage: Usage | null): AgentEvent[] {
  return usage === null ? [] : [{ type: "usage", usage }];
}

export function toTokens(told: Fields): ThreadTokens {
  return {
    input: toAmount(told.input_tokens),
    cached: toAmount(told.cached_input_tokens),
    output: toAmount(told.output_tokens),
  };
}

function limitIn(outcome: ReturnType<typeof outcomeOfError>): AgentEvent[] {
  if (outcome.type !== "limited") return [];
  return [{ type: "rate-limited", until: outcome.until, reason: outcome.reason }];
}

const tools = new Set(["command_execution", "file_change", "mcp_tool_call", "web_search", "collab_tool_call"]);

function toCall(item: Fields): AgentEvent {
  const named = { type: "tool-call", id: toText(item.id) } as const;
  switch (item.type) {
    case "command_execution":
      return { ...named, name: "shell", input: { command: toText(item.command) } };
    case "file_change":
      return { ...named, name: "apply_patch", input: { changes: toList(item.changes) } };
    case "mcp_tool_call":
      return { ...named, name: `${toText(item.server)}.${toText(item.tool)}`, input: item.arguments };
    case "web_search":
      return { ...named, name: "web_search", input: { query: toText(item.query) } };
    default:
      return { ...named, name: toText(item.tool) || toText(item.type), input: null };
  }
}

function toResult(item: Fields): AgentEvent {
  const failed = item.status === "failed" || item.status === "declined";
  const said = toText(item.aggregated_output) || toText(toFields(item.error).message) || resultText(item.result);
  return { type: "tool-result", id: toText(item.id), text: said, failed };
}

function resultText(result: unknown): string {
  return toList(toFields(result).content)
    .map((part) => toText(toFields(part).text))
    .join("\n");
}
