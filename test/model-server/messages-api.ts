import { randomBytes } from "node:crypto";
import { type Fields, toFields, toList, toText } from "./json.js";
import { readConversation, type Said } from "./person.js";
import { type Answer, type Asked, defaultUsage, type Fault, type Say } from "./script.js";
import { toToolCall } from "./tools.js";
import type { Failure, StreamEvent } from "./wire.js";

/** Anthropic's Messages API. */

export function parseMessagesRequest(body: Fields): Asked {
  return {
    api: "messages",
    model: toText(body.model),
    system: textOf(body.system),
    ...readConversation(toList(body.messages).map(readMessage)),
    tools: toList(body.tools).map((one) => {
      const tool = toFields(one);
      const inputs = Object.keys(toFields(toFields(tool.input_schema).properties));
      return { name: toText(tool.name), kind: toText(tool.type) || "function", inputs };
    }),
    isStreaming: body.stream === true,
  };
}

function readMessage(value: unknown): Said[] {
  const message = toFields(value);
  if (message.role !== "user") return [];
  if (typeof message.content === "string") return [{ text: message.content, toolResult: null }];
  return toList(message.content).map((one) => {
    const block = toFields(one);
    if (block.type === "text") return { text: toText(block.text), toolResult: null };
    return { text: null, toolResult: block.type === "tool_result" ? textOf(block.content) : null };
  });
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return toList(content)
    .map((block) => toText(toFields(block).text))
    .join("\n");
}

/** The whole message, as it is without streaming. */
export function toMessage(asked: Asked, answer: Answer): Fields {
  const content = answer.say.map((say) => toBlock(say, asked));
  const usage = { ...defaultUsage, ...answer.usage };
  return {
    id: `msg_${id()}`,
    type: "message",
    role: "assistant",
    model: asked.model,
    content,
    stop_reason: content.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn",
    stop_sequence: null,
    usage: {
      input_tokens: usage.input,
      cache_creation_input_tokens: usage.cacheWrite,
      cache_read_input_tokens: usage.cacheRead,
      cache_creation: { ephemeral_5m_input_tokens: usage.cacheWrite, ephemeral_1h_input_tokens: 0 },
      output_tokens: usage.output,
      service_tier: "standard",
    },
  };
}

function toBlock(say: Say, asked: Asked): Fields {
  const call = toToolCall(say, asked);
  if (call) return { type: "tool_use", id: `toolu_${id()}`, name: call.tool.name, input: call.input };
  return { type: "text", text: "text" in say ? say.text : "There is no tool for that." };
}

export function toMessageEvents(message: Fields): StreamEvent[] {
  const usage = toFields(message.usage);
  const start = { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
  return [
    toEvent({ type: "message_start", message: start }),
    ...toList(message.content).flatMap((block, index) => toBlockEvents(toFields(block), index)),
    toEvent({
      type: "message_delta",
      delta: { stop_reason: message.stop_reason, stop_sequence: null },
      usage: { output_tokens: usage.output_tokens },
    }),
    toEvent({ type: "message_stop" }),
  ];
}

function toBlockEvents(block: Fields, index: number): StreamEvent[] {
  const isText = block.type === "text";
  const start = isText ? { ...block, text: "" } : { ...block, input: {} };
  const text = isText ? toText(block.text) : JSON.stringify(block.input);
  const toDelta = (part: string) =>
    isText ? { type: "text_delta", text: part } : { type: "input_json_delta", partial_json: part };
  const parts = text.match(/[\s\S]{1,400}/g) ?? [];
  return [
    toEvent({ type: "content_block_start", index, content_block: start }),
    ...parts.map((part) => toEvent({ type: "content_block_delta", index, delta: toDelta(part) })),
    toEvent({ type: "content_block_stop", index }),
  ];
}

function toEvent(data: Fields): StreamEvent {
  return { event: toText(data.type), data };
}

/** Also the whole answer of `count_tokens`. */
export function countTokens(body: Fields): Fields {
  return { input_tokens: Math.ceil(JSON.stringify(body).length / 4) };
}

export function toMessagesFailure(fault: Fault): Failure | null {
  switch (fault.kind) {
    case "rate-limit":
      return failure(429, "rate_limit_error", "This request would exceed the rate limit of your organization.", {
        "retry-after": `${fault.retryAfterSeconds}`,
        "anthropic-ratelimit-requests-limit": "50",
        "anthropic-ratelimit-requests-remaining": "0",
        "anthropic-ratelimit-requests-reset": new Date(Date.now() + fault.retryAfterSeconds * 1000).toISOString(),
      });
    case "usage-limit":
      return failure(
        429,
        "rate_limit_error",
        "This request would exceed your account's rate limit. Please try again later.",
        {
          "retry-after": `${Math.max(0, fault.resetsAt - Math.floor(Date.now() / 1000))}`,
          "x-should-retry": "false",
          "anthropic-ratelimit-unified-status": "rejected",
          "anthropic-ratelimit-unified-reset": `${fault.resetsAt}`,
          "anthropic-ratelimit-unified-representative-claim": "five_hour",
          "anthropic-ratelimit-unified-5h-status": "rejected",
          "anthropic-ratelimit-unified-5h-reset": `${fault.resetsAt}`,
          "anthropic-ratelimit-unified-5h-utilization": "1",
        },
      );
    case "overloaded":
      return failure(529, "overloaded_error", "Overloaded");
    case "server-error":
      return failure(500, "api_error", "Internal server error");
    case "unauthorized":
      return failure(401, "authentication_error", "invalid x-api-key");
    case "context-overflow":
      return failure(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum");
    default:
      return null;
  }
}

function failure(status: number, type: string, message: string, headers: Record<string, string> = {}): Failure {
  const requestId = `req_${id()}`;
  const body = { type: "error", error: { type, message }, request_id: requestId };
  return { status, headers: { "request-id": requestId, ...headers }, body };
}

function id(): string {
  return randomBytes(12).toString("hex");
}
