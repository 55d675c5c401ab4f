import { randomBytes } from "node:crypto";
import { type Fields, toFields, toList, toText } from "./json.js";
import { readConversation, type Said } from "./person.js";
import { type Answer, type Asked, defaultUsage, type Fault, type OfferedTool, type Say } from "./script.js";
import { toToolCall } from "./tools.js";
import type { Failure, StreamEvent } from "./wire.js";

/** OpenAI's Responses API, as coding agents use it: the whole conversation comes with every request. */

export function parseResponsesRequest(body: Fields): Asked {
  return {
    api: "responses",
    model: toText(body.model),
    system: [toText(body.instructions), ...toList(body.input).map(readDeveloper)]
      .filter((text) => text !== "")
      .join("\n"),
    ...readConversation(toList(body.input).map(readItem)),
    tools: toList(body.tools).flatMap(readTools),
    isStreaming: body.stream === true,
  };
}

/** Programs give their instructions in a field or as messages of their own. */
function readDeveloper(value: unknown): string {
  const { role, content } = toFields(value);
  return role === "developer" || role === "system" ? textOf(content) : "";
}

function readTools(value: unknown): OfferedTool[] {
  const tool = toFields(value);
  if (tool.type === "namespace") return toList(tool.tools).flatMap(readTools);
  const inputs = Object.keys(toFields(toFields(tool.parameters).properties));
  return [{ name: toText(tool.name) || toText(tool.type), kind: toText(tool.type), inputs }];
}

function readItem(value: unknown): Said[] {
  const item = toFields(value);
  if (/_call_output$/.test(toText(item.type))) return [{ text: null, toolResult: textOf(item.output) }];
  if (item.role !== "user") return [];
  if (typeof item.content === "string") return [{ text: item.content, toolResult: null }];
  return toList(item.content).map((one) => ({ text: toText(toFields(one).text), toolResult: null }));
}

function textOf(output: unknown): string {
  if (typeof output === "string") return output;
  if (!Array.isArray(output)) return JSON.stringify(output ?? "");
  return output.map((part) => toText(toFields(part).text)).join("\n");
}

export function toResponse(asked: Asked, answer: Answer): Fields {
  const usage = { ...defaultUsage, ...answer.usage };
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    id: `resp_${id()}`,
    object: "response",
    created_at: Math.floor(Date.now() / 1000),
    status: "completed",
    model: asked.model,
    error: null,
    incomplete_details: null,
    output: answer.say.map((say) => toItem(say, asked)),
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: usage.cacheRead },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + usage.output,
    },
  };
}

function toItem(say: Say, asked: Asked): Fields {
  const call = toToolCall(say, asked);
  if (!call) {
    const text = "text" in say ? say.text : "There is no tool for that.";
    const content = [{ type: "output_text", text, annotations: [], logprobs: [] }];
    return { id: `msg_${id()}`, type: "message", status: "completed", role: "assistant", content };
  }
  const { tool, input } = call;
  const common = { status: "completed", call_id: `call_${id()}` };
  if (tool.kind === "local_shell")
    return {
      id: `lsh_${id()}`,
      type: "local_shell_call",
      ...common,
      action: { type: "exec", env: {}, ...toFields(input) },
    };
  if (tool.kind === "custom")
    return { id: `ctc_${id()}`, type: "custom_tool_call", ...common, name: tool.name, input: asText(input) };
  return { id: `fc_${id()}`, type: "function_call", ...common, name: tool.name, arguments: JSON.stringify(input) };
}

function asText(input: unknown): string {
  return typeof input === "string" ? input : JSON.stringify(input);
}

export function toResponseEvents(response: Fields): StreamEvent[] {
  const begun = { ...response, status: "in_progress", output: [], usage: null };
  const events = [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    ...toList(response.output).flatMap((item, index) => toItemEvents(toFields(item), index)),
    { type: "response.completed", response },
  ];
  return events.map((data, sequence_number) => ({ event: data.type, data: { ...data, sequence_number } }));
}

