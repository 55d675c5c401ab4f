/** What a `POST …/responses` came to. */
export interface Reply {
  readonly text: string;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number } | null;
  /** By its own word it is no whole answer: null only when that word is `completed`, or there is none. */
  readonly failure: Failure | null;
}
interface Failure {
  /** The server's. */
  readonly words: string;
  /** Trying again may help. */
  readonly isPassing: boolean;
}

/** null: it is no answer of that interface. */
export function readReply(body: unknown): Reply | null {
  if (!isObject(body)) return null;
  const texts = Array.isArray(body.output) ? body.output.flatMap(textsOf) : null;
  const text = typeof body.output_text === "string" ? body.output_text : texts?.join("");
  const failure = failureOf(body);
  if (text === undefined && failure === null) return null;
  return { text: text ?? "", usage: usageOf(body.usage), failure };
}

/** What the same prompt would not meet again. */
const passingCodes = ["server_error", "rate_limit_exceeded", "vector_store_timeout"];

function failureOf({ status, error, incomplete_details: details }: Record<string, unknown>): Failure | null {
  const code = wordOf(error, "code");
  const told = [code, wordOf(error, "message")].filter((word) => word !== null).join(": ");
  if (status === undefined || status === null || status === "completed")
    return told === "" ? null : { words: told, isPassing: isPassingCode(code) };
  const words = (more: string) =>
    `its status is ${JSON.stringify(status).slice(0, 100)}${more === "" ? "" : `: ${more}`}`;
  if (status === "failed") return { words: words(told), isPassing: isPassingCode(code) };
  if (status === "incomplete") return { words: words(wordOf(details, "reason") ?? told), isPassing: false };
  return { words: words(told), isPassing: status === "queued" || status === "in_progress" };
}

/** A failure without a code is the server's, like a status of 500. */
function isPassingCode(code: string | null): boolean {
  return code === null || passingCodes.includes(code);
}

function wordOf(value: unknown, key: string): string | null {
  const word = isObject(value) ? value[key] : null;
  return typeof word === "string" && word !== "" ? word.slice(0, 500) : null;
}

/** The texts of one item of `output`; reasoning and the like have none. */
function textsOf(item: unknown): string[] {
  if (!isObject(item) || item.type !== "message" || !Array.isArray(item.content)) return [];
  return item.content.flatMap((part: unknown) => (isObject(part) && typeof part.text === "string" ? [part.text] : []));
}

function usageOf(usage: unknown): Reply["usage"] {
  if (!isObject(usage)) return null;
  const { input_tokens, output_tokens } = usage;
  if (typeof input_tokens !== "number" || typeof output_tokens !== "number") return null;
  return { input_tokens, output_tokens };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** Busy, overloaded or broken for the moment: to be tried again. */
export function isPassing(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}
