import type { TurnOutcome, Usage } from "../../core/issue/events.js";
import type { AgentEvent, StreamReader } from "../../core/ports/agent-event.js";
import { outcomeOfError, resetTime } from "../error-words.js";
import { type Fields, parseFields, toAmount, toFields, toList, toText } from "../json.js";
import { tokensByModel, tokensOfMessage } from "../message-tokens.js";
import type { PricedTokens } from "../prices.js";
import { sessionTold } from "../session-id.js";

export const loginAdvice = "run claude and use /login, or set ANTHROPIC_API_KEY";

export interface ClaudeReading {
  /** null: unknown. For what the program has not priced itself, which it does at the end. */
  readonly priceOf: (model: string, tokens: PricedTokens) => number | null;
  /** When the newest line was written, for times like "in 5 minutes". */
  readonly at: () => number;
}

/**
 * `claude -p --output-format stream-json`. A message comes as one line for each of its blocks, each with the same usage;
 * so usage is kept by message, and it is too low in what was written until the last line, `result`, tells it all. That
 * line also says "success" of turns that failed: `is_error` is what counts.
 */
export function claudeReader({ priceOf, at }: ClaudeReading): StreamReader {
  const usages = new Map<string, Usage>();
  const failures = new Map<string, string>();
  let [lastText, limitedUntil] = ["", null as number | null];

  const assistant = (event: Fields): AgentEvent[] => {
    const message = toFields(event.message);
    // What the program says in the model's name: the error that `result` repeats.
    if (message.model === "<synthetic>") return [];
    usages.set(toText(message.id), messageUsage(message, priceOf));
    const events = toList(message.content).flatMap((block) => toBlockEvents(toFields(block), isOwn(event)));
    for (const one of events) if (one.type === "text") lastText = one.text;
    return [...events, { type: "usage", usage: sumOf(usages.values()) }];
  };
  const user = (event: Fields): AgentEvent[] =>
    toList(toFields(event.message).content).flatMap((block) => {
      const result = toToolResult(toFields(block));
      if (result?.failed) failures.set(result.id, excerpt(result.text));
      return result === null ? [] : [result];
    });
  const limit = (info: Fields): AgentEvent[] => {
    if (info.status !== "rejected") return [];
    limitedUntil = toAmount(info.resetsAt) === 0 ? null : toAmount(info.resetsAt) * 1000;
    return [
      {
        type: "rate-limited",
        until: limitedUntil,
        reason: `limit reached: ${toText(info.rateLimitType) || "requests"}`,
      },
    ];
  };
  const result = (event: Fields): AgentEvent[] => [
    ...(isSaid(event) && toText(event.result) !== lastText
      ? [{ type: "text", text: toText(event.result) } as const]
      : []),
    ...toList(event.permission_denials).map((one) => toDenial(toFields(one), failures)),
    { type: "usage", usage: resultUsage(event) ?? sumOf(usages.values()) },
    { type: "finished", outcome: resultOutcome(event, limitedUntil, at()) },
  ];
  return {
    line(text) {
      const event = parseFields(text);
      switch (event?.type) {
        case "system":
          return systemEvents(event);
        case "assistant":
          return assistant(event);
        case "user":
          return user(event);
        case "rate_limit_event":
          return limit(toFields(event.rate_limit_info));
        case "result":
          return result(event);
        default:
          return [];
      }
    },
  };
}

/** Not of an agent that it has sent out itself. */
function isOwn(event: Fields): boolean {
  return toText(event.parent_tool_use_id) === "";
}

function isSaid(result: Fields): boolean {
  return result.is_error !== true && toText(result.result) !== "";
}

function systemEvents(event: Fields): AgentEvent[] {
  if (event.subtype === "init") return sessionTold(event.session_id);
  if (event.subtype !== "api_retry" || event.error_status !== 429) return [];
  return [{ type: "rate-limited", until: null, reason: "429: claude tries again by itself" }];
}