function toItemEvents(item: Fields, output_index: number): (Fields & { type: string })[] {
  const at = { output_index, item_id: item.id };
  const added = { type: "response.output_item.added", output_index, item: { ...item, ...emptyOf(item) } };
  const done = { type: "response.output_item.done", output_index, item };
  if (item.type === "message") {
    const part = toFields(toList(item.content)[0]);
    const inPart = { ...at, content_index: 0 };
    const parts = toText(part.text).match(/[\s\S]{1,400}/g) ?? [];
    return [
      added,
      { type: "response.content_part.added", ...inPart, part: { ...part, text: "" } },
      ...parts.map((delta) => ({ type: "response.output_text.delta", ...inPart, delta, logprobs: [] })),
      { type: "response.output_text.done", ...inPart, text: part.text, logprobs: [] },
      { type: "response.content_part.done", ...inPart, part },
      done,
    ];
  }
  if (item.type === "function_call")
    return [
      added,
      { type: "response.function_call_arguments.delta", ...at, delta: item.arguments },
      { type: "response.function_call_arguments.done", ...at, arguments: item.arguments, name: item.name },
      done,
    ];
  if (item.type === "custom_tool_call")
    return [
      added,
      { type: "response.custom_tool_call_input.delta", ...at, delta: item.input },
      { type: "response.custom_tool_call_input.done", ...at, input: item.input },
      done,
    ];
  return [added, done];
}

function emptyOf(item: Fields): Fields {
  if (item.type === "message") return { status: "in_progress", content: [] };
  if (item.type === "function_call") return { status: "in_progress", arguments: "" };
  return item.type === "custom_tool_call" ? { status: "in_progress", input: "" } : { status: "in_progress" };
}

export function toResponsesFailure(fault: Fault): Failure | null {
  switch (fault.kind) {
    case "rate-limit":
      return failure(
        429,
        { type: "requests", code: "rate_limit_exceeded" },
        {
          message: `Rate limit reached for requests. Please try again in ${fault.retryAfterSeconds}s.`,
          headers: { "retry-after": `${fault.retryAfterSeconds}`, "x-ratelimit-remaining-requests": "0" },
        },
      );
    case "usage-limit":
      return failure(
        429,
        { type: "usage_limit_reached", plan_type: "plus", resets_at: fault.resetsAt },
        {
          message: "The usage limit has been reached",
          headers: { "x-codex-primary-used-percent": "100", "x-codex-primary-reset-at": `${fault.resetsAt}` },
        },
      );
    case "overloaded":
      return failure(
        503,
        { type: "service_unavailable_error", code: "server_is_overloaded" },
        {
          message: "Our servers are currently overloaded. Please try again later.",
        },
      );
    case "server-error":
      return failure(
        500,
        { type: "server_error", code: null },
        {
          message: "The server had an error while processing your request. Sorry about that!",
        },
      );
    case "unauthorized":
      return failure(
        401,
        { type: "invalid_request_error", code: "invalid_api_key" },
        {
          message: "Incorrect API key provided.",
        },
      );
    case "context-overflow":
      return failure(
        400,
        { type: "invalid_request_error", code: "context_length_exceeded", param: "input" },
        {
          message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
        },
      );
    default:
      return null;
  }
}

/** A stream reports this failure as an event; the others come before it has begun. */
export function toFailedEvents(asked: Asked, { body }: Failure): StreamEvent[] {
  const { code, message } = toFields(body.error);
  const base = { ...toResponse(asked, { say: [] }), usage: null };
  const failed = { ...base, status: "failed", error: { code, message } };
  return [
    {
      event: "response.created",
      data: { type: "response.created", sequence_number: 0, response: { ...base, status: "in_progress" } },
    },
    { event: "response.failed", data: { type: "response.failed", sequence_number: 1, response: failed } },
  ];
}

function failure(
  status: number,
  error: Fields,
  { message, headers = {} }: { message: string; headers?: Record<string, string> },
): Failure {
  return {
    status,
    headers: { "x-request-id": `req_${id()}`, ...headers },
    body: { error: { message, param: null, ...error } },
  };
}

function id(): string {
  return randomBytes(12).toString("hex");
}
