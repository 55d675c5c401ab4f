import type { Readable, Writable } from "node:stream";
import { type Fields, parseFields, toFields, toText } from "../json.js";

/** An answer that is an error, as the other side gave it. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export interface Peer {
  /** Answers a request of the other side; an RpcError thrown is the answer. */
  request(method: string, params: Fields): Promise<unknown>;
  notified(method: string, params: Fields): void;
}

const methodNotFound = -32601;
/** A file that is read or a diff is one message; what is longer is dropped and its request fails by its own time. */
const longestMessage = 64 * 1024 * 1024;

/**
 * JSON-RPC 2.0, a message a line, both ways. What cannot be read is passed over: a program that prints a greeting is
 * still understood. When the other side is gone, every answer that is waited for fails at once.
 */
export class Connection {
  readonly #out: Writable;
  readonly #peer: Peer;
  readonly #waiting = new Map<number, { resolve: (value: Fields) => void; reject: (error: Error) => void }>();
  #last = 0;
  #gone: Error | null = null;

  constructor({ input, output, peer }: { readonly input: Readable; readonly output: Writable; readonly peer: Peer }) {
    this.#out = output;
    this.#peer = peer;
    // A write to a program that has just ended fails here as well as there.
    output.on("error", () => undefined);
    input.on("error", (error) => this.fail(error));
    new LineInput(input, (line) => this.#receive(line));
  }

  async call(method: string, params: unknown): Promise<Fields> {
    if (this.#gone) throw this.#gone;
    const id = ++this.#last;
    return await new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
  }

  notify(method: string, params: unknown): void {
    this.#send({ method, params });
  }

  /** Nobody answers any more. */
  fail(error: Error): void {
    this.#gone ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#gone);
    this.#waiting.clear();
  }

  #send(message: object): void {
    if (this.#gone === null && this.#out.writable)
      this.#out.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  #receive(line: string): void {
    const message = parseFields(line);
    if (message === null) return;
    const { method, id } = message;
    if (typeof method !== "string") this.#settle(message);
    else if (id === undefined || id === null) this.#peer.notified(method, toFields(message.params));
    else void this.#answer(id, method, toFields(message.params));
  }

  #settle(message: Fields): void {
    const id = typeof message.id === "number" ? message.id : -1;
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (message.error === undefined || message.error === null) waiting?.resolve(toFields(message.result));
    else waiting?.reject(toRpcError(toFields(message.error)));
  }

  async #answer(id: unknown, method: string, params: Fields): Promise<void> {
    try {
      this.#send({ id, result: await this.#peer.request(method, params) });
    } catch (error) {
      const known = error instanceof RpcError;
      this.#send({ id, error: { code: known ? error.code : -32603, message: known ? error.message : String(error) } });
    }
  }
}

function toRpcError(error: Fields): RpcError {
  const code = typeof error.code === "number" ? error.code : 0;
  return new RpcError(code, toText(error.message) || "an error without a message", error.data);
}

export function notServed(method: string): never {
  throw new RpcError(methodNotFound, `not served: ${method}`);
}

/** Lines of any length up to the bound, without joining what has come so far at every piece. */
class LineInput {
  readonly #take: (line: string) => void;
  #pieces: Buffer[] = [];
  #size = 0;

  constructor(input: Readable, take: (line: string) => void) {
    this.#take = take;
    input.on("data", (chunk: Buffer) => this.#add(chunk));
  }

  #add(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      this.#keep(chunk.subarray(from, end));
      if (this.#size <= longestMessage) this.#take(Buffer.concat(this.#pieces).toString("utf8"));
      this.#pieces = [];
      this.#size = 0;
      from = end + 1;
    }
    this.#keep(chunk.subarray(from));
  }

  #keep(piece: Buffer): void {
    this.#size += piece.length;
    if (this.#size > longestMessage) this.#pieces = [];
    else if (piece.length > 0) this.#pieces.push(piece);
  }
}
