import { appendFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { parseGenerateRequest, toGenerated, toGeneratedEvents, toGenerateFailure } from "./generate-api.js";
import { type Fields, toFields } from "./json.js";
import { countTokens, parseMessagesRequest, toMessage, toMessageEvents, toMessagesFailure } from "./messages-api.js";
import {
  parseResponsesRequest,
  toFailedEvents,
  toResponse,
  toResponseEvents,
  toResponsesFailure,
} from "./responses-api.js";
import { type Answer, type Asked, type Fault, readScript, type Script } from "./script.js";
import type { Failure, StreamEvent } from "./wire.js";

/** A model that says what a script says, on loopback. Programs find Anthropic's and Google's API at `url`, OpenAI's at `url`/v1. */
export interface ModelServer {
  readonly url: string;
  /** Every request so far, in order. */
  readonly requests: () => readonly RecordedRequest[];
  /** From now on another script. Counters begin anew. */
  readonly follow: (script: Script) => void;
  readonly close: () => Promise<void>;
}

export interface RecordedRequest {
  readonly at: string;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
  /** null: no question to a model. */
  readonly asked: Asked | null;
}

export interface ModelServerOptions {
  readonly script: Script;
  /** 0, the default: any free one. A fixed port lets a restarted server be found again. */
  readonly port?: number;
  /** Raw requests are appended here, a JSON line each. */
  readonly recordFile?: string;
}

export async function startModelServer({ script, port = 0, recordFile }: ModelServerOptions): Promise<ModelServer> {
  const requests: RecordedRequest[] = [];
  let answerTo = readScript(script);
  const server = createServer((request, response) => {
    void serve(request, response).catch((error: unknown) => {
      if (!response.destroyed) response.destroy(error instanceof Error ? error : new Error(String(error)));
    });
  });
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const body = parseJson(await readBody(request));
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    const asked = request.method === "POST" ? parseAsked(path, toFields(body)) : null;
    const { method = "", headers } = request;
    const recorded = { at: new Date().toISOString(), method, path, headers, body, asked };
    requests.push(recorded);
    if (recordFile !== undefined) appendFileSync(recordFile, `${JSON.stringify(recorded)}\n`);
    if (asked) return reply(response, asked, answerTo(asked));
    if (path.endsWith("/count_tokens")) return sendJson(response, 200, countTokens(toFields(body)));
    if (request.method === "GET" && path.endsWith("/models"))
      return sendJson(response, 200, { object: "list", data: [] });
    return sendJson(response, request.method === "HEAD" ? 200 : 404, {
      error: { message: `no such address: ${path}` },
    });
  };
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${portOf(server.address())}`,
    requests: () => requests,
    follow: (next) => {
      answerTo = readScript(next);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === "string") throw new Error("a server without a port");
  return address.port;
}

function parseAsked(path: string, body: Fields): Asked | null {
  if (path.endsWith("/messages")) return parseMessagesRequest(body);
  return path.endsWith("/responses") ? parseResponsesRequest(body) : parseGenerateRequest(path, body);
}

const apis = {
  messages: { toWhole: toMessage, toEvents: toMessageEvents, toFailure: toMessagesFailure },
  responses: { toWhole: toResponse, toEvents: toResponseEvents, toFailure: toResponsesFailure },
  generate: { toWhole: toGenerated, toEvents: toGeneratedEvents, toFailure: toGenerateFailure },
} satisfies Record<Asked["api"], unknown>;

async function reply(response: ServerResponse, asked: Asked, answer: Answer): Promise<void> {
  const { fault } = answer;
  if (fault?.kind === "hang") return;
  const api = apis[asked.api];
  const failure = fault ? api.toFailure(fault) : null;
  if (failure) return fail(response, asked, failure);
  const whole = api.toWhole(asked, answer);
  if (!asked.isStreaming) return sendJson(response, 200, whole);
  await stream(response, api.toEvents(whole), fault);
}

async function fail(response: ServerResponse, asked: Asked, failure: Failure): Promise<void> {
  const isInStream = asked.api === "responses" && asked.isStreaming && failure.status === 400;
  if (isInStream) return stream(response, toFailedEvents(asked, failure));
  sendJson(response, failure.status, failure.body, failure.headers);
}

async function stream(response: ServerResponse, events: readonly StreamEvent[], fault?: Fault): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
  for (const [index, { event, data }] of events.entries()) {
    if (response.destroyed) return;
    if (fault?.kind === "cut" && index >= fault.afterEvents) return void response.destroy();
    if (fault?.kind === "slow" && index > 0) await delay(fault.betweenMs, undefined, { ref: false });
    await write(response, `${event === "" ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`);
  }
  response.end();
}

/** Done when the system has taken it: a cut that follows must not swallow it. */
function write(response: ServerResponse, text: string): Promise<void> {
  return new Promise((resolve) => response.write(text, () => resolve()));
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: Fields,
  headers: Readonly<Record<string, string>> = {},
) {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString("utf8");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: kept as it came.
    return text === "" ? null : text;
  }
}
