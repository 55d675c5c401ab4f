import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ModelRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body: string;
}

export interface ModelReply {
  readonly status?: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly chunks: readonly string[];
}

export interface OwnModel {
  readonly url: string;
  /** How many questions got an answer. */
  asked(): number;
  close(): Promise<void>;
}

const largestBody = 20 * 1024 * 1024;

/** A server on loopback, on a port of the system's choice, for as long as one proof takes. */
export async function openModel(replies: (request: ModelRequest) => ModelReply | null): Promise<OwnModel> {
  let asked = 0;
  const server = createServer((request, response) => {
    answer(request, response, replies).then(
      (known) => {
        if (known) asked++;
      },
      // The program hung up, or its question was too large: it has no answer, and the proof fails for want of one.
      () => response.destroy(),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked: () => asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  replies: (request: ModelRequest) => ModelReply | null,
): Promise<boolean> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    const bytes = Buffer.from(part);
    size += bytes.length;
    if (size > largestBody) throw new Error("the question is too large");
    parts.push(bytes);
  }
  const body = Buffer.concat(parts).toString("utf8");
  const reply = replies({ method: request.method ?? "", path: request.url ?? "", body });
  response.writeHead(reply?.status ?? (reply === null ? 404 : 200), reply?.headers ?? {});
  for (const chunk of reply?.chunks ?? []) response.write(chunk);
  response.end();
  return reply !== null;
}
