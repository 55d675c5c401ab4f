import { randomBytes } from "node:crypto";
import { type Fields, toFields, toList, toText } from "./json.js";
import { readConversation, type Said } from "./person.js";
import { type Answer, type Asked, defaultUsage, type Fault, type Say } from "./script.js";
import { toToolCall } from "./tools.js";
import type { Failure, StreamEvent } from "./wire.js";

/** Google's Gemini API: the model and the way it answers are in the address, `/models/<model>:streamGenerateContent`. */
const address = /\/models\/([^/:]+):(generateContent|streamGenerateContent)$/;

export function parseGenerateRequest(path: string, body: Fields): Asked | null {
  const [, model = "", method] = address.exec(path) ?? [];
  if (method === undefined) return null;
  return {
    api: "generate",
    model,
    system: textOf(body.systemInstruction),
    ...readConversation(toList(body.contents).map(readContent)),
    tools: toList(body.tools).flatMap((one) =>
      toList(toFields(one).functionDeclarations).map((declared) => {
        const tool = toFields(declared);
        const schema = toFields(tool.parametersJsonSchema ?? tool.parameters);
        return { name: toText(tool.name), kind: "function", inputs: Object.keys(toFields(schema.properties)) };
      }),
    ),
    isStreaming: method === "streamGenerateContent",
  };
}

function readContent(value: unknown): Said[] {
  const content = toFields(value);
  if (content.role === "model") return [];
  return toList(content.parts).map((one) => {
    const { text, functionResponse } = toFields(one);
    if (typeof text === "string") return { text, toolResult: null };
    const answer = functionResponse === undefined ? null : toFields(toFields(functionResponse).response);
    return { text: null, toolResult: answer && (toText(answer.output) || JSON.stringify(answer)) };
  });
}

function textOf(content: unknown): string {
  return toList(toFields(content).parts)
    .map((part) => toText(toFields(part).text))
    .join("\n");
}

/** The whole answer, as it is without streaming. */
export function toGenerated(asked: Asked, answer: Answer): Fields {
  const usage = { ...defaultUsage, ...answer.usage };
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    candidates: [
      {
        content: { role: "model", parts: answer.say.map((say) => toPart(say, asked)) },
        finishReason: "STOP",
        index: 0,
      },
    ],
    usageMetadata: {
      promptTokenCount: input,
      cachedContentTokenCount: usage.cacheRead,
      candidatesTokenCount: usage.output,
      totalTokenCount: input + usage.output,
    },
    modelVersion: asked.model,
    responseId: randomBytes(12).toString("hex"),
  };
}

function toPart(say: Say, asked: Asked): Fields {
  const call = toToolCall(say, asked);
  if (call) return { functionCall: { id: randomBytes(6).toString("hex"), name: call.tool.name, args: call.input } };
  return { text: "text" in say ? say.text : "There is no tool for that." };
}

/** A part an event; usage and the reason to stop come with the last. */
export function toGeneratedEvents(whole: Fields): StreamEvent[] {
  const [candidate] = toList(whole.candidates).map(toFields);
  const parts = toList(toFields(candidate?.content).parts);
  return (parts.length === 0 ? [null] : parts).map((part, index, all) => {
    const isLast = index === all.length - 1;
    const content = { role: "model", parts: part === null ? [] : [part] };
    const { usageMetadata, candidates: _, ...rest } = whole;
    return {
      event: "",
      data: {
        ...rest,
        candidates: [{ content, index: 0, ...(isLast ? { finishReason: "STOP" } : {}) }],
        ...(isLast ? { usageMetadata } : {}),
      },
    };
  });
}

export function toGenerateFailure(fault: Fault): Failure | null {
  switch (fault.kind) {
    case "rate-limit":
      return failure(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota).", [
        { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: `${fault.retryAfterSeconds}s` },
      ]);
    case "usage-limit":
      return failure(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan.", [
        {
          "@type": "type.googleapis.com/google.rpc.QuotaFailure",
          violations: [{ quotaId: "GenerateRequestsPerDayPerProjectPerModel" }],
        },
      ]);
    case "overloaded":
      return failure(503, "UNAVAILABLE", "The model is overloaded. Please try again later.");
    case "server-error":
      return failure(500, "INTERNAL", "An internal error has occurred.");
    case "unauthorized":
      return failure(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", [
        { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" },
      ]);
    case "context-overflow":
      return failure(
        400,
        "INVALID_ARGUMENT",
        "The input token count (2100000) exceeds the maximum number of tokens allowed (1048576).",
      );
    default:
      return null;
  }
}

function failure(code: number, status: string, message: string, details: readonly Fields[] = []): Failure {
  return { status: code, headers: {}, body: { error: { code, message, status, details } } };
}
