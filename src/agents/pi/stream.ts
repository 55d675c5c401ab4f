import type { TurnOutcome, Usage } from "../../core/issue/events.js";
import type { AgentEvent, StreamReader } from "../../core/ports/agent-event.js";
import { outcomeOfError } from "../error-words.js";
import { type Fields, parseFields, toAmount, toFields, toList, toText } from "../json.js";
import { sessionTold } from "../session-id.js";

/** Begins every answer of the guard to a refused call, so that it is told from a tool that failed by itself. */
export const refusedWords = "Ratchet's guard: ";

export const loginAdvice = "run pi and use /login, or set the provider's API key and name it in agent.env";

export type PriceOf = (model: string, tokens: { input: number; cached: number; output: number }) => number | null;

/**
 * `pi --mode json`. It leaves with 0 whatever the model did, so the last answer's own stop reason is its word on the
 * turn, given when the agent has ended; a retry that follows gives another one. Lines that repeat a message while it
 * grows are passed over by their beginning: together they are far longer than the rest.
 */
export function piReader(priceOf: PriceOf): StreamReader {
  let usage: Usage | null = null;
  let last: Fields = {};
  const answered = (message: Fields): AgentEvent[] => {
    last = message;
    usage = addUsage(usage, message, priceOf);
    const text = textOf(message.content);
    return [...(text === "" ? [] : [{ type: "text", text } as const]), { type: "usage", usage }];
  };
  return {
    isEnough: (beginning) => repeated.test(beginning) || ended.test(beginning),
    line(text) {
      if (repeated.test(text)) return [];
      if (ended.test(text)) return [{ type: "finished", outcome: outcomeOf(last) }];
      if (otherProject.test(text)) return [{ type: "finished", outcome: { type: "no-session" } }];
      const event = parseFields(text);
      if (event?.type !== "message_end") return event === null ? [] : toEvents(event, toAmount(last.timestamp));
      const message = toFields(event.message);
      return message.role === "assistant" ? answered(message) : [];
    },
  };
}

const repeated = /^\{"type":"(message_update|message_start|tool_execution_update|turn_end|turn_start)"/;
/** With all messages of the turn once more. */
const ended = /^\{"type":"agent_end"/;
/** It would ask whether to copy the session into this folder. */
const otherProject = /^Session found in different project/;

/** `at`: when the last answer came. */
function toEvents(event: Fields, at: number): AgentEvent[] {
  switch (event.type) {
    case "session":
      return sessionTold(event.id);
    case "tool_execution_start":
      return [{ type: "tool-call", id: toText(event.toolCallId), name: toText(event.toolName), input: event.args }];
    case "tool_execution_end":
      return toolEnded(event);
    case "auto_retry_start":
      return limitIn(toText(event.errorMessage), at);
    default:
      return [];
  }
}

function toolEnded(event: Fields): AgentEvent[] {
  const text = textOf(toFields(event.result).content);
  const failed = event.isError === true;
  const result: AgentEvent = { type: "tool-result", id: toText(event.toolCallId), text, failed };
  if (!failed || !text.startsWith(refusedWords)) return [result];
  const reason = text.slice(refusedWords.length);
  return [{ type: "permission-denied", tool: toText(event.toolName), reason }, result];
}

function limitIn(error: string, at: number): AgentEvent[] {
  const outcome = outcomeOfError(error, { at, login: loginAdvice });
  return outcome.type === "limited" ? [{ type: "rate-limited", until: outcome.until, reason: outcome.reason }] : [];
}

function outcomeOf(message: Fields): TurnOutcome {
  switch (message.stopReason) {
    // Cut off by its own length is an ending too: what it did is judged by the gate.
    case "stop":
    case "length":
      return { type: "ended" };
    case "aborted":
      return { type: "failed", reason: "pi was interrupted" };
    case "error":
      return outcomeOfError(toText(message.errorMessage), { at: toAmount(message.timestamp), login: loginAdvice });
    default:
      return { type: "failed", reason: "pi ended without an answer of the model" };
  }
}

function addUsage(sum: Usage | null, message: Fields, priceOf: PriceOf): Usage {
  const told = toFields(message.usage);
  const cached = toAmount(told.cacheRead);
  const input = toAmount(told.input) + cached + toAmount(told.cacheWrite);
  const output = toAmount(told.output);
  const cost = costOf({ message, told }, { input, cached, output }, priceOf);
  const before = sum ?? { input_tokens: 0, output_tokens: 0, cost_usd: 0 };
  return {
    input_tokens: before.input_tokens + input,
    output_tokens: before.output_tokens + output,
    cost_usd: before.cost_usd === null || cost === null ? null : before.cost_usd + cost,
  };
}

/** pi says 0 for a model whose price it does not know. */
function costOf(
  { message, told }: { readonly message: Fields; readonly told: Fields },
  tokens: Parameters<PriceOf>[1],
  priceOf: PriceOf,
): number | null {
  const cost = toAmount(toFields(told.cost).total);
  if (cost > 0 || tokens.input + tokens.output === 0) return cost;
  return priceOf(toText(message.model), tokens);
}

function textOf(content: unknown): string {
  return toList(content)
    .flatMap((one) => {
      const part = toFields(one);
      return part.type === "text" ? [toText(part.text)] : [];
    })
    .join("\n");
}
