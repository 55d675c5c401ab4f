/** What a `POST …/responses` came to. */
export interface Reply {
  readonly text: string;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number } | null;
}

/** null: it is no answer of that interface. */
export function readReply(body: unknown): Reply | null {
  if (!isObject(body)) return null;
  const texts = Array.isArray(body.output) ? body.output.flatMap(textsOf) : null;
  const text = typeof body.output_text === "string" ? body.output_text : texts?.join("");
  return text === undefined ? null : { text, usage: usageOf(body.usage) };
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