function toBlockEvents(block: Fields, isOwnBlock: boolean): AgentEvent[] {
  if (block.type === "text" && isOwnBlock) return [{ type: "text", text: toText(block.text) }];
  if (block.type !== "tool_use") return [];
  return [{ type: "tool-call", id: toText(block.id), name: toText(block.name), input: block.input }];
}

function toToolResult(block: Fields) {
  if (block.type !== "tool_result") return null;
  const { content } = block;
  const text = Array.isArray(content) ? content.map((part) => toText(toFields(part).text)).join("\n") : toText(content);
  return { type: "tool-result", id: toText(block.tool_use_id), text, failed: block.is_error === true } as const;
}

/** A copy: a slice would keep the whole text in memory. */
function excerpt(text: string): string {
  return Buffer.from(text.slice(0, 300)).toString();
}

function toDenial(denial: Fields, failures: ReadonlyMap<string, string>): AgentEvent {
  const reason = failures.get(toText(denial.tool_use_id)) ?? "refused";
  return { type: "permission-denied", tool: toText(denial.tool_name), reason };
}

function messageUsage(message: Fields, priceOf: ClaudeReading["priceOf"]): Usage {
  const tokens = tokensOfMessage(toFields(message.usage));
  const cost = priceOf(toText(message.model), tokens);
  return { input_tokens: tokens.input, output_tokens: tokens.output, cost_usd: cost };
}

/** By model, of this start alone and with its helpers' tokens; `usage` beside it has been seen empty. */
function resultUsage(event: Fields): Usage | null {
  const tokens = tokensByModel(toFields(event.modelUsage));
  if (tokens === null) return null;
  return {
    input_tokens: tokens.input,
    output_tokens: tokens.output,
    cost_usd: typeof event.total_cost_usd === "number" ? toAmount(event.total_cost_usd) : null,
  };
}

function sumOf(usages: Iterable<Usage>): Usage {
  let [input, output, cost] = [0, 0, 0 as number | null];
  for (const one of usages) {
    input += one.input_tokens;
    output += one.output_tokens;
    cost = cost === null || one.cost_usd === null ? null : cost + one.cost_usd;
  }
  return { input_tokens: input, output_tokens: output, cost_usd: cost };
}

/** Said by older versions in place of an answer. */
const planLimit = /^Claude AI usage limit reached\|\d+$/;
const unknownSession = /No conversation found with session ID/;
/** The provider holds everybody back for a moment; no plan is used up. */
const heldBack = /temporarily limiting requests/i;

/** An interrupted turn leaves a word for the program's own makers in place of an error. */
function readable(errors: string): string {
  return errors.startsWith("[ede_diagnostic]") ? "the turn was interrupted" : errors;
}

function resultOutcome(event: Fields, limitedUntil: number | null, at: number): TurnOutcome {
  const said = toText(event.result);
  if (event.is_error === false && event.subtype === "success" && !planLimit.test(said)) return { type: "ended" };
  const errors = toList(event.errors).map(toText).filter(Boolean).join("; ");
  const reason = (said || readable(errors) || toText(event.subtype) || "the turn failed")
    .replace(/\s+/g, " ")
    .slice(0, 300);
  const status = toAmount(event.api_error_status);
  if (unknownSession.test(errors)) return { type: "no-session" };
  if (event.terminal_reason === "prompt_too_long") return { type: "overflow", reason };
  if (heldBack.test(reason)) return { type: "transient", reason, overloaded: true };
  if (status === 429) return { type: "limited", until: limitedUntil ?? resetTime(reason, at), reason };
  if (status === 529) return { type: "transient", reason, overloaded: true };
  if (status >= 500) return { type: "transient", reason };
  if (status === 401 || status === 403) return { type: "failed", reason: `${reason} (${loginAdvice})` };
  const outcome = outcomeOfError(reason, { at, login: loginAdvice });
  return outcome.type === "limited" ? { ...outcome, until: limitedUntil ?? outcome.until } : outcome;
}
